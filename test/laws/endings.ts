import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { bodiesOf, objectsIn } from '../builders/streams.ts'

/* Events of each format that announce an end, on which clients act. Every format with events has a row. */

export interface Endings {
  /** Calls, texts and reasoning that are announced as complete: their bodies. */
  readonly parts: readonly { readonly kind: 'call' | 'text' | 'thought' | 'media'; readonly body: string }[]
  /** Candidates that are announced as finished. */
  readonly candidates: readonly number[]
}

const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
/** Returns the choices with a finish reason. Calls have no end of their own. */
const ofChoices = (events: readonly JsonObject[]): Endings => ({
  parts: [],
  candidates: events
    .flatMap(({ choices }) => objectsIn(choices))
    .filter(choice => choice['finish_reason'] != null)
    .map(choice => Number(choice['index'])),
})

/** Returns the blocks with a stop event. */
function ofBlocks(events: readonly JsonObject[]): Endings {
  const open = new Map<Json | undefined, { type: Json | undefined; body: string }>()
  const parts: Endings['parts'][number][] = []
  for (const event of events) {
    const { type, index } = event
    const block = open.get(index)
    if (type === 'content_block_start') open.set(index, { type: object(event['content_block'])['type'], body: '' })
    else if (type === 'content_block_delta' && block !== undefined) {
      const { text: said, thinking, partial_json } = object(event['delta'])
      block.body += text(said) + text(thinking) + text(partial_json)
    } else if (type === 'content_block_stop' && block !== undefined) {
      const kind = BLOCKS.get(block.type)
      if (kind !== undefined) parts.push({ kind, body: block.body })
    }
  }
  const finished = events.some(
    event => object(event['delta'])['stop_reason'] != null || event['type'] === 'message_stop',
  )
  return { parts, candidates: finished ? [0] : [] }
}

const BLOCKS: ReadonlyMap<Json | undefined, 'call' | 'text' | 'thought'> = new Map<
  Json | undefined,
  'call' | 'text' | 'thought'
>([
  ['tool_use', 'call'],
  ['text', 'text'],
  ['thinking', 'thought'],
])

/** Returns every `done` item, and the items of the last event that are not marked as incomplete. */
function ofItems(events: readonly JsonObject[]): Endings {
  const parts: Endings['parts'][number][] = []
  const done = (item: JsonObject): void => {
    if (item['status'] === 'incomplete' || item['status'] === 'failed') return
    if (item['type'] === 'function_call') parts.push({ kind: 'call', body: text(item['arguments']) })
    if (item['type'] === 'custom_tool_call') parts.push({ kind: 'call', body: text(item['input']) })
    if (item['type'] === 'image_generation_call') parts.push({ kind: 'media', body: text(item['result']) })
    if (item['type'] === 'message')
      for (const part of objectsIn(item['content']))
        parts.push({ kind: 'text', body: text(part['text'] ?? part['refusal']) })
    if (item['type'] === 'reasoning')
      for (const part of objectsIn(item['summary'])) parts.push({ kind: 'thought', body: text(part['text']) })
  }
  for (const event of events) {
    const said = DONE.get(event['type'])
    if (said !== undefined) parts.push({ kind: said.kind, body: text(event[said.field]) })
    if (event['type'] === 'response.output_item.done') done(object(event['item']))
    for (const item of objectsIn(object(event['response'])['output'])) done(item)
  }
  return { parts, candidates: events.some(({ type }) => FINISHED.has(type)) ? [0] : [] }
}

const FINISHED: ReadonlySet<Json | undefined> = new Set(['response.completed', 'response.incomplete'])

const DONE: ReadonlyMap<Json | undefined, { kind: 'call' | 'text' | 'thought'; field: string }> = new Map<
  Json | undefined,
  { kind: 'call' | 'text' | 'thought'; field: string }
>([
  ['response.output_text.done', { kind: 'text', field: 'text' }],
  ['response.refusal.done', { kind: 'text', field: 'refusal' }],
  ['response.function_call_arguments.done', { kind: 'call', field: 'arguments' }],
  ['response.custom_tool_call_input.done', { kind: 'call', field: 'input' }],
  ['response.reasoning_summary_text.done', { kind: 'thought', field: 'text' }],
  ['response.reasoning_text.done', { kind: 'thought', field: 'text' }],
])

/** Returns the ends. Calls and images arrive whole, and candidates have a finish reason. */
function ofContents(events: readonly JsonObject[]): Endings {
  const candidates = events.flatMap(event => objectsIn(event['candidates']))
  const parts = candidates.flatMap(candidate => objectsIn(object(candidate['content'])['parts']))
  return {
    parts: parts
      .filter(part => isObject(part['functionCall']))
      .map(part => ({ kind: 'call' as const, body: JSON.stringify(object(part['functionCall'])['args'] ?? {}) })),
    candidates: candidates.filter(({ finishReason }) => finishReason != null).map(({ index }) => Number(index ?? 0)),
  }
}

/** Returns the blocks of Converse with a stop, which has only the index of its block. */
function ofDeltas(events: readonly JsonObject[]): Endings {
  const open = new Map<Json | undefined, { kind: 'call' | 'text' | 'thought'; body: string }>()
  const parts: Endings['parts'][number][] = []
  for (const { contentBlockIndex: index, start, delta, ...others } of events) {
    const { toolUse, reasoningContent, text: said } = object(delta)
    // Hidden reasoning has no text.
    const isHidden = object(reasoningContent)['redactedContent'] !== undefined
    const kind = isObject(start) || isObject(toolUse) ? 'call' : isObject(reasoningContent) ? 'thought' : 'text'
    const block = open.get(index) ?? { kind, body: '' }
    if (isObject(start) || isObject(delta)) open.set(index, block)
    block.body += text(said) + text(object(toolUse)['input']) + text(object(reasoningContent)['text'])
    const isStop = index !== undefined && start === undefined && delta === undefined && Object.keys(others).length === 0
    if (isHidden) open.delete(index)
    if (isStop && open.has(index)) parts.push(block)
  }
  return { parts, candidates: events.some(({ stopReason }) => stopReason != null) ? [0] : [] }
}

/** Returns the blocks and calls of Cohere's chat with an end, which are counted apart. */
function ofCohere(events: readonly JsonObject[]): Endings {
  const open = new Map<string, { kind: 'call' | 'text' | 'thought'; body: string }>()
  const parts: Endings['parts'][number][] = []
  for (const { type, index, delta } of events) {
    const [, kind, step] = /^(content|tool-call)-(start|delta|end)$/.exec(text(type)) ?? []
    const key = `${kind} ${index}`
    const { content, tool_calls: call } = object(object(delta)['message'])
    const { text: said, thinking } = object(content)
    if (step === 'start')
      open.set(key, { kind: kind === 'tool-call' ? 'call' : thinking === undefined ? 'text' : 'thought', body: '' })
    const block = open.get(key)
    if (block === undefined) continue
    block.body += text(said) + text(thinking) + text(object(object(call)['function'])['arguments'])
    if (step === 'end') parts.push(block)
  }
  const finished = events.some(({ type, delta }) => type === 'message-end' && object(delta)['error'] === undefined)
  return { parts, candidates: finished ? [0] : [] }
}

/** Returns everything as ended if one event states the end of the answer. */
const ofLast =
  (type: RegExp) =>
  (events: readonly JsonObject[]): Endings => ({
    parts: [],
    candidates: events.some(event => type.test(text(event['type']))) ? [0] : [],
  })

/** Returns the steps of an interaction with a stop. */
function ofSteps(events: readonly JsonObject[]): Endings {
  const open = new Map<Json | undefined, { kind: 'call' | 'text' | 'thought' | 'media'; body: string }>()
  const parts: Endings['parts'][number][] = []
  for (const { event_type: type, index, step, delta } of events) {
    const kind = STEPS.get(object(step)['type'])
    if (type === 'step.start' && kind !== undefined) open.set(index, { kind, body: '' })
    const block = open.get(index)
    if (block === undefined) continue
    const { text: said, content, arguments: args, data, type: content_type } = object(delta)
    if (content_type === 'image' || content_type === 'audio') block.kind = 'media'
    block.body += text(said) + text(object(content)['text']) + text(args) + text(data)
    if (type !== 'step.stop') continue
    // Hidden reasoning has no text.
    if (block.kind !== 'thought' || block.body !== '') parts.push(block)
    open.delete(index)
  }
  return { parts, candidates: events.some(event => event['event_type'] === 'interaction.completed') ? [0] : [] }
}

const STEPS: ReadonlyMap<Json | undefined, 'call' | 'text' | 'thought'> = new Map<
  Json | undefined,
  'call' | 'text' | 'thought'
>([
  ['function_call', 'call'],
  ['model_output', 'text'],
  ['thought', 'thought'],
])

/** Returns every finished image. */
const ofPictures = (events: readonly JsonObject[]): Endings => ({
  parts: events
    .filter(({ type }) => text(type).endsWith('.completed'))
    .map(event => ({ kind: 'media', body: text(event['b64_json']) })),
  candidates: [],
})

const ENDINGS: { readonly [format: string]: (events: readonly JsonObject[]) => Endings } = {
  chat: ofChoices,
  completions: ofChoices,
  messages: ofBlocks,
  responses: ofItems,
  contents: ofContents,
  converse: ofDeltas,
  'cohere-chat': ofCohere,
  speech: ofLast(/^speech\.audio\.done$/),
  transcriptions: ofLast(/^transcript\.text\.done$/),
  images: ofPictures,
  interactions: ofSteps,
}

/** Returns everything that a stream of the format announces as ended. */
export const endingsIn = (format: string, wire: readonly WireEvent[]): Endings => ENDINGS[format]!(bodiesOf(wire))
