import type { Format, Json, JsonObject } from '../canonical/node.ts'
import { isObject } from '../canonical/node.ts'
import type { Case } from './fixtures.ts'
import { unmarked } from './replay-ids.ts'

/** What somebody asks the replay. */
export interface Asked {
  readonly format: Format
  readonly model: string
  readonly stream: boolean
  readonly body: JsonObject
}

/** The model a case can be asked for by. */
export const modelOf = ({ format, name }: Case): string => `replay-${format}-${name}`

/**
 * The case that answers best, among those that can answer in the way asked: the one the model names, the one with the
 * very request, one that calls a tool where tools are offered and no result of one is at hand, else plain text.
 */
export function pick(cases: readonly Case[], asked: Asked): Case | undefined {
  const able = cases.filter(
    one => one.format === asked.format && (asked.stream ? one.events : (one.result ?? one.raw)) !== undefined,
  )
  const named = able.find(one => modelOf(one) === asked.model)
  if (named !== undefined) return named
  const face = faceOf(asked.body)
  const exact = able.find(one => one.request !== undefined && faceOf(one.request) === face)
  if (exact !== undefined) return exact
  const calling = able.filter(callsTool)
  if (offersTools(asked.body) && !hasToolResult(asked)) {
    const offered = JSON.stringify(asked.body['tools'])
    const called = calling.find(one => toolNames(one).some(name => offered.includes(JSON.stringify(name))))
    if (called !== undefined || calling.length > 0) return called ?? calling[0]
  }
  const plain = able.filter(one => !calling.includes(one))
  return plain.find(one => one.name === 'hello') ?? plain[0] ?? able[0]
}

/** Whatever the order of its keys, and whatever the model and the way of answering are. */
function faceOf({ model: _model, stream: _stream, stream_options: _options, ...body }: JsonObject): string {
  return unmarked(JSON.stringify(sorted(body)))
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map(key => [key, sorted(value[key]!)]))
}

const offersTools = ({ tools }: JsonObject): boolean => Array.isArray(tools) && tools.length > 0

const CALL = /"(?:tool_calls|functionCall)"\s*:\s*[[{]|"type"\s*:\s*"(?:function_call|tool_use|custom_tool_call)"/

const answerOf = ({ result, events }: Case): string => (result === undefined ? (events ?? '') : JSON.stringify(result))

const callsTool = (one: Case): boolean => CALL.test(answerOf(one))

const toolNames = (one: Case): string[] =>
  [...answerOf(one).matchAll(/"name"\s*:\s*"([^"\\]+)"/g)].map(match => match[1]!)

/** Where a conversation stands in a body, and what a tool's result looks like there. */
const RESULTS: { readonly [format: Format]: { readonly turns: string; readonly result: RegExp } } = {
  chat: { turns: 'messages', result: /^\{[^{[]*"role":"tool"/ },
  responses: { turns: 'input', result: /"type":"(?:custom_tool|function)_call_output"/ },
  messages: { turns: 'messages', result: /"type":"tool_result"/ },
  contents: { turns: 'contents', result: /"functionResponse":/ },
}

/** The last turn brings the result of a tool. */
function hasToolResult({ format, body }: Asked): boolean {
  const row = RESULTS[format]
  const turns = row === undefined ? undefined : body[row.turns]
  const last = Array.isArray(turns) ? turns.at(-1) : undefined
  if (last === undefined || row === undefined) return false
  return row.result.test(JSON.stringify(last)) || (isObject(last) && last['role'] === 'tool')
}
