import { isObject, type Json, type JsonObject, type Node, withWireSource } from '../../canonical/node.ts'
import {
  type CanonicalRequest,
  isEffort,
  type Output,
  type Reasoning,
  type Sampling,
  type State,
} from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { SETTINGS } from '../../formats/settings/responses.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { defined, extrasOf, flag, isMaybe, number, object, required, text, texts, withDefined } from '../fields.ts'
import { readSettings } from '../settings.ts'
import { readShape } from '../shapes.ts'
import { asImageRequest } from './images.ts'
import { readHistory } from './input.ts'
import { readToolChoice, readTools } from './tools.ts'
import * as wire from './wire.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads the body of `POST /v1/responses` or an endpoint below it (docs/wire/responses.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () =>
    withWireSource(asImageRequest(readBody(incoming), incoming.body), FORMAT, incoming),
  )

function readBody({ path, body }: WireRequest): CanonicalRequest {
  const unreadFields = Object.keys(IS_DEFAULT).filter(field => body[field] != null && !IS_DEFAULT[field]!(body[field]!))
  const include = readInclude(body, unreadFields)
  const conversation = readConversation(body, unreadFields)
  const safety = text(body['safety_identifier'])
  const user = text(body['user'])
  if (safety !== undefined && user !== undefined) unreadFields.push('user')
  const state = defined({
    store: flag(body['store']),
    previous: text(body['previous_response_id']),
    conversation,
    background: flag(body['background']),
  }) satisfies State
  const output = { ...readText(body), ...outputOf(path, body['input']) }
  const stream = flag(body['stream']) ?? false
  // A token count is never streamed.
  if (stream && output.count === true) unreadFields.push('stream')
  const model = required(text(body['model']))
  const messages = readHistory(body)
  const settings = readSettings(SETTINGS, body)
  const sampling: Sampling = withDefined(settings.sampling, { logprobs: include.logprobs })
  const reasoning = readReasoning(body, unreadFields)
  return withDefined(
    { model, messages, output, sampling, stream: stream && output.count !== true },
    {
      tools: readTools(body),
      toolChoice: readToolChoice(body['tool_choice']),
      reasoning,
      state: Object.keys(state).length === 0 ? undefined : state,
      endUser: safety ?? user,
      ...settings.request,
      extras: withInclude(include.others, extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields)).extras,
    },
  )
}

const COMPACTION: Output = { compaction: true }
/** Output of endpoints other than the main one, by path suffix. */
const OUTPUT_BY_PATH: ReadonlyMap<string, Output> = new Map<string, Output>([
  ['/responses/compact', COMPACTION],
  ['/responses/input_tokens', { count: true }],
])
const TRIGGER = 'compaction_trigger'

/**
 * Returns the output that the endpoint or the last item requests (docs/wire/responses.md#endpoints). The path may have
 * a version.
 */
function outputOf(path: string, input: Json | undefined): Output {
  const fixedOutput = OUTPUT_BY_PATH.get(path.replace(/^\/v1(?=\/)/, ''))
  if (fixedOutput !== undefined) return fixedOutput
  const last = Array.isArray(input) ? input.at(-1) : undefined
  return isObject(last) && last['type'] === TRIGGER ? COMPACTION : {}
}

const KNOWN_FIELDS = new Set([
  ...SETTINGS.taken,
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'text', 'reasoning', 'top_logprobs', 'include'],
  ...['store', 'previous_response_id', 'conversation', 'background', 'stream', 'user', 'safety_identifier'],
  ...['truncation', 'stream_options'],
])

/**
 * Tests for values that equal the default or only affect the padding of the stream. Other formats may drop such values.
 */
const IS_DEFAULT: { readonly [field: string]: (value: Json) => boolean } = {
  truncation: value => value === 'disabled',
  stream_options: value => isObject(value) && Object.keys(value).every(key => key === 'include_obfuscation'),
}

const SIGNATURES = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'
const SOURCES = 'web_search_call.action.sources'
const INCLUDED_IN_ANSWER = new Set([SIGNATURES, LOGPROBS, SOURCES])

/**
 * Reads `include`. Reasoning signatures and search sources are left out, because every other format returns them
 * anyway. `top_logprobs` without its `include` has no effect that other formats could reproduce.
 */
function readInclude(body: JsonObject, unreadFields: string[]) {
  const includedFields = texts(body['include'])
  const top = number(body['top_logprobs'])
  const logprobs = includedFields?.includes(LOGPROBS) ? (top ?? 0) : undefined
  if (logprobs === undefined && top !== undefined && top !== 0) unreadFields.push('top_logprobs')
  const others = includedFields?.filter(value => !INCLUDED_IN_ANSWER.has(value)) ?? []
  return { logprobs, others }
}

function withInclude(others: readonly string[], node: Node): Node {
  if (others.length === 0) return node
  return { ...node, extras: { [FORMAT]: { ...node.extras?.[FORMAT], include: others } } }
}

function readConversation(body: JsonObject, unreadFields: string[]): string | undefined {
  const conversation = body['conversation'] ?? undefined
  if (!isObject(conversation)) return text(conversation)
  if (typeof conversation['id'] === 'string' && Object.keys(conversation).length === 1) return conversation['id']
  unreadFields.push('conversation')
  return undefined
}

const TEXT = new Set(['format', 'verbosity'])

/** Reads `text`: the shape of the answer and its verbosity. */
function readText(body: JsonObject): Output {
  const value = object(body['text'])
  if (value === undefined) return {}
  const format = object(value['format'])
  const shape = format && readFormat(format)
  const unreadFields = format !== undefined && shape === undefined ? ['format'] : []
  return {
    ...defined({ text: shape, verbosity: text(value['verbosity']) }),
    ...extrasOf(FORMAT, value, TEXT, unreadFields),
  }
}

const TYPE = new Set(['type'])
const SCHEMA = new Set(['type', 'name', 'description', 'schema', 'strict'])

function readFormat(format: JsonObject): Output['text'] {
  const shape = readShape(format['type'], format)
  return shape && { ...shape, ...extrasOf(FORMAT, format, shape.shape === 'schema' ? SCHEMA : TYPE) }
}

const REASONING_FIELDS = new Set(['effort', 'summary', 'generate_summary'])

/** Reads `reasoning`. A request for a summary of any length makes reasoning visible. */
function readReasoning(body: JsonObject, unreadFields: string[]): Reasoning | undefined {
  const value = object(body['reasoning'])
  if (value === undefined) return undefined
  const { effort, summary, generate_summary } = value
  const known =
    (effort == null || isEffort(effort)) && isMaybe(summary, 'string') && isMaybe(generate_summary, 'string')
  if (!known) {
    unreadFields.push('reasoning')
    return undefined
  }
  return {
    ...defined({
      effort: effort ?? undefined,
      show: summary == null && generate_summary == null ? undefined : (true as const),
    }),
    ...extrasOf(
      FORMAT,
      value,
      REASONING_FIELDS,
      summary != null && generate_summary != null ? ['generate_summary'] : [],
    ),
  }
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS),
  'sampling/logprobs': ['top_logprobs', 'include'],
  'output/text': ['text/format'],
  'output/extras': ['text'],
  'output/verbosity': ['text/verbosity'],
  'output/image': ['tools'],
  'output/modalities': ['tools'],
  reasoning: ['reasoning'],
  'reasoning/effort': ['reasoning/effort'],
  'reasoning/show': ['reasoning/summary', 'reasoning/generate_summary', 'reasoning'],
  tools: ['tools'],
  toolChoice: ['tool_choice'],
  'toolChoice/extras/tool_choice': ['tool_choice'],
  'toolChoice/hosted': ['tool_choice/type'],
  'state/store': ['store'],
  'state/previous': ['previous_response_id'],
  'state/conversation': ['conversation'],
  'state/background': ['background'],
  state: ['store', 'previous_response_id', 'conversation', 'background'],
  endUser: ['safety_identifier', 'user'],
  stream: ['stream'],
}
