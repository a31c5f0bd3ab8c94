import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent, ResultStart } from '../../canonical/event.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import { isObject, type JsonObject, parseObject, unchangedWire, wireSourceOf } from '../../canonical/node.ts'
import { isRedundant } from '../../canonical/repair.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { Sequential } from '../../canonical/sequential.ts'
import type { WireEvent, WireRequest } from '../../canonical/wire.ts'
import { isStrictVersion, messagesDialect } from '../../formats/dialects/messages.ts'
import { type BodyChanges, type NativeRequest, withFields } from '../native.ts'
import { isSearch } from '../searches.ts'
import type { NativeEventWriter, WriteOptions } from '../writer.ts'
import { NO_INDEX, writeBlock } from './content.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'
import { demandsThinking, insertedThinking, lacksThinking } from './demanded-thinking.ts'
import { withLegalUserId } from './end-user.ts'
import type { MessageStream } from './events.ts'
import { withFreeTools } from './forced-tools.ts'
import { versionOf, writeHeaders } from './headers.ts'
import { withLegalTools } from './legal-tools.ts'
import { settingsForModel } from './other-model.ts'
import { acceptedTools, passesNone, refusedPreviews } from './previews.ts'
import { refusedSampling } from './sampling.ts'
import { isForeignSearch, refusedSearches } from './search.ts'
import { nativeThinking, withoutClearedThinking } from './thinking.ts'
import { acceptedPart, isRefused, type TurnKind } from './version.ts'

/**
 * Passes on a request of this format as received, except for the gateway's changes and the fields that the dialect
 * excludes.
 */
export function writeNativeRequest(
  request: CanonicalRequest,
  source: NativeRequest,
  options: WriteOptions,
): Written<WireRequest> {
  const { node, wire } = source
  const { model, messages, stream, sampling, state } = request
  const dialect = messagesDialect(options.dialect)
  const { passesBeta = passesNone } = options
  const losses = new Losses()
  const stricter = isStrictVersion(versionOf(wire.headers, dialect))
  const base: WriteContext = { dialect, isStrict: stricter, native: true, passesBeta, losses, markers: [] }
  const changedThinking = {
    ...nativeThinking(request, node, wire.body, base),
    ...withFreeTools(request, wire.body, base),
  }
  const thinking = 'thinking' in changedThinking ? changedThinking['thinking'] : wire.body['thinking']
  const context = { ...base, demandsThinking: demandsThinking(dialect, thinking) }
  const fields: Block = {
    ...(model === node.model ? {} : { model }),
    ...(stream === node.stream ? {} : { stream }),
    ...(isUnchanged(messages, node.messages, context) ? {} : nativeTurns(messages, context)),
    ...(dialect.system_turns === false ? nativeTools(request, wire.body) : {}),
  }
  const settings = nativeSettings(request, source, fields, changedThinking, options.otherModel, context)
  const refusedFields = [...refusedSampling(sampling, wire.body, context), ...refusedPreviews(wire.body, context)]
  if (state?.thread !== undefined && dialect.threads !== true) {
    losses.drop(['state', 'thread'], 'no-threads')
    refusedFields.push('thread')
  }
  if (wire.body['service_tier'] !== undefined && dialect.service_tiers === false) {
    if (request.serviceTier !== undefined) losses.drop(['serviceTier'], 'no-such-tier')
    refusedFields.push('service_tier')
  }
  const tools = acceptedTools(fields['tools'] ?? wire.body['tools'], request.tools ?? [], context)
  const legal = {
    ...withLegalTools(tools['tools'] ?? fields['tools'] ?? wire.body['tools'], context),
    ...withLegalUserId(request, wire.body, context),
  }
  const body = withFields(wire.body, { ...fields, ...settings, ...tools, ...legal }, refusedFields)
  return { wire: { ...wire, headers: writeHeaders(wire.headers, dialect), body }, losses: losses.list }
}

/** Returns the tools with those that system turns define, for an upstream without such turns. */
function nativeTools({ tools = [] }: CanonicalRequest, { tools: declared }: JsonObject): Block {
  const defined = tools.flatMap(tool => wireSourceOf<JsonObject>(tool, FORMAT)?.wire ?? [])
  return defined.length === 0 ? {} : { tools: [...(Array.isArray(declared) ? declared : []), ...defined] }
}

/**
 * Rewrites settings that the upstream does not accept. Returns the changed body fields.
 *
 * @param fields the body fields that changed for other reasons.
 * @param changed changes to the thinking settings that the turns require.
 */
function nativeSettings(
  request: CanonicalRequest,
  { wire: { body } }: NativeRequest,
  fields: Block,
  changed: BodyChanges,
  otherModel: boolean | undefined,
  context: WriteContext,
): BodyChanges {
  const settings = otherModel === true ? settingsForModel(request, { ...body, ...fields }, changed, context) : changed
  if (!('thinking' in settings)) return settings
  return { ...settings, ...withoutClearedThinking(body, settings['thinking'], context) }
}

const isUnchanged = (messages: readonly Message[], read: readonly Message[], context: WriteContext): boolean =>
  messages.length === read.length &&
  messages.every((message, at) => message === read[at] && isAccepted(message, context))

/**
 * Returns true if the message can be sent as received: it has no reasoning, searches or citations from other upstreams,
 * the dialect supports its role, and the upstream's version accepts all of its parts.
 */
const isAccepted = (message: Message, context: WriteContext): boolean =>
  isAcceptedTurn(message, context) &&
  !(context.demandsThinking === true && lacksReasoning(message)) &&
  !(context.isStrict && message.content.some(part => isRefused(part, turnOf(message), context)))

/** Returns true if a turn of the assistant has calls, but no reasoning. */
const lacksReasoning = ({ role, content }: Message): boolean =>
  role === 'assistant' &&
  content.some(({ type }) => type === 'tool-call') &&
  !content.some(part => part.type === 'reasoning' && part.text.trim() !== '')

const isAcceptedTurn = ({ role, content }: Message, { dialect }: WriteContext): boolean =>
  role === 'assistant'
    ? content.every(
        part =>
          !hasUnindexedCitations(part) &&
          !(isSearch(part) && isForeignSearch(part)) &&
          (part.type !== 'reasoning' || unchangedWire(part, FORMAT) !== undefined),
      )
    : role !== 'system' || dialect.system_turns !== false

const turnOf = ({ role }: Message): TurnKind => (role === 'developer' ? 'system' : role)

/**
 * Returns true if the text has citations that the gateway itself wrote with an empty `encrypted_index` (trap 82).
 * Upstreams refuse such citations.
 */
function hasUnindexedCitations(part: Part): boolean {
  if (part.type !== 'text' || part.annotations === undefined) return false
  // The gateway never writes a blank text part with extras, so the citations of such a part come from the upstream.
  if (part.text.trim() === '' && part.extras !== undefined) return false
  const citations = unchangedWire<JsonObject>(part, FORMAT)?.['citations']
  return Array.isArray(citations) && citations.some(one => isObject(one) && one['encrypted_index'] === NO_INDEX)
}

/**
 * A turn in the request body, which may have been read as several messages. The first turn may be the system text,
 * which has no role.
 */
interface Turn {
  readonly wire: JsonObject
  readonly messages: Message[]
  /** Index of the first message. */
  readonly at: number
}

/** Writes the fields of a conversation in which some turns are rewritten. */
function nativeTurns(messages: readonly Message[], context: WriteContext): Block {
  const turns: Turn[] = []
  messages.forEach((message, at) => {
    const wire = wireSourceOf<JsonObject>(message, FORMAT)?.wire ?? {
      role: message.role === 'tool' ? 'user' : message.role,
    }
    const last = turns.at(-1)
    if (last?.wire === wire) last.messages.push(message)
    else turns.push({ wire, messages: [message], at })
  })
  const [first, ...others] = turns.flatMap(turn => nativeTurn(turn, context))
  if (first === undefined) return { messages: [] }
  return first['role'] === undefined
    ? { system: first['content']!, messages: others }
    : { messages: [first, ...others] }
}

/**
 * Writes a turn without the parts that the upstream refuses. A turn is dropped if no parts remain, because upstreams
 * refuse empty turns.
 */
function nativeTurn({ wire, messages, at }: Turn, context: WriteContext): readonly JsonObject[] {
  const role = wire['role']
  const newRole = role === 'system' && context.dialect.system_turns === false ? 'user' : role
  if (newRole !== role) context.losses.change(['messages', at, 'role'], newRole, 'no-system-turns')
  const head = newRole === role ? wire : { ...wire, role: newRole! }
  const originalTurn = unchangedWire<JsonObject>(messages[0]!, FORMAT)
  if (originalTurn !== undefined && (role === undefined || typeof originalTurn['content'] === 'string')) return [head]
  const losses = new Losses()
  const ownContext = { ...context, losses }
  const blocks = messages.flatMap((message, index) => {
    const refused = refusedSearches(message.content)
    return message.content.flatMap((part, partIndex) => {
      const path: Path = ['messages', at + index, 'content', partIndex]
      return nativeBlock(part, turnOf(message), path, ownContext, refused) ?? []
    })
  })
  if (context.demandsThinking === true && role === 'assistant' && lacksThinking(blocks))
    blocks.unshift(insertedThinking(['messages', at, 'content', 0], context.losses) as JsonObject)
  context.losses.report(losses.list)
  const isEmptied = blocks.length === 0 && messages.some(({ content }) => content.length > 0)
  return isEmptied ? [] : [{ ...head, content: blocks }]
}

const TOOL_CHANGES: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal'])

/** Returns true for a block that adds or removes a tool, which only system turns have. */
const isToolChange = (part: Part): boolean => part.type === 'opaque' && TOOL_CHANGES.has(part.value['type'])

/** Writes a part as received, or without the fields that the upstream refuses. */
function nativeBlock(
  part: Part,
  turn: TurnKind,
  path: Path,
  context: WriteContext,
  refused: ReadonlySet<string>,
): JsonObject | undefined {
  if (turn === 'system' && context.dialect.system_turns === false && isToolChange(part))
    return isRedundant(part)
      ? context.losses.dropRestored(path, 'said-elsewhere')
      : context.losses.drop(path, 'no-system-turns')
  const original = unchangedWire<JsonObject>(part, FORMAT)
  const accepted = acceptedPart(part, turn, path, context)
  if (accepted === undefined) return undefined
  if (original === undefined) return writeBlock(accepted, path, context)
  if (accepted !== part) return withFields(original, {}, ['citations'])
  if (hasUnindexedCitations(part) || (isSearch(part) && refused.has(part.id))) return writeBlock(part, path, context)
  if (part.type !== 'tool-result' || !isRefused(part, turn, context)) return original
  const content = part.content.flatMap(
    (one, at) => nativeBlock(one, 'result', [...path, 'content', at], context, refused) ?? [],
  )
  return { ...original, content }
}

/**
 * Relays the events of an upstream of this format. Changes only the id and model. The message writer follows the
 * stream, so that it can take over and write later events.
 */
export class RelayedStream extends Sequential<WireEvent> implements NativeEventWriter {
  private readonly message: MessageStream
  /** The event with the stop reason, held until the event that ends the answer. */
  private heldStopEvent: WireEvent | undefined

  constructor(message: MessageStream) {
    super(message)
    this.message = message
  }

  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    const [first] = read
    if (first === undefined && wire.event === 'content_block_delta') this.message.relayedInput()
    if (first?.type !== 'part-delta') this.follow(read)
    if (first?.type === 'result-start') return [withHead(wire, first)]
    const { heldStopEvent } = this
    this.heldStopEvent = wire.event === 'message_delta' ? wire : undefined
    if (this.heldStopEvent !== undefined) return heldStopEvent === undefined ? [] : [heldStopEvent]
    return heldStopEvent === undefined ? [wire] : [heldStopEvent, wire]
  }

  private follow(events: readonly CanonicalEvent[]): void {
    this.message.isRelaying = true
    for (const event of events) this.push(event)
    this.message.isRelaying = false
  }
}

/** Returns the start event with the id and model that the caller sees. */
function withHead(wire: WireEvent, { id, model }: ResultStart): WireEvent {
  const start = parseObject(wire.data)!
  const message = start['message']
  if (!isObject(message) || (message['id'] === id && message['model'] === model)) return wire
  return { ...wire, data: JSON.stringify({ ...start, message: { ...message, id, model } }) }
}
