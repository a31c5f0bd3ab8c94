import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/* Assembles the chunks of a stream into a chat completion. Source: https://platform.openai.com/docs/api-reference/chat-streaming */

/** A message under construction. Texts are appended. Calls are identified by their index. */
interface PartialChoice {
  readonly index: number
  readonly message: { [field: string]: Json }
  readonly calls: Map<number, JsonObject>
  readonly logprobs: { readonly [list: string]: Json[] }
  finish: Json
}

/** Lists of tokens that are concatenated. */
const TOKEN_LISTS = ['content', 'refusal'] as const

/** Text fields of a delta that are concatenated. */
const TEXT_FIELDS = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const

/** Adds a chunk to a call. `arguments` and `input` are appended. All other fields are set once. */
function extendedCall(call: JsonObject, piece: JsonObject): JsonObject {
  const out: { [field: string]: Json } = { ...call }
  for (const [field, value] of Object.entries(piece)) {
    if (field === 'index' || value === null) continue
    if (!isObject(value)) {
      out[field] ??= value
      continue
    }
    const before = objectOf(out[field])
    const inner: { [field: string]: Json } = { ...before }
    for (const [name, text] of Object.entries(value))
      if (name === 'arguments' || name === 'input') inner[name] = (textOf(before[name]) ?? '') + (textOf(text) ?? '')
      else if (text !== null) inner[name] ??= text
    out[field] = inner
  }
  return out
}

function add(partial: PartialChoice, choice: JsonObject): void {
  const delta = objectOf(choice['delta'])
  const { message, calls } = partial
  if (delta['role'] != null) message['role'] ??= delta['role']
  for (const field of TEXT_FIELDS)
    if (typeof delta[field] === 'string') message[field] = (textOf(message[field]) ?? '') + delta[field]
  if (Array.isArray(delta['annotations']))
    message['annotations'] = [...listOf(message['annotations']), ...delta['annotations']]
  for (const [position, value] of listOf(delta['tool_calls']).entries()) {
    const piece = objectOf(value)
    const index = numberOf(piece['index']) ?? position
    calls.set(index, extendedCall(calls.get(index) ?? {}, piece))
  }
  for (const list of TOKEN_LISTS)
    for (const token of listOf(objectOf(choice['logprobs'])[list])) partial.logprobs[list]!.push(token)
  if (choice['finish_reason'] != null) partial.finish = choice['finish_reason']
}

/** Assembles the chunks of a stream into a chat completion. */
export function assemble(events: readonly Json[]): JsonObject {
  const completion: { [field: string]: Json } = {}
  const choices = new Map<number, PartialChoice>()
  for (const event of events) {
    const chunk = objectOf(event)
    for (const [field, value] of Object.entries(chunk))
      if (field === 'usage' ? value !== null : field !== 'choices' && field !== 'object') completion[field] = value
    for (const value of listOf(chunk['choices'])) {
      const choice = objectOf(value)
      const index = numberOf(choice['index']) ?? 0
      const partial = choices.get(index) ?? newBuilding(index)
      choices.set(index, partial)
      add(partial, choice)
    }
  }
  return {
    ...completion,
    object: 'chat.completion',
    choices: [...choices.values()].sort((a, b) => a.index - b.index).map(finishedChoice),
  }
}

const newBuilding = (index: number): PartialChoice => ({
  ...{ index, message: {}, calls: new Map(), finish: null },
  logprobs: { content: [], refusal: [] },
})

function finishedChoice({ index, message, calls, finish, logprobs }: PartialChoice): JsonObject {
  const list = [...calls].sort(([a], [b]) => a - b).map(([, call]) => call)
  const fullMessage = { role: 'assistant', content: null, refusal: null, ...message }
  return {
    index,
    finish_reason: finish,
    logprobs: TOKEN_LISTS.some(name => logprobs[name]!.length > 0) ? logprobs : null,
    message: list.length > 0 ? { ...fullMessage, tool_calls: list } : fullMessage,
  }
}
