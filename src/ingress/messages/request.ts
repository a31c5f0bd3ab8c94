import { type Json, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Output, Sampling, Thread } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { SETTINGS } from '../../formats/settings/messages.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { defined, extrasOf, flag, number, object, objects, required, text, texts, withDefined } from '../fields.ts'
import { type Locate, locateTurns } from '../locate.ts'
import { readSettings } from '../settings.ts'
import { readCache, readSystem, readTurn } from './content.ts'
import { readReasoning, readShape, takenOfConfig } from './thinking.ts'
import { readToolChoice, readTools } from './tools.ts'
import { FIELDS, FORMAT, isTokenCount, requestAt } from './wire.ts'

/**
 * Reads the body of `POST /v1/messages` or `/v1/messages/count_tokens` (docs/wire/messages.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(requestAt(incoming), incoming.body, () => readBody(incoming, isTokenCount(incoming.path)))

function readBody(incoming: WireRequest, counting: boolean): CanonicalRequest {
  const { body } = incoming
  const unreadFields: string[] = []
  const settings = readSettings(SETTINGS, body)
  const limit = number(body['max_tokens'])
  const reasoning = readReasoning(body, unreadFields)
  const model = required(text(body['model']))
  const messages = [...readSystem(body), ...required(objects(body['messages'])).flatMap(readTurn)]
  const output: Output = withDefined(settings.output, {
    text: readShape(body, unreadFields),
    count: counting ? (true as const) : undefined,
  })
  const sampling: Sampling = withDefined(settings.sampling, {
    maxTokens: counting ? limit : required(limit),
    stop: texts(body['stop_sequences']),
  })
  const stream = readStream(body, counting, unreadFields)
  const { toolChoice, parallelToolCalls } = readToolChoice(body)
  const thread = counting ? undefined : readThread(object(body['thread']))
  if (thread === undefined) unreadFields.push('thread')
  const request: CanonicalRequest = withDefined(
    { model, messages, output, sampling, stream },
    {
      tools: readTools(body),
      toolChoice,
      parallelToolCalls,
      reasoning,
      ...settings.request,
      endUser: text(object(body['metadata'])?.['user_id']),
      state: thread && { thread },
      serviceTier: readTier(text(body['service_tier'])),
      cache: readCache(body),
      extras: readExtras(body, unreadFields),
    },
  )
  return withWireSource(request, FORMAT, incoming)
}

const THREAD = new Set(['type', 'previous_message_id'])

/** Reads the thread that the request creates or continues. */
function readThread(wire: JsonObject | undefined): Thread | undefined {
  if (wire === undefined) return undefined
  const previous = text(wire['previous_message_id'])
  const usual = wire['type'] === (previous === undefined ? 'create' : 'continue')
  return { ...defined({ previous }), ...extrasOf(FORMAT, wire, THREAD, usual ? [] : ['type']) }
}

/** Reads whether to stream the answer. Token counts are never streamed. */
function readStream(body: JsonObject, counting: boolean, unreadFields: string[]): boolean {
  const stream = flag(body['stream']) ?? false
  if (counting && stream) unreadFields.push('stream')
  return stream && !counting
}

/** Reads the service tier. `standard_only` corresponds to the default tier of other formats. */
const readTier = (tier: string | undefined): string | undefined => (tier === 'standard_only' ? 'default' : tier)

/**
 * Collects fields that the canonical model lacks, including the unread fields inside `metadata` and `output_config`.
 */
function readExtras(body: JsonObject, unreadFields: readonly string[]): CanonicalRequest['extras'] {
  const metadata = object(body['metadata'])
  const config = object(body['output_config'])
  const { extras } = extrasOf(FORMAT, body, FIELDS, unreadFields)
  if (metadata === undefined && config === undefined) return extras
  const inner: { [field: string]: Json | undefined } = {
    metadata: metadata && extrasOf(FORMAT, metadata, USER).extras?.[FORMAT],
    output_config: config && extrasOf(FORMAT, config, takenOfConfig(config)).extras?.[FORMAT],
  }
  const merged = { ...extras?.[FORMAT], ...defined(inner) } as JsonObject
  return Object.keys(merged).length === 0 ? undefined : { [FORMAT]: merged }
}

const USER = new Set(['user_id'])

const SYSTEM = 'system'

/** Returns the turn that a message was read from. For the system message, returns an object without a role. */
const wireOf = (message: Message): JsonObject | undefined => wireSourceOf<JsonObject>(message, FORMAT)?.wire

const isSystem = (wire: JsonObject | undefined): boolean => wire !== undefined && wire['role'] === undefined

/** Locates messages and parts in the body. System instructions are in `system`; tool results are in user turns. */
export function locate({ messages }: CanonicalRequest): Locate {
  const found = locateTurns(messages, {
    format: FORMAT,
    turns: 'messages',
    parts: 'content',
    preamble: message => (isSystem(wireOf(message)) ? [[SYSTEM], [SYSTEM]] : undefined),
    isSingleValue: message => typeof wireOf(message)?.['content'] === 'string',
    hasPath: () => true,
  })
  const notes = messages[0]?.spelling?.[FORMAT]?.['billing'] as readonly number[] | undefined
  if (notes === undefined) return found
  const freeIndexes = indexesWithout(notes)
  return path => {
    const target = found(path)
    const [field, index, ...rest] = target
    if (field !== SYSTEM || typeof index !== 'number') return target
    return [field, freeIndexes[index] ?? index + notes.length, ...rest]
  }
}

/**
 * Returns the indexes of text blocks in `system` that are not billing notes, up to the last note. Notes are not part of
 * the message.
 */
function indexesWithout(notes: readonly number[]): readonly number[] {
  const noteIndexes = new Set(notes)
  const indexes: number[] = []
  for (let at = 0; at < (notes.at(-1) ?? 0); at++) if (!noteIndexes.has(at)) indexes.push(at)
  return indexes
}

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS),
  'sampling/maxTokens': ['max_tokens'],
  'sampling/stop': ['stop_sequences'],
  'output/text': ['output_config/format', 'output_format'],
  reasoning: ['thinking', 'output_config/effort'],
  'reasoning/effort': ['output_config/effort', 'thinking/type'],
  'reasoning/budget': ['thinking/budget_tokens', 'thinking/type'],
  'reasoning/show': ['thinking/display', 'thinking/type'],
  tools: ['tools'],
  toolChoice: ['tool_choice'],
  'toolChoice/extras/tool_choice': ['tool_choice'],
  'toolChoice/hosted': ['tool_choice/name'],
  'toolChoice/only': ['tool_choice/name', 'tool_choice'],
  parallelToolCalls: ['tool_choice/disable_parallel_tool_use'],
  endUser: ['metadata/user_id'],
  serviceTier: ['service_tier'],
  cache: ['cache_control'],
  'state/thread': ['thread'],
  stream: ['stream'],
}
