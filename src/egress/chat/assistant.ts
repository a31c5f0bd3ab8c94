import type { MediaPart, Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { defined, kept, spelt } from '../fields.ts'
import { around, contentOf, FORMAT, type WriteContext, writePart } from './content.ts'

/** An assistant's turn: reasoning, content, refusal, audio and calls each have their own field, in this order. */
export function writeAssistant(message: Message, path: Path, context: WriteContext): JsonObject {
  const places = message.content.map((part, index) => placeOf(part, message.content[index + 1], context))
  reportOrder(places, [...path, 'content'], context)
  const turn = new Turn(message, context)
  for (const [index, part] of message.content.entries()) turn.put(part, places[index]!, [...path, 'content', index])
  return turn.written()
}

/** The field for a part of an assistant's turn; the numbers are the order in which the fields are read. */
export const PLACES = { thoughts: 0, content: 1, refusal: 2, audio: 3, calls: 4 } as const
export type Place = keyof typeof PLACES

export function placeOf(part: Part, next: Part | undefined, context: WriteContext): Place {
  switch (part.type) {
    case 'reasoning':
      if (spelt(part, FORMAT)['as'] === 'thinking' || thinksInParts(context)) return 'content'
      return context.native && signsCall(part, next) ? 'calls' : 'thoughts'
    case 'refusal':
      return spelt(part, FORMAT)['as'] === 'field' ? 'refusal' : 'content'
    case 'media':
      return part.source.type === 'file-id' && part.kind === 'audio' ? 'audio' : 'content'
    case 'tool-call':
      return 'calls'
    default:
      return 'content'
  }
}

/** Upstreams with this flag take thoughts as parts of the content; for callers of other formats. */
const thinksInParts = ({ native, dialect }: WriteContext): boolean => !native && dialect.reasoning_field === 'parts'

/** A signature alone in front of a call is Google's thought signature of that call (trap 31). */
const signsCall = (part: ReasoningPart, next: Part | undefined): boolean =>
  part.text === '' && part.signature?.format === 'contents' && next?.type === 'tool-call'

function reportOrder(places: readonly Place[], path: Path, { losses }: WriteContext): void {
  const order = [...places.keys()].sort((a, b) => PLACES[places[a]!] - PLACES[places[b]!] || a - b)
  if (order.some((from, to) => from !== to)) losses.move(path, order, 'fields-have-an-order')
}

/** The separator of two thoughts. */
const CUT = '\n\n'

interface Thoughts {
  /** The path of the first thought. */
  readonly path: Path
  readonly text: string
  /** The content part they were written as, where thoughts are parts. */
  readonly wire?: JsonObject
}
const REASONING_PART_LOSSES: Unwritten<ReasoningPart, 'type' | 'text' | 'redacted' | 'continues'> = {
  signature: 'no-signatures',
  cache: 'no-cache-markers-here',
}

export class Turn {
  private readonly content: JsonObject[] = []
  private readonly calls: JsonObject[] = []
  private readonly fields: { [field: string]: Json } = {}
  private thoughts: Thoughts | undefined
  /** The field of a restored thought that the caller had discarded: it is written to its upstream's own field. */
  private field: Json | undefined
  private signature: string | undefined
  private readonly message: Message
  private readonly context: WriteContext

  constructor(message: Message, context: WriteContext) {
    this.message = message
    this.context = context
  }

  put(part: Part, place: Place, path: Path): void {
    if (part.type === 'reasoning' && (place !== 'content' || thinksInParts(this.context)))
      this.reasoning(part, place, path)
    else if (part.type === 'tool-call') this.call(part, path)
    else if (place === 'audio') this.audio(part as MediaPart, path)
    else if (place === 'refusal') this.refusal(part as Part & { text: string }, path)
    else if (part.type === 'media' && !this.context.native) this.context.losses.drop(path, 'no-media-from-assistants')
    else {
      const wire = writePart(part, path, this.context)
      if (wire !== undefined) this.content.push(wire)
    }
  }

  private reasoning(part: ReasoningPart, place: Place, path: Path): void {
    if (place === 'calls') {
      this.signature = part.signature!.value
      return
    }
    const { native, dialect, losses } = this.context
    if (!native && (dialect.reasoning_field ?? 'none') === 'none') {
      losses.drop(path, 'no-reasoning-in-history')
      return
    }
    if (part.redacted || (part.text === '' && part.signature !== undefined)) {
      losses.drop(path, 'no-hidden-reasoning')
      return
    }
    losses.dropFields(part, path, REASONING_PART_LOSSES)
    if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
    if (!thinksInParts(this.context)) this.thoughts = this.join(this.thoughts, part, path)
    else {
      const continues =
        part.continues !== undefined && this.content.length > 0 && this.content.at(-1) === this.thoughts?.wire
      const joined = this.join(continues ? this.thoughts : undefined, part, path)
      const wire = { type: 'thinking', thinking: [{ type: 'text', text: joined.text }] }
      if (continues) this.content.pop()
      this.content.push(wire)
      this.thoughts = { ...joined, wire }
    }
    this.field ??= spelt(part, FORMAT)['field']
  }

  private refusal(part: Part & { text: string }, path: Path): void {
    if (this.fields['refusal'] === undefined) this.fields['refusal'] = part.text
    else this.context.losses.drop(path, 'one-refusal-only')
  }

  /**
   * Joins several thoughts in one field: the first becomes all of them; chunks of one thought are concatenated without
   * separator.
   */
  private join(before: Thoughts | undefined, { text, continues }: ReasoningPart, path: Path): Thoughts {
    if (before === undefined) return { path, text }
    const joined = { path: before.path, text: before.text + (continues === undefined ? CUT : '') + text }
    this.context.losses.drop(path, 'joined-with-the-one-before')
    this.context.losses.change([...before.path, 'text'], joined.text, 'joined-with-the-next')
    return joined
  }

  private audio(part: MediaPart, path: Path): void {
    const { source } = part
    if (source.type !== 'file-id' || source.format !== FORMAT || this.fields['audio'] !== undefined) {
      this.context.losses.drop(path, 'no-such-audio')
      return
    }
    this.context.losses.dropFields(part, path, AUDIO_LOSSES)
    if (source.mediaType !== undefined)
      this.context.losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-ids')
    this.fields['audio'] = { id: source.id, ...kept(part, FORMAT) }
  }

  private call(part: ToolCallPart, path: Path): void {
    const { native, losses } = this.context
    if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
    if (spelt(part, FORMAT)['as'] === 'function_call') {
      this.fields['function_call'] = { name: part.name, arguments: part.arguments, ...kept(part, FORMAT) }
      return
    }
    this.calls.push({ ...writeCall(part, native), ...this.signed() })
  }

  private signed(): JsonObject {
    if (this.signature === undefined) return {}
    const extra_content = { google: { thought_signature: this.signature } }
    this.signature = undefined
    return { extra_content }
  }

  written(): JsonObject {
    const { message, context } = this
    const spelling = spelt(message, FORMAT)
    const calls =
      this.calls.length > 0 || (context.native && spelling['calls'] === 'empty') ? { tool_calls: this.calls } : {}
    const empty =
      this.content.length === 0 && !context.native && (this.calls.length > 0 || this.fields['audio'] !== undefined)
    const content = empty ? { content: null } : contentOf(this.content, spelling['content'], context)
    return {
      role: 'assistant',
      ...content,
      ...defined({ name: message.name }),
      ...this.thought(),
      ...this.fields,
      ...calls,
      ...(context.native && spelling['annotations'] !== undefined ? { annotations: spelling['annotations'] } : {}),
      ...kept(message, FORMAT),
    }
  }

  private thought(): JsonObject {
    if (this.thoughts === undefined || this.thoughts.wire !== undefined) return {}
    const { native, dialect } = this.context
    const field = native
      ? (this.field ?? spelt(this.message, FORMAT)['thoughts'] ?? 'reasoning_content')
      : dialect.reasoning_field!
    return { [field as string]: this.thoughts.text }
  }
}

const AUDIO_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'made' | 'use'> = {
  name: 'no-name-here',
  detail: 'no-detail-here',
  transcript: 'no-transcript-in-requests',
  cache: 'no-cache-markers-here',
}

/** A call in this format; an empty argument text is `{}` (trap 8). */
export function writeCall(part: ToolCallPart, native: boolean): JsonObject {
  const { id, type, said: rawId } = spelt(part, FORMAT)
  const head = { ...(id === 'absent' ? {} : { id: rawId ?? part.id }) }
  if (part.freeform) return { ...head, ...around(part, 'custom', { name: part.name, input: part.arguments }) }
  const wire = around(part, 'function', { name: part.name, ...writeArguments(part, native) })
  if (type !== 'absent') return { ...head, ...wire }
  const { type: _, ...untyped } = wire
  return { ...head, ...untyped }
}

function writeArguments(part: ToolCallPart, native: boolean): JsonObject {
  const how = spelt(part, FORMAT)['arguments']
  if (how === 'object') return { arguments: JSON.parse(part.arguments) as Json }
  if (how === 'absent') return {}
  return { arguments: part.arguments === '' && !native ? '{}' : part.arguments }
}
