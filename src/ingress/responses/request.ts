import { append } from '../../canonical/append.ts'
import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import {
  type CanonicalRequest,
  EFFORTS,
  type Effort,
  type Output,
  type Reasoning,
  type Sampling,
  type State,
} from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, flag, number, object, required, rest, spelling, text, texts, withDefined } from '../fields.ts'
import { outputOf, spellEndpoint } from './endpoint.ts'
import { asImageRequest } from './image-request.ts'
import { readHistory } from './input.ts'
import { readToolChoice, readTools } from './tools.ts'
import * as wire from './wire.ts'

const FORMAT = 'responses'

/** `POST /v1/responses` (FORMATS §4) as a canonical request. */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readValidated(wire.request, incoming.body, () => asImageRequest(read(incoming), incoming.body))

function read(incoming: WireRequest): CanonicalRequest {
  const { body } = incoming
  const refused: string[] = []
  const include = readInclude(body, refused)
  const conversation = readConversation(body, refused)
  const defaults = readDefaults(body, refused)
  const safety = text(body['safety_identifier'])
  const user = text(body['user'])
  if (safety !== undefined && user !== undefined) refused.push('user')
  const state = defined({
    store: flag(body['store']),
    previous: text(body['previous_response_id']),
    conversation,
    background: flag(body['background']),
  }) satisfies State
  const output = { ...readText(body), ...outputOf(incoming.path, body['input']) }
  const stream = flag(body['stream']) ?? false
  // A count is never streamed, whatever the request has.
  if (stream && output.count === true) refused.push('stream')
  const model = required(text(body['model']))
  const messages = readHistory(body)
  const sampling = readSampling(body, include.logprobs)
  const reasoning = readReasoning(body, refused)
  const marks = spelling({ ...spell(body), quiet: spelling(defaults), ...spellEndpoint(incoming) })
  const node = withInclude(include.others, rest(FORMAT, body, TAKEN, marks, refused))
  return withDefined(
    { model, messages, output, sampling, stream: stream && output.count !== true },
    {
      tools: readTools(body),
      toolChoice: readToolChoice(body['tool_choice']),
      parallelToolCalls: flag(body['parallel_tool_calls']),
      reasoning,
      state: spelling(state) === undefined ? undefined : state,
      endUser: safety ?? user,
      metadata: object(body['metadata']),
      serviceTier: text(body['service_tier']),
      cacheKey: text(body['prompt_cache_key']),
      extras: node.extras,
      spelling: node.spelling,
    },
  )
}

const readSampling = (body: JsonObject, logprobs: number | undefined): Sampling =>
  defined({
    maxTokens: number(body['max_output_tokens']),
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    frequencyPenalty: number(body['frequency_penalty']),
    presencePenalty: number(body['presence_penalty']),
    logprobs,
  })

const TAKEN = new Set([
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning'],
  ...['max_output_tokens', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'top_logprobs', 'include'],
  ...['store', 'previous_response_id', 'conversation', 'background', 'stream', 'metadata', 'user', 'safety_identifier'],
  ...['service_tier', 'prompt_cache_key', 'truncation', 'stream_options'],
])

/** Values that equal the default, or concern padding of the stream: they are spelling. */
const IS_DEFAULT: { readonly [field: string]: (value: Json) => boolean } = {
  truncation: value => value === 'disabled',
  stream_options: value => isObject(value) && Object.keys(value).every(key => key === 'include_obfuscation'),
}

function readDefaults(body: JsonObject, refused: string[]): JsonObject {
  const fields = Object.keys(IS_DEFAULT).filter(field => body[field] != null)
  const defaults = fields.filter(field => IS_DEFAULT[field]!(body[field]!))
  append(
    refused,
    fields.filter(field => !defaults.includes(field)),
  )
  return Object.fromEntries(defaults.map(field => [field, body[field]!]))
}

function spell(body: JsonObject) {
  const { input, conversation, tools, include, top_logprobs, stream } = body
  return {
    input:
      typeof input === 'string' ? 'string' : isObject(input) ? 'object' : input === undefined ? 'absent' : undefined,
    conversation: isObject(conversation) ? 'object' : undefined,
    user: body['safety_identifier'] == null && body['user'] != null ? 'user' : undefined,
    stream: stream === false ? false : undefined,
    include: include ?? undefined,
    top: top_logprobs === 0 ? 0 : undefined,
    tools: Array.isArray(tools) && tools.length === 0 ? 'empty' : undefined,
  }
}

const PROOFS = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'

/**
 * Proofs of reasoning are spelling here: every other format returns them in any case. `top_logprobs` without the
 * include has no effect that other formats could reproduce.
 */
function readInclude(body: JsonObject, refused: string[]) {
  const wanted = texts(body['include'])
  const top = number(body['top_logprobs'])
  const logprobs = wanted?.includes(LOGPROBS) ? (top ?? 0) : undefined
  if (logprobs === undefined && top !== undefined && top !== 0) refused.push('top_logprobs')
  const others = wanted?.filter(value => value !== PROOFS && value !== LOGPROBS) ?? []
  return { logprobs, others }
}

function withInclude(others: readonly string[], node: Node): Node {
  if (others.length === 0) return node
  return { ...node, extras: { [FORMAT]: { ...node.extras?.[FORMAT], include: others } } }
}

function readConversation(body: JsonObject, refused: string[]): string | undefined {
  const conversation = body['conversation'] ?? undefined
  if (!isObject(conversation)) return text(conversation)
  if (typeof conversation['id'] === 'string' && Object.keys(conversation).length === 1) return conversation['id']
  refused.push('conversation')
  return undefined
}

const TEXT = new Set(['format', 'verbosity'])

/** `text` holds the shape of the answer and its verbosity. */
function readText(body: JsonObject): Output {
  const value = object(body['text'])
  if (value === undefined) return {}
  const format = object(value['format'])
  const shape = format && readShape(format)
  const refused = format !== undefined && shape === undefined ? ['format'] : []
  return {
    ...defined({ text: shape, verbosity: text(value['verbosity']) }),
    ...rest(FORMAT, value, TEXT, { own: true }, refused),
  }
}

const TYPE = new Set(['type'])
const SCHEMA = new Set(['type', 'name', 'description', 'schema', 'strict'])

function readShape(format: JsonObject): Output['text'] {
  const { type, name, description, schema, strict } = format
  if (type === 'text') return { shape: 'text', ...rest(FORMAT, format, TYPE) }
  if (type === 'json_object') return { shape: 'json', ...rest(FORMAT, format, TYPE) }
  if (type !== 'json_schema' || !isObject(schema)) return undefined
  if (!isMaybe(name, 'string') || !isMaybe(description, 'string') || !isMaybe(strict, 'boolean')) return undefined
  return {
    shape: 'schema',
    schema,
    ...defined({ name: text(name), description: text(description), strict: flag(strict) }),
    ...rest(FORMAT, format, SCHEMA),
  }
}

const isMaybe = (value: Json | undefined, type: 'string' | 'boolean'): boolean => value == null || typeof value === type

const THOUGHT = new Set(['effort', 'summary', 'generate_summary'])
const isEffort = (value: unknown): value is Effort => EFFORTS.includes(value as Effort)

/** Asking for a summary of any length is asking for the thoughts to be shown. */
function readReasoning(body: JsonObject, refused: string[]): Reasoning | undefined {
  const value = object(body['reasoning'])
  if (value === undefined) return undefined
  const { effort, summary, generate_summary } = value
  const known =
    (effort == null || isEffort(effort)) && isMaybe(summary, 'string') && isMaybe(generate_summary, 'string')
  if (!known) {
    refused.push('reasoning')
    return undefined
  }
  const deprecated = summary == null && generate_summary != null
  const shown = summary ?? generate_summary ?? undefined
  return {
    ...defined({ effort: effort ?? undefined, show: shown === undefined ? undefined : (true as const) }),
    ...rest(
      FORMAT,
      value,
      THOUGHT,
      spelling({
        summary: shown === 'auto' && !deprecated ? undefined : shown,
        as: deprecated ? 'generate_summary' : undefined,
        own: true,
      }),
      summary != null && generate_summary != null ? ['generate_summary'] : [],
    ),
  }
}
