import { foreignLosses, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { rowOf } from '../../canonical/maps.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, State, Thread } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { isStrictVersion, type MessagesDialect, messagesDialect } from '../../formats/dialects/messages.ts'
import { SETTINGS } from '../../formats/settings/messages.ts'
import { reportCompletion } from '../completion.ts'
import { defined, extrasFor } from '../fields.ts'
import { nativeSourceOf, REWRITABLE, withFields } from '../native.ts'
import { strictSchema } from '../sanitize/closed-schema.ts'
import { withEnumInObject } from '../sanitize/enum.ts'
import { forcedInThinking } from '../sanitize/forced-tools.ts'
import { WORDS_ALONE, withJsonInWords } from '../sanitize/json-in-words.ts'
import { takenMedia, withMediaInWords } from '../sanitize/media-in-words.ts'
import { type SanitizeRule, sanitize } from '../sanitize/names.ts'
import { refusalOfShape } from '../sanitize/refused-shape.ts'
import { withinStrictLimits } from '../sanitize/strict-limits.ts'
import { TEXT_ONLY } from '../sanitize/unwritten.ts'
import { writeSettings } from '../settings.ts'
import { countable } from '../usage/input-usage.ts'
import type { WriteOptions } from '../writer.ts'
import { contentOf } from './content.ts'
import {
  addCacheMarkers,
  type Block,
  FORMAT,
  limitMarkers,
  orderMarkers,
  type Tools,
  type WriteContext,
  writeMarker,
} from './context.ts'
import { demandsThinking } from './demanded-thinking.ts'
import { writeUserId } from './end-user.ts'
import { NO_HEADERS, versionOf, writeHeaders } from './headers.ts'
import { writeTurns } from './messages.ts'
import { writeNativeRequest } from './native.ts'
import { passesNone, refusedPreviews } from './previews.ts'
import { writeLimit, writeSampling } from './sampling.ts'
import { type Thinking, writeThinking } from './thinking.ts'
import { forces, writeToolChoice, writeTools } from './tools.ts'

type PassesBeta = WriteContext['passesBeta']

/** The format's rules for tools and calls, to which tools and calls from other formats are adapted. */
const SANITIZE_RULE: SanitizeRule = { name: 128, id: 64, uniqueIds: true, freeform: false, namespaces: false }

/** Rules for Kimi: names begin with a letter. */
const KIMI_RULE: SanitizeRule = { ...SANITIZE_RULE, beginning: 'letter' }

/** Writes the canonical request as `POST /v1/messages` (docs/wire/messages.md#request). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = messagesDialect(options.dialect)
  return withMediaInWords(original, takenMedia(dialect, options), request => {
    const source = options.native ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
    if (source !== undefined) return writeNativeRequest(request, source, options)
    const { passesBeta = passesNone } = options
    const write = request.output.count === true ? writeCounting : writeForeign
    if (refusalOfShape(request.output.text, dialect) === undefined) return write(request, dialect, passesBeta)
    return withJsonInWords(request, WORDS_ALONE, worded => write(worded, dialect, passesBeta))
  })
}

/** Writes a token count request as `POST /v1/messages/count_tokens` (docs/wire/messages.md#token-counting). */
function writeCounting(
  request: CanonicalRequest,
  dialect: MessagesDialect,
  passesBeta: PassesBeta,
): Written<WireRequest> {
  const losses = new Losses()
  const { wire, ...written } = writeForeign(countable(request, losses, ['state']), dialect, passesBeta)
  const path = '/v1/messages/count_tokens'
  return { ...written, wire: { ...wire, path }, losses: [...losses.list, ...written.losses] }
}

/** Writes a request that was read from another format or cannot be passed on as received. */
function writeForeign(
  original: CanonicalRequest,
  dialect: MessagesDialect,
  passesBeta: PassesBeta,
): Written<WireRequest> {
  const { request: legal, losses, renamed } = sanitize(original, dialect.schemas === 'kimi' ? KIMI_RULE : SANITIZE_RULE)
  const free = dialect.forced_while_thinking === false ? forcedInThinking(legal, losses) : legal
  const request = dialect.strict_tools === false ? free : withinStrictLimits(free, losses)
  losses.report(foreignLosses(request, FORMAT))
  const stricter = isStrictVersion(versionOf(NO_HEADERS, dialect))
  const context: WriteContext = { dialect, isStrict: stricter, native: false, passesBeta, losses, markers: [] }
  const tools = writeTools(request, context)
  const thinking = writeThinking(request, forces(request, tools, context), context)
  const body: Block = {
    model: request.model,
    ...writeSettings(SETTINGS, request, losses),
    ...writeLimit(request, thinking.budget, context),
    ...(tools.wire.length > 0 ? { tools: tools.wire } : {}),
    ...writeConversation(request, tools, thinking, context),
    ...writeToolChoice(request, tools, context),
    ...writeSampling(request, thinking.on, context),
    ...writeOutput(request, thinking, context),
    ...writeService(request, context),
    ...acceptedExtras(request, context),
    ...(request.stream ? { stream: true } : {}),
  }
  limitMarkers(body, request.cache, context)
  orderMarkers(body, context)
  const headers = writeHeaders(NO_HEADERS, dialect)
  const wire = { path: '/v1/messages', query: {}, headers, body: body as JsonObject }
  return { wire, losses: losses.list, renamed }
}

function writeConversation(request: CanonicalRequest, tools: Tools, thinking: Thinking, context: WriteContext): Block {
  const demands = demandsThinking(context.dialect, thinking.thinking)
  const { system, messages } = writeTurns(request.messages, thinking.on, { ...context, demandsThinking: demands })
  const hasSharedPrefix = tools.wire.length > 0 || messages.length > 1
  const cache = addCacheMarkers(
    request,
    system.findLast(({ block }) => block['type'] === 'text') ?? tools.last,
    hasSharedPrefix,
    context,
  )
  const head = contentOf(system.map(({ block }) => block))
  return { ...(head.content === undefined ? {} : { system: head.content }), messages, ...cache }
}

/** Returns the format's extras, except for those of objects that are written field by field. */
function extrasOf(request: CanonicalRequest): JsonObject {
  if (request.extras?.[FORMAT] === undefined) return extrasFor(request, FORMAT)
  return Object.fromEntries(Object.entries(extrasFor(request, FORMAT)).filter(([key]) => !OBJECT_FIELDS.has(key)))
}

/** Returns the format's extras without the fields of previews that the upstream refuses. */
function acceptedExtras(request: CanonicalRequest, context: WriteContext): JsonObject {
  const extras = extrasOf(request)
  return withFields(extras, {}, refusedPreviews(extras, context))
}

const OBJECT_FIELDS: ReadonlySet<string> = new Set(['metadata', 'output_config'])

/** Returns an object that is written field by field, including the format's extras, or undefined if it is empty. */
function writeObject(request: CanonicalRequest, field: string, parts: object): JsonObject | undefined {
  const extras = request.extras?.[FORMAT]?.[field] as JsonObject | undefined
  const fields = defined(parts) as JsonObject
  return extras === undefined && Object.keys(fields).length === 0 ? undefined : { ...fields, ...extras }
}

/** Writes the answer's shape and the thinking settings. */
function writeOutput(request: CanonicalRequest, { thinking, effort }: Thinking, context: WriteContext): JsonObject {
  const { output } = request
  dropOutput(output, context)
  const format = output.text && writeShape(output.text, context)
  return defined({ thinking, output_config: writeObject(request, 'output_config', { effort, format }) }) as JsonObject
}

function writeShape(requestedShape: NonNullable<Output['text']>, context: WriteContext): JsonObject | undefined {
  const { dialect, losses } = context
  const path = ['output', 'text']
  const refusal = refusalOfShape(requestedShape, dialect)
  if (refusal !== undefined) return losses.drop(path, refusal)
  const text = withEnumInObject(requestedShape, losses)
  if (text.shape === 'text') losses.dropRestored(path, 'the-default')
  if (text.shape !== 'schema') return undefined
  losses.dropFields(text, path, {
    name: 'no-schema-name',
    description: 'no-schema-description',
    strict: 'always-strict',
  })
  const schema = strictSchema(text.schema)
  if (JSON.stringify(schema) !== JSON.stringify(text.schema))
    losses.change([...path, 'schema'], schema, 'schema-made-legal')
  return { type: 'json_schema', schema, ...extrasFor(text, FORMAT) }
}
const OUTPUT_LOSSES: Unwritten<
  Output,
  SettingName | 'modalities' | 'text' | 'ranking' | 'completion' | 'count' | 'compaction'
> = TEXT_ONLY

function dropOutput(output: Output, { losses }: WriteContext): void {
  reportCompletion(output, losses)
  const { modalities, candidates } = output
  if (modalities?.length === 1 && modalities[0] === 'text') losses.dropRestored(['output', 'modalities'], 'the-default')
  else if (modalities !== undefined) losses.drop(['output', 'modalities'], 'text-only')
  if (candidates === 1) losses.dropRestored(['output', 'candidates'], 'the-default')
  else if (candidates !== undefined) losses.drop(['output', 'candidates'], 'one-answer-only')
  losses.dropFields(output, ['output'], OUTPUT_LOSSES)
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  | SettingName
  | 'model'
  | 'messages'
  | 'tools'
  | 'toolChoice'
  | 'output'
  | 'sampling'
  | 'reasoning'
  | 'state'
  | 'cache'
  | 'stream'
> = {}

function writeService(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { losses } = context
  const state = writeState(request, context)
  losses.dropFields(request, [], REQUEST_LOSSES)
  const user_id = request.endUser === undefined ? undefined : writeUserId(request.endUser, context)
  return defined({
    ...state,
    metadata: writeObject(request, 'metadata', { user_id }),
    service_tier: writeTier(request, context),
    cache_control: request.cache && writeMarker(request.cache, [], context),
  }) as JsonObject
}
const STATE_LOSSES: Unwritten<State, 'store' | 'background' | 'thread'> = {
  previous: 'nothing-is-kept',
  conversation: 'nothing-is-kept',
}

/**
 * Writes the thread if the upstream supports threads. The upstream stores nothing else, so dropping `store: false` is
 * not a loss.
 */
function writeState({ state }: CanonicalRequest, { dialect, losses }: WriteContext): { thread?: JsonObject } {
  if (state === undefined) return {}
  for (const field of ['store', 'background'] as const)
    if (state[field] === false) losses.dropRestored(['state', field], 'nothing-is-kept')
    else if (state[field] === true) losses.drop(['state', field], 'nothing-is-kept')
  losses.dropFields(state, ['state'], STATE_LOSSES)
  if (state.thread === undefined) return {}
  if (dialect.threads === true) return { thread: writeThread(state.thread) }
  losses.drop(['state', 'thread'], 'no-threads')
  return {}
}

const writeThread = (thread: Thread): JsonObject => ({
  type: thread.previous === undefined ? 'create' : 'continue',
  ...defined({ previous_message_id: thread.previous }),
  ...extrasFor(thread, FORMAT),
})

/** Service tiers of requests, by canonical name. */
const SERVICE_TIERS: { readonly [tier: string]: string } = { auto: 'auto', default: 'standard_only', priority: 'auto' }

function writeTier(request: CanonicalRequest, { dialect, losses }: WriteContext): string | undefined {
  const tier = request.serviceTier
  if (tier === undefined) return undefined
  const value = dialect.service_tiers === false ? undefined : rowOf(SERVICE_TIERS, tier)
  if (value === undefined) losses.drop(['serviceTier'], 'no-such-tier')
  else if (tier === 'priority') losses.change(['serviceTier'], 'auto', 'nearest-tier')
  return value
}
