import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Case } from './fixtures.ts'
import { withoutSuffixes } from './ids.ts'

/** A request to the mock. */
export interface MockRequest {
  readonly format: Format
  readonly model: string
  readonly stream: boolean
  readonly body: JsonObject
}

/** The model id by which callers select a case. */
export const modelOf = ({ format, name }: Case): string => `replay-${format}-${name}`

/**
 * Chooses the best case for a request among those with an answer of the requested kind: the case that the model id
 * selects; a case with an equal request; a case that calls a tool, if tools are offered and there is no result yet;
 * else plain text.
 */
export function pick(cases: readonly Case[], request: MockRequest): Case | undefined {
  const able = cases.filter(
    one => one.format === request.format && (request.stream ? one.events : (one.result ?? one.raw)) !== undefined,
  )
  const named = able.find(one => modelOf(one) === request.model)
  if (named !== undefined) return named
  const key = keyOf(request.body)
  const exact = able.find(one => one.request !== undefined && keyOf(one.request) === key)
  if (exact !== undefined) return exact
  const calling = able.filter(callsTool)
  if (offersTools(request.body) && !hasToolResult(request)) {
    const offered = JSON.stringify(toolsIn(request.body))
    const called = calling.find(one => toolNames(one).some(name => offered.includes(JSON.stringify(name))))
    if (called !== undefined || calling.length > 0) return called ?? calling[0]
  }
  const plain = able.filter(one => !calling.includes(one))
  return plain.find(one => one.name === 'hello') ?? plain[0] ?? able[0]
}

/** A key by which bodies are compared, regardless of the order of fields, the model and streaming. */
function keyOf({ model: _model, stream: _stream, stream_options: _options, ...body }: JsonObject): string {
  return withoutSuffixes(JSON.stringify(sorted(body)))
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map(key => [key, sorted(value[key]!)]))
}

const offersTools = (body: JsonObject): boolean => {
  const tools = toolsIn(body)
  return Array.isArray(tools) && tools.length > 0
}

/** The tools of a request, which some formats group with the tool choice. */
const toolsIn = ({ tools, toolConfig }: JsonObject): Json | undefined =>
  tools ?? (isObject(toolConfig) ? toolConfig['tools'] : undefined)

const CALL =
  /"(?:tool_calls|functionCall|toolUse)"\s*:\s*[[{]|"type"\s*:\s*"(?:function_call|tool_use|custom_tool_call)"/

const answerOf = ({ result, events }: Case): string => (result === undefined ? (events ?? '') : JSON.stringify(result))

const callsTool = (one: Case): boolean => CALL.test(answerOf(one))

const toolNames = (one: Case): string[] =>
  [...answerOf(one).matchAll(/"name"\s*:\s*"([^"\\]+)"/g)].map(match => match[1]!)

/** The field of each format that holds the turns, and a pattern for a tool result. */
const RESULTS: { readonly [format: Format]: { readonly turns: string; readonly result: RegExp } } = {
  chat: { turns: 'messages', result: /^\{[^{[]*"role":"tool"/ },
  responses: { turns: 'input', result: /"type":"(?:custom_tool|function)_call_output"/ },
  messages: { turns: 'messages', result: /"type":"tool_result"/ },
  contents: { turns: 'contents', result: /"functionResponse":/ },
  converse: { turns: 'messages', result: /"toolResult":/ },
  'cohere-chat': { turns: 'messages', result: /^\{[^{[]*"role":"tool"/ },
}

/** Whether the last turn contains a tool result. */
function hasToolResult({ format, body }: MockRequest): boolean {
  const row = RESULTS[format]
  const turns = row === undefined ? undefined : body[row.turns]
  const last = Array.isArray(turns) ? turns.at(-1) : undefined
  if (last === undefined || row === undefined) return false
  return row.result.test(JSON.stringify(last)) || (isObject(last) && last['role'] === 'tool')
}

/**
 * Returns the cases with an answer in the requested audio container or transcript format (docs/wire/speech.md). Empty
 * if no recording has that container. Cases of other formats pass unchanged.
 */
export function casesFor(cases: readonly Case[], request: MockRequest, path: string): readonly Case[] {
  if (request.format === 'speech') return cases.filter(one => isInContainer(one, request.body))
  if (request.format !== 'transcriptions') return cases
  const shape = shapeOf(request.body)
  const shaped = cases.filter(one => one.format === request.format && shapeOf(one.request ?? {}) === shape)
  const able = shaped.filter(one => (request.stream ? one.events : (one.result ?? one.raw)) !== undefined)
  const alike = able.filter(one => translates(one.path) === translates(path))
  return alike.length > 0 ? alike : able.length > 0 ? able : cases
}

const translates = (path: string | undefined): boolean => path?.endsWith('/translations') === true

const shapeOf = ({ response_format: shape }: JsonObject): Json => shape ?? 'json'

/** The media type of each container that `response_format` names. */
const CONTAINERS: { readonly [name: string]: string | undefined } = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

const isInContainer = ({ format, raw }: Case, { response_format: container }: JsonObject): boolean =>
  format === 'speech' && raw !== undefined && raw.mediaType === CONTAINERS[String(container ?? 'mp3')]
