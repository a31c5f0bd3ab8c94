import type { Path } from '../../canonical/loss.ts'
import { type JsonObject, type Node, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Sampling } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { SETTINGS } from '../../formats/settings/chat.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import {
  anyObject,
  defined,
  extrasOf,
  extrasWithin,
  flag,
  number,
  object,
  objects,
  oneOrMoreTexts,
  required,
  text,
  texts,
  withDefined,
} from '../fields.ts'
import { type ReadSettings, readSettings } from '../settings.ts'
import { readShape } from '../shapes.ts'
import { withStreamOptions } from '../stream-options.ts'
import { readMessages } from './content.ts'
import { REASONING_FIELDS, type ReadReasoning, readReasoning, unreadSwitches } from './reasoning-settings.ts'
import { readToolChoice, readTools } from './tools.ts'
import * as wire from './wire.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads the body of `POST /v1/chat/completions` (docs/wire/chat.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming), FORMAT, incoming))

function readBody({ body, headers }: WireRequest): CanonicalRequest {
  const switches = readReasoning(body)
  const unreadFields = unreadSwitches(body, switches)
  const settings = readSettings(SETTINGS, body)
  const output = readOutput(body, settings, unreadFields)
  const sampling = readSampling(body, settings, unreadFields)
  const user = text(body['user'])
  const safe = text(body['safety_identifier'])
  if (safe !== undefined && user !== undefined) unreadFields.push('user')
  const store = flag(body['store'])
  const model = required(text(body['model']))
  const messages = readMessages(required(objects(body['messages'])))
  const stream = flag(body['stream']) ?? false
  const tools = readTools(body)
  const toolChoice = readToolChoice(body, unreadFields)
  const node = withStreamOptions(
    FORMAT,
    body,
    withTemplateArguments(extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields), switches),
  )
  return withDefined(
    { model, messages, output, sampling, stream },
    {
      tools,
      toolChoice,
      reasoning: switches.reasoning,
      state: store === undefined ? undefined : { store },
      endUser: safe ?? user,
      ...settings.request,
      extras: node.extras,
      spelling: withClient(headers, store === true ? withSpelling(node.spelling, { storesCopy: true }) : node.spelling),
    },
  )
}

const withSpelling = (spelling: Node['spelling'], fields: JsonObject): Node['spelling'] => ({
  [FORMAT]: { ...spelling?.[FORMAT], ...fields },
})

/**
 * Adds what the client is known to need (docs/wire/chat.md#clients-that-take-whole-calls,
 * docs/wire/chat.md#clients-that-read-usage-unasked).
 */
function withClient({ 'user-agent': client = '' }: WireRequest['headers'], spelling: Node['spelling']) {
  const needs = {
    ...(WHOLE_CALL_CLIENTS.test(client) ? { wholeCalls: true } : {}),
    ...(COUNTING_CLIENTS.test(client) ? { usageWithFinish: true } : {}),
  }
  return Object.keys(needs).length === 0 ? spelling : withSpelling(spelling, needs)
}

/** Matches Mistral's SDKs and the AI SDK's provider of xAI. */
const WHOLE_CALL_CLIENTS = /\bmistral(?:ai\b|-client-)|\bai-sdk\/xai\b/

/** Matches Mistral's SDKs and the AI SDK's provider of Mistral. */
const COUNTING_CLIENTS = /\bmistral(?:ai\b|-client-)|\bai-sdk\/mistral\b/

const KNOWN_FIELDS = new Set([
  ...SETTINGS.taken,
  ...['model', 'messages', 'tools', 'functions', 'web_search_options', 'tool_choice', 'function_call', 'modalities'],
  ...['response_format', 'audio', 'store', 'stream', 'stream_options', 'max_tokens'],
  ...['max_completion_tokens', 'stop', 'logprobs', 'top_logprobs', 'safety_identifier', 'user', 'random_seed'],
  ...REASONING_FIELDS,
])

/** Stores the template arguments that are not switches as extras. */
function withTemplateArguments(node: Pick<Node, 'extras'>, { templateArguments }: ReadReasoning): Pick<Node, 'extras'> {
  if (templateArguments === undefined) return node
  return { extras: { [FORMAT]: { ...node.extras?.[FORMAT], chat_template_kwargs: templateArguments } } }
}

function readSampling(body: JsonObject, { sampling }: ReadSettings, unreadFields: string[]): Sampling {
  const limit = number(body['max_completion_tokens'])
  const deprecated = number(body['max_tokens'])
  if (limit !== undefined && deprecated !== undefined) unreadFields.push('max_tokens')
  const mistralSeed = number(body['random_seed'])
  if (mistralSeed !== undefined && sampling.seed !== undefined) unreadFields.push('random_seed')
  return withDefined(sampling, {
    seed: sampling.seed ?? mistralSeed,
    maxTokens: limit ?? deprecated,
    stop: oneOrMoreTexts(body['stop']),
    logprobs: readLogprobs(body, unreadFields),
  })
}

/**
 * Reads the requested log probabilities. `logprobs: true` alone requests those of the chosen tokens. A count without it
 * is invalid and becomes an extra.
 */
function readLogprobs(body: JsonObject, unreadFields: string[]): number | undefined {
  const hasLogprobs = flag(body['logprobs'])
  const top = number(body['top_logprobs'])
  if (hasLogprobs === true && top !== 0) return top ?? 0
  if (hasLogprobs === true || top !== undefined) unreadFields.push('logprobs', 'top_logprobs')
  return undefined
}

function readOutput(body: JsonObject, { output }: ReadSettings, unreadFields: string[]): Output {
  return withDefined(output, {
    modalities: texts(body['modalities']) as Output['modalities'],
    text: readFormat(body, unreadFields),
    audio: readAudio(body, unreadFields),
  })
}

function readFormat(body: JsonObject, unreadFields: string[]): Output['text'] {
  const format = object(body['response_format'])
  if (format === undefined) return undefined
  const definition = anyObject(format['json_schema']) ?? {}
  const shape = readShape(format['type'], definition)
  if (shape?.shape === 'schema')
    return { ...shape, ...extrasWithin(FORMAT, format, 'json_schema', definition, SCHEMA, SCHEMA_TYPE) }
  if (shape !== undefined) return { ...shape, ...extrasOf(FORMAT, format, TYPE) }
  unreadFields.push('response_format')
  return undefined
}

const TYPE = new Set(['type'])
const SCHEMA_TYPE = new Set(['type', 'json_schema'])
const SCHEMA = new Set(['name', 'description', 'strict', 'schema'])

const AUDIO = new Set(['voice', 'format'])

function readAudio(body: JsonObject, unreadFields: string[]): Output['audio'] {
  const audio = object(body['audio'])
  if (audio === undefined) return undefined
  const { voice, format } = audio
  if ((voice !== undefined && typeof voice !== 'string') || (format !== undefined && typeof format !== 'string')) {
    unreadFields.push('audio')
    return undefined
  }
  return {
    ...defined({ voice, mediaType: format === undefined ? undefined : `audio/${format}` }),
    ...extrasOf(FORMAT, audio, AUDIO),
  }
}

/** Arguments of chat templates that turn thinking on and off. */
const TEMPLATE_SWITCHES = ['chat_template_kwargs/enable_thinking', 'chat_template_kwargs/thinking'] as const

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS),
  'sampling/maxTokens': ['max_completion_tokens', 'max_tokens'],
  'sampling/seed': ['seed', 'random_seed'],
  'sampling/stop': ['stop'],
  'sampling/logprobs': ['top_logprobs', 'logprobs'],
  'output/modalities': ['modalities'],
  'output/text': ['response_format'],
  'output/audio': ['audio'],
  'output/audio/mediaType': ['audio/format'],
  reasoning: REASONING_FIELDS,
  'reasoning/effort': [
    ...['reasoning_effort', 'reasoning/effort', 'reasoning/enabled', 'thinking/effort', 'thinking', 'enable_thinking'],
    ...TEMPLATE_SWITCHES,
  ],
  'reasoning/budget': [
    ...['reasoning/max_tokens', 'reasoning/enabled', 'thinking/budget_tokens', 'thinking_budget', 'thinking'],
    ...['enable_thinking', ...TEMPLATE_SWITCHES],
  ],
  'reasoning/show': ['reasoning/exclude', 'include_reasoning'],
  tools: ['tools', 'functions', 'web_search_options'],
  toolChoice: ['tool_choice', 'function_call'],
  'toolChoice/extras/tool_choice': ['tool_choice'],
  'toolChoice/extras/function_call': ['function_call'],
  state: ['store'],
  'state/store': ['store'],
  endUser: ['safety_identifier', 'user'],
  stream: ['stream'],
}

/** Returns the path of each tool in the body. */
export const toolPaths = ({ tools, functions, web_search_options: search }: JsonObject): readonly Path[] => [
  ...(objects(tools) ?? []).map((_, index): Path => ['tools', index]),
  ...(objects(functions) ?? []).map((_, index): Path => ['functions', index]),
  ...(search == null ? [] : [['web_search_options']]),
]
