import type { Json, JsonObject } from '../../canonical/node.ts'
import { readFrom } from '../../canonical/origin.ts'
import type { CanonicalRequest, Sampling, Thread } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, flag, left, number, object, objects, required, text, texts, withDefined } from '../fields.ts'
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
  const messages = [...readSystem(body), ...required(objects(body['messages'])).flatMap(readTurn)]
  const output = defined({ text: readShape(body, refused), count: counting ? (true as const) : undefined })
  const sampling = readSampling(body, counting ? limit : required(limit))
  const stream = readStream(body, counting, refused)
  const { toolChoice, parallelToolCalls } = readToolChoice(body)
  const thread = counting ? undefined : readThread(object(body['thread']))
  if (thread === undefined) refused.push('thread')
  const request: CanonicalRequest = withDefined(
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
      extras: readExtras(body, refused),
    },
  )
  return readFrom(request, FORMAT, incoming)
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
  return { ...defined({ previous }), ...left(FORMAT, wire, THREAD, usual ? [] : ['type']) }
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

/** Fields without a canonical one; of two fields whose inner fields are read separately, what is left inside. */
function readExtras(body: JsonObject, refused: readonly string[]): CanonicalRequest['extras'] {
  const metadata = object(body['metadata'])
  const config = object(body['output_config'])
  const { extras } = left(FORMAT, body, TAKEN, refused)
  if (metadata === undefined && config === undefined) return extras
  const inner: { [field: string]: Json | undefined } = {
    metadata: metadata && left(FORMAT, metadata, USER).extras?.[FORMAT],
    output_config: config && left(FORMAT, config, takenOfConfig(config)).extras?.[FORMAT],
  }
  const own = { ...extras?.[FORMAT], ...defined(inner) } as JsonObject
  return Object.keys(own).length === 0 ? undefined : { [FORMAT]: own }
}

const USER = new Set(['user_id'])
