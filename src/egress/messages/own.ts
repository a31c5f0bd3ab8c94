import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent, ResultStart } from '../../canonical/event.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import { asRead, isObject, type JsonObject, originOf, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { Sequential } from '../../canonical/sequential.ts'
import type { WireEvent, WireRequest } from '../../canonical/wire.ts'
import { type ReadRequest, withFields } from '../own.ts'
import type { OwnEventWriter, WriteOptions } from '../writer.ts'
import { UNPROVED, writeBlock } from './content.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'
import { messagesDialect, writeHeaders } from './dialect.ts'
import type { MessageStream } from './events.ts'
import { unsampled } from './sampling.ts'
import { ownThinking } from './thinking.ts'

/** A request as it came, but for what the gateway changed, and what the upstream is declared not to take. */
export function writeOwnRequest(
  request: CanonicalRequest,
  { node, wire }: ReadRequest,
  options: WriteOptions,
): Written<WireRequest> {
  const { model, messages, stream, sampling, state } = request
  const dialect = messagesDialect(options.dialect)
  const losses = new Losses()
  const context: WriteContext = { dialect, native: true, losses, markers: [] }
  const fields: Block = {
    ...(model === node.model ? {} : { model }),
    ...(stream === node.stream ? {} : { stream }),
    ...(isUnchanged(messages, node.messages, context) ? {} : ownTurns(messages, context)),
    ...ownThinking(request, wire.body, context),
  }
  const gone = dialect.sampling === 'none' ? unsampled(sampling, losses) : []
  if (state?.thread !== undefined && dialect.threads !== true) {
    losses.drop(['state', 'thread'], 'no-threads')
    gone.push('thread')
  }
  const body = withFields(wire.body, fields, gone)
  return { wire: { ...wire, headers: writeHeaders(wire.headers, dialect), body }, losses: losses.list }
}

const isUnchanged = (messages: readonly Message[], read: readonly Message[], context: WriteContext): boolean =>
  messages.length === read.length && messages.every((message, at) => message === read[at] && isTaken(message, context))

/** Whether the upstream takes the message as it came: nothing of another, and no system turn where it has none. */
const isTaken = ({ role, content }: Message, { dialect }: WriteContext): boolean =>
  role === 'assistant'
    ? content.every(part => !hasUnproved(part) && (part.type !== 'reasoning' || asRead(part, FORMAT) !== undefined))
    : role !== 'system' || dialect.system_turns !== false

/**
 * Whether the gateway wrote the text, with citations without a proof (trap 82): upstreams refuse them. It writes no blank
 * one that has fields of its own.
 */
function hasUnproved(part: Part): boolean {
  if (part.type !== 'text' || part.annotations === undefined) return false
  if (part.text.trim() === '' && part.extras !== undefined) return false
  const citations = asRead<JsonObject>(part, FORMAT)?.['citations']
  return Array.isArray(citations) && citations.some(one => isObject(one) && one['encrypted_index'] === UNPROVED)
}

/** A turn of the body, which may be several messages; the first may be the system text, which has no role. */
interface Turn {
  readonly wire: JsonObject
  readonly messages: Message[]
  /** The place of the first message. */
  readonly at: number
}

/** The fields of a conversation some of which is written anew. */
function ownTurns(messages: readonly Message[], context: WriteContext): Block {
  const turns: Turn[] = []
  messages.forEach((message, at) => {
    const wire = originOf<JsonObject>(message, FORMAT)?.wire ?? {
      role: message.role === 'tool' ? 'user' : message.role,
    }
    const last = turns.at(-1)
    if (last?.wire === wire) last.messages.push(message)
    else turns.push({ wire, messages: [message], at })
  })
  const [first, ...others] = turns.flatMap(turn => ownTurn(turn, context))
  if (first === undefined) return { messages: [] }
  return first['role'] === undefined
    ? { system: first['content']!, messages: others }
    : { messages: [first, ...others] }
}

/** The turn with what the upstream takes of it; one of which nothing is left is none, as an empty one is refused. */
function ownTurn({ wire, messages, at }: Turn, context: WriteContext): readonly JsonObject[] {
  const role = wire['role']
  const became = role === 'system' && context.dialect.system_turns === false ? 'user' : role
  if (became !== role) context.losses.change(['messages', at, 'role'], became, 'no-system-turns')
  const head = became === role ? wire : { ...wire, role: became! }
  const whole = asRead<JsonObject>(messages[0]!, FORMAT)
  if (whole !== undefined && (role === undefined || typeof whole['content'] === 'string')) return [head]
  const blocks = messages.flatMap(({ content }, index) =>
    content.flatMap((part, place) => {
      const path: Path = ['messages', at + index, 'content', place]
      const own = hasUnproved(part) ? undefined : asRead<JsonObject>(part, FORMAT)
      return own ?? writeBlock(part, path, context) ?? []
    }),
  )
  const isEmptied = blocks.length === 0 && messages.some(({ content }) => content.length > 0)
  return isEmptied ? [] : [{ ...head, content: blocks }]
}

/**
 * Events of an upstream of this format pass as they came; what writes any other stream follows them, so that any later
 * event can be written anew.
 */
export class RelayedStream extends Sequential<WireEvent> implements OwnEventWriter {
  private readonly message: MessageStream
  /** The event with the stop reason, which is sent with the one that ends the answer. */
  private ending: WireEvent | undefined

  constructor(message: MessageStream) {
    super(message)
    this.message = message
  }

  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    const [first] = read
    if (first?.type !== 'part-delta') this.follow(read)
    if (first?.type === 'result-start') return [withHead(wire, first)]
    const { ending } = this
    this.ending = wire.event === 'message_delta' ? wire : undefined
    if (this.ending !== undefined) return ending === undefined ? [] : [ending]
    return ending === undefined ? [wire] : [ending, wire]
  }

  private follow(events: readonly CanonicalEvent[]): void {
    this.message.relaying = true
    for (const event of events) this.push(event)
    this.message.relaying = false
  }
}

/** The start under the id and model that the answer has for its caller. */
function withHead(wire: WireEvent, { id, model }: ResultStart): WireEvent {
  const start = parseObject(wire.data)!
  const message = start['message']
  if (!isObject(message) || (message['id'] === id && message['model'] === model)) return wire
  return { ...wire, data: JSON.stringify({ ...start, message: { ...message, id, model } }) }
}
