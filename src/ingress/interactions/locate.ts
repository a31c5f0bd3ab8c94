import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { SETTINGS } from '../../formats/settings/interactions.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { type Locate, locator, type MessagePaths } from '../locate.ts'
import { isSkip } from './steps.ts'
import { FORMAT } from './wire.ts'

const INPUT = 'input'

/** Locates messages and parts in `system_instruction` and `input`. A turn of the model may be several steps. */
export function locate(request: CanonicalRequest): Locate {
  const { input, system_instruction: instruction } = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body ?? {}
  const items = new Items((Array.isArray(input) ? input : [input]) as readonly JsonObject[])
  const paths = request.messages.map((message, index): MessagePaths => {
    if (index > 0 || instruction == null) return items.pathsOf(message)
    return { at: ['system_instruction'], parts: [['system_instruction']] }
  })
  const found = locator(INPUT, paths, [INPUT, items.count])
  return input == null || Array.isArray(input) ? found : path => unlisted(found(path), typeof input === 'string')
}

/** Removes the index from a path, for `input` that is not a list. */
function unlisted(path: Path, isText: boolean): Path {
  if (path[0] !== INPUT) return path
  return isText ? [INPUT] : path[1] === 0 ? [INPUT, ...path.slice(2)] : path
}

/** Walks through the items of `input` in parallel with the messages read from them. */
class Items {
  /** Number of items so far. */
  count = 0
  private readonly input: readonly JsonObject[]

  constructor(input: readonly JsonObject[]) {
    this.input = input
  }

  pathsOf(message: Message): MessagePaths {
    if (message.role === 'assistant') return this.stepPaths(message)
    const wire = wireSourceOf<JsonObject>(message, FORMAT)?.wire
    const contents = wire?.['content']
    if (message.spelling?.[FORMAT]?.['joined'] === true) return this.inside(message, wire, this.count - 1)
    const isBare = Array.isArray(contents) && wire !== this.input[this.count] && contents[0] === this.input[this.count]
    if (!isBare) return this.inside(message, wire, this.count++)
    const first = this.count
    this.count += contents.length
    return { at: [INPUT, first], parts: message.content.map((_, index): Path => [INPUT, first + index]) }
  }

  /** Returns the paths of parts inside one item. A tool result may be an item or a content of one. */
  private inside(message: Message, wire: JsonObject | undefined, index: number): MessagePaths {
    const at: Path = [INPUT, index]
    const list = wire?.['content']
    if (message.role === 'tool' && !Array.isArray(list)) return { at, parts: [at] }
    if (typeof list === 'string') return { at, parts: [[...at, 'content']] }
    const before = this.offset(message, index)
    return { at, parts: message.content.map((_, part): Path => [...at, 'content', before + part]) }
  }

  /** Number of contents of each item that belong to earlier messages. */
  private readonly partCounts = new Map<number, number>()

  private offset({ content }: Message, index: number): number {
    const before = this.partCounts.get(index) ?? 0
    this.partCounts.set(index, before + content.length)
    return before
  }

  /** Returns the paths of a model turn. A part without a recorded step belongs to the previous step. */
  private stepPaths({ content }: Message): MessagePaths {
    const first = this.count
    let inside = 0
    let step: JsonObject | undefined
    const parts = content.map((part): Path => {
      const next = stepOf(part)
      if (next !== undefined && next !== step) {
        while (isSkip(this.input[this.count])) this.count++
        step = next
        inside = 0
        this.count++
      } else inside++
      return pathIn([INPUT, Math.max(first, this.count - 1)], step, inside)
    })
    return { at: [INPUT, first], parts }
  }
}

const stepOf = (part: Part): JsonObject | undefined => wireSourceOf<JsonObject>(part, FORMAT)?.wire

function pathIn(at: Path, step: JsonObject | undefined, inside: number): Path {
  const content = step?.['content']
  if (typeof content === 'string') return [...at, 'content']
  return Array.isArray(content) ? [...at, 'content', inside] : at
}

const CONFIG = 'generation_config'

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS, CONFIG),
  model: ['model', 'agent'],
  'sampling/stop': [`${CONFIG}/stop_sequences`],
  sampling: [CONFIG],
  'output/modalities': ['response_modalities', 'response_format'],
  'output/text': ['response_format', 'response_mime_type'],
  'output/image': ['response_format', `${CONFIG}/image_config`],
  'output/image/size': ['response_format', `${CONFIG}/image_config`],
  'output/audio/voice': [`${CONFIG}/speech_config`],
  'output/audio/mediaType': ['response_format'],
  'output/audio': ['response_format', `${CONFIG}/speech_config`],
  reasoning: [CONFIG],
  'reasoning/effort': [`${CONFIG}/thinking_level`],
  'reasoning/show': [`${CONFIG}/thinking_summaries`],
  tools: ['tools'],
  toolChoice: [`${CONFIG}/tool_choice`],
  'toolChoice/extras/tool_choice': [`${CONFIG}/tool_choice`],
  'state/store': ['store'],
  'state/previous': ['previous_interaction_id'],
  'state/background': ['background'],
  state: ['store', 'previous_interaction_id', 'background'],
  metadata: ['labels'],
  serviceTier: ['service_tier'],
  stream: ['stream'],
}
