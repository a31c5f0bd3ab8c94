import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest, Sampling, Thread } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import {
  defined,
  flag,
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
import { readCache, readSystem, readTurn } from './content.ts'
import { counts } from './count.ts'
import { readReasoning, readShape, takenOfConfig } from './thinking.ts'
import { readToolChoice, readTools } from './tools.ts'
import * as wire from './wire.ts'

const FORMAT = 'messages'

/** `POST /v1/messages` and `/v1/messages/count_tokens` (FORMATS §6) as a canonical request. */
export function readRequest(incoming: WireRequest): CanonicalRequest {
  return readValidated(wire.requestAt(incoming), incoming.body, () => read(incoming, counts(incoming.path)))
}

function read(incoming: WireRequest, counting: boolean): CanonicalRequest {
  const { body } = incoming
  const refused: string[] = []
  const limit = number(body['max_tokens'])
  const reasoning = readReasoning(body, refused)
  const model = required(text(body['model']))
  const messages = [...readSystem(body['system']), ...required(objects(body['messages'])).flatMap(readTurn)]
  const output = defined({ text: readShape(body, refused), count: counting ? (true as const) : undefined })
  const sampling = readSampling(body, counting ? limit : required(limit))
  const stream = readStream(body, counting, refused)
  const { toolChoice, parallelToolCalls } = readToolChoice(body)
  const thread = counting ? undefined : readThread(object(body['thread']))
  if (thread === undefined) refused.push('thread')
  const node = withInner(body, rest(FORMAT, body, TAKEN, spell(incoming), refused))
  return withDefined(
    { model, messages, output, sampling, stream },
    {
      tools: readTools(body['tools']),
      toolChoice,
      parallelToolCalls,
      reasoning,
      endUser: text(object(body['metadata'])?.['user_id']),
      state: thread && { thread },
      serviceTier: readTier(text(body['service_tier'])),
      cache: readCache(body),
      extras: node.extras,
      spelling: node.spelling,
    },
  )
}

const TAKEN = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'stream'],
  ...['tools', 'tool_choice', 'thinking', 'output_config', 'output_format', 'metadata', 'service_tier'],
  ...['cache_control', 'thread'],
])

const THREAD = new Set(['type', 'previous_message_id'])

/** A thread that begins or is continued; a count has none. */
function readThread(wire: JsonObject | undefined): Thread | undefined {
  if (wire === undefined) return undefined
  const previous = text(wire['previous_message_id'])
  const usual = wire['type'] === (previous === undefined ? 'create' : 'continue')
  return { ...defined({ previous }), ...rest(FORMAT, wire, THREAD, undefined, usual ? [] : ['type']) }
}

const readSampling = (body: JsonObject, maxTokens: number | undefined): Sampling =>
  defined({
    maxTokens,
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    topK: number(body['top_k']),
    stop: texts(body['stop_sequences']),
  })

/** A count is never streamed, whatever the request has. */
function readStream(body: JsonObject, counting: boolean, refused: string[]): boolean {
  const stream = flag(body['stream']) ?? false
  if (counting && stream) refused.push('stream')
  return stream && !counting
}

/** Only the standard tier corresponds to other formats' default one. */
const readTier = (tier: string | undefined): string | undefined => (tier === 'standard_only' ? 'default' : tier)

/** Path, query and headers of the request, and explicit defaults. */
function spell({ path, query, headers, body }: WireRequest): JsonObject | undefined {
  return spelling({
    path: path === '/v1/messages' ? undefined : path,
    query: Object.keys(query).length === 0 ? undefined : query,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    stream: body['stream'] === false ? false : undefined,
    tools: Array.isArray(body['tools']) && body['tools'].length === 0 ? 'empty' : undefined,
    tier: body['service_tier'] === 'default' ? 'default' : undefined,
  })
}

/** The remains of two fields whose inner fields are read separately; their presence is spelling. */
function withInner(body: JsonObject, node: Node): Node {
  const metadata = object(body['metadata'])
  const config = object(body['output_config'])
  if (metadata === undefined && config === undefined) return node
  const inner = {
    metadata: metadata && rest(FORMAT, metadata, USER),
    output_config: config && rest(FORMAT, config, takenOfConfig(config)),
  }
  const extras: { [field: string]: Json } = { ...node.extras?.[FORMAT] }
  const spelt: { [field: string]: Json } = { ...node.spelling?.[FORMAT] }
  for (const field of ['metadata', 'output_config'] as const) {
    const inside = inner[field]
    if (inside?.extras !== undefined) extras[field] = inside.extras[FORMAT]!
    if (inside !== undefined) spelt[field] = inside.spelling?.[FORMAT] ?? {}
  }
  return {
    ...(Object.keys(extras).length === 0 ? {} : { extras: { [FORMAT]: extras } }),
    spelling: { [FORMAT]: spelt },
  }
}

const USER = new Set(['user_id'])
