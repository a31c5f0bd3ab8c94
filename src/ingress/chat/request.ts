import { isObject, type JsonObject } from '../../canonical/node.ts'
import {
  type CanonicalRequest,
  EFFORTS,
  type Effort,
  type Output,
  type Reasoning,
  type Sampling,
} from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import {
  count,
  defined,
  flag,
  nested,
  number,
  object,
  objects,
  required,
  rest,
  spelling,
  text,
  texts,
  withDefined,
} from '../fields.ts'
import { readSharedSampling } from '../openai-sampling.ts'
import { withStreamOptions } from '../stream-options.ts'
import { readMessages } from './content.ts'
import { readToolChoice, readTools } from './tools.ts'
import * as wire from './wire.ts'

const FORMAT = 'chat'

/** `POST /v1/chat/completions` (FORMATS §2) as a canonical request. */
export const readRequest = ({ body }: WireRequest): CanonicalRequest =>
  readValidated(wire.request, body, () => read(body))

function read(body: JsonObject): CanonicalRequest {
  const refused: string[] = []
  const output = readOutput(body, refused)
  const sampling = readSampling(body, refused)
  const reasoning = readReasoning(body, refused)
  const user = text(body['user'])
  const safe = text(body['safety_identifier'])
  if (safe !== undefined && user !== undefined) refused.push('user')
  const store = flag(body['store'])
  const model = required(text(body['model']))
  const messages = readMessages(required(objects(body['messages'])))
  const stream = flag(body['stream']) ?? false
  const tools = readTools(body)
  const toolChoice = readToolChoice(body, refused)
  const node = withStreamOptions(FORMAT, body, rest(FORMAT, body, TAKEN, spell(body), refused))
  return withDefined(
    { model, messages, output, sampling, stream },
    {
      tools,
      toolChoice,
      parallelToolCalls: flag(body['parallel_tool_calls']),
      reasoning,
      state: store === undefined ? undefined : { store },
      endUser: safe ?? user,
      metadata: object(body['metadata']),
      serviceTier: text(body['service_tier']),
      cacheKey: text(body['prompt_cache_key']),
      extras: node.extras,
      spelling: node.spelling,
    },
  )
}

const TAKEN = new Set([
  ...['model', 'messages', 'tools', 'functions', 'web_search_options', 'tool_choice', 'function_call'],
  ...['parallel_tool_calls', 'modalities', 'n', 'response_format', 'verbosity', 'audio', 'reasoning'],
  ...['reasoning_effort', 'store', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'temperature'],
  ...['top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'stop', 'logprobs', 'top_logprobs'],
  ...['safety_identifier', 'user', 'metadata', 'service_tier', 'prompt_cache_key'],
])

/** Alternative field names, a string for a list of one, explicit defaults: all without meaning. */
function spell(body: JsonObject): JsonObject | undefined {
  return spelling({
    limit: body['max_completion_tokens'] == null && body['max_tokens'] != null ? 'max_tokens' : undefined,
    stop: typeof body['stop'] === 'string' ? 'string' : undefined,
    user: body['safety_identifier'] == null && body['user'] != null ? 'user' : undefined,
    stream: body['stream'] === false ? false : undefined,
    logprobs: body['logprobs'] === false && body['top_logprobs'] == null ? false : undefined,
    tools: Array.isArray(body['tools']) && body['tools'].length === 0 ? 'empty' : undefined,
    functions: Array.isArray(body['functions']) && body['functions'].length === 0 ? 'empty' : undefined,
  })
}

function readSampling(body: JsonObject, refused: string[]): Sampling {
  const limit = number(body['max_completion_tokens'])
  const deprecated = number(body['max_tokens'])
  if (limit !== undefined && deprecated !== undefined) refused.push('max_tokens')
  return defined({
    maxTokens: limit ?? deprecated,
    ...readSharedSampling(body),
    logprobs: readLogprobs(body, refused),
  })
}

/** `logprobs: true` alone asks for the chosen tokens; a count without it cannot be read. */
function readLogprobs(body: JsonObject, refused: string[]): number | undefined {
  const wanted = flag(body['logprobs'])
  const top = number(body['top_logprobs'])
  if (wanted === true && top !== 0) return top ?? 0
  if (wanted === true || top !== undefined) refused.push('logprobs', 'top_logprobs')
  return undefined
}

function readOutput(body: JsonObject, refused: string[]): Output {
  return defined({
    modalities: texts(body['modalities']) as Output['modalities'],
    candidates: count(body['n']),
    text: readShape(body, refused),
    verbosity: text(body['verbosity']),
    audio: readAudio(body, refused),
  })
}

function readShape(body: JsonObject, refused: string[]): Output['text'] {
  const format = object(body['response_format'])
  if (format === undefined) return undefined
  const type = format['type']
  if (type === 'text') return { shape: 'text', ...rest(FORMAT, format, TYPE) }
  if (type === 'json_object') return { shape: 'json', ...rest(FORMAT, format, TYPE) }
  const outer = format['json_schema']
  if (type === 'json_schema' && isObject(outer) && isSchema(outer)) {
    const { name, description, strict } = outer as { name?: string; description?: string; strict?: boolean }
    return {
      shape: 'schema',
      schema: outer['schema'] as JsonObject,
      ...defined({ name, description: description ?? undefined, strict: strict ?? undefined }),
      ...nested(FORMAT, format, 'json_schema', outer, SCHEMA, SCHEMA_TYPE),
    }
  }
  refused.push('response_format')
  return undefined
}

const TYPE = new Set(['type'])
const SCHEMA_TYPE = new Set(['type', 'json_schema'])
const SCHEMA = new Set(['name', 'description', 'strict', 'schema'])

const isSchema = (wire: JsonObject): boolean =>
  isObject(wire['schema']) &&
  (wire['name'] === undefined || typeof wire['name'] === 'string') &&
  (wire['description'] == null || typeof wire['description'] === 'string') &&
  (wire['strict'] == null || typeof wire['strict'] === 'boolean')

const AUDIO = new Set(['voice', 'format'])

function readAudio(body: JsonObject, refused: string[]): Output['audio'] {
  const audio = object(body['audio'])
  if (audio === undefined) return undefined
  const { voice, format } = audio
  if ((voice !== undefined && typeof voice !== 'string') || (format !== undefined && typeof format !== 'string')) {
    refused.push('audio')
    return undefined
  }
  return {
    ...defined({ voice, mediaType: format === undefined ? undefined : `audio/${format}` }),
    ...rest(FORMAT, audio, AUDIO),
  }
}

const THOUGHT = new Set(['effort', 'max_tokens', 'exclude'])
const isEffort = (value: unknown): value is Effort => EFFORTS.includes(value as Effort)

/** `reasoning_effort`, or OpenRouter's `reasoning` object where that stands alone. */
function readReasoning(body: JsonObject, refused: string[]): Reasoning | undefined {
  const effort = text(body['reasoning_effort'])
  const settings = body['reasoning'] ?? undefined
  if (effort !== undefined) {
    if (settings !== undefined) refused.push('reasoning')
    if (isEffort(effort)) return { effort }
    refused.push('reasoning_effort')
    return undefined
  }
  if (settings === undefined) return undefined
  if (isObject(settings) && isThought(settings)) {
    const { effort, max_tokens, exclude } = settings as { effort?: Effort; max_tokens?: number; exclude?: boolean }
    const show = exclude === undefined ? undefined : !exclude
    return { ...defined({ effort, budget: max_tokens, show }), ...rest(FORMAT, settings, THOUGHT, { as: 'reasoning' }) }
  }
  refused.push('reasoning')
  return undefined
}

const isThought = (wire: JsonObject): boolean =>
  (wire['effort'] === undefined || isEffort(wire['effort'])) &&
  (wire['max_tokens'] === undefined || typeof wire['max_tokens'] === 'number') &&
  (wire['exclude'] === undefined || typeof wire['exclude'] === 'boolean')
