import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { asRead, type Origin, originOf } from '../../canonical/origin.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { WriteOptions } from '../writer.ts'
import { type Block, FORMAT, type WriteContext, writeBlock } from './content.ts'
import { messagesDialect } from './dialect.ts'
import { writeHeaders } from './headers.ts'
import { unsampled } from './sampling.ts'
import { ownThinking } from './thinking.ts'

type Read = Origin<CanonicalRequest, WireRequest>

/**
 * What a request was read from that is written as it came; undefined where it was read from another format, or more of
 * it was changed than is changed for callers of an upstream's own format.
 */
export function ownOrigin(request: CanonicalRequest): Read | undefined {
  const origin: Read | undefined = originOf(request, FORMAT)
  if (origin === undefined || origin.node === request) return origin
  const before = origin.node as unknown as { readonly [field: string]: unknown }
  const fields = Object.entries(request)
  const isOwn = fields.every(([field, value]) => value === before[field] || REWRITTEN.has(field))
  return isOwn && fields.length === Object.keys(before).length ? origin : undefined
}

const REWRITTEN: ReadonlySet<string> = new Set(['model', 'messages', 'stream'])

/** A request as it came, but for what the gateway changed, and what the upstream is declared not to take. */
export function writeOwnRequest(
  request: CanonicalRequest,
  { node, wire }: Read,
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

/** The body with these fields, and without those that are gone; the very same where that is all the same. */
function withFields(body: JsonObject, fields: Block, gone: readonly string[]): JsonObject {
  if (gone.length === 0 && Object.keys(fields).length === 0) return body
  const out: Block = { ...body, ...fields }
  for (const field of gone) delete out[field]
  return out
}

const isUnchanged = (messages: readonly Message[], read: readonly Message[], context: WriteContext): boolean =>
  messages.length === read.length && messages.every((message, at) => message === read[at] && isTaken(message, context))

/** Whether the upstream takes the message as it came: no thoughts of another, and no system turn where it has none. */
const isTaken = ({ role, content }: Message, { dialect }: WriteContext): boolean =>
  role === 'assistant'
    ? content.every(part => part.type !== 'reasoning' || asRead(part, FORMAT) !== undefined)
    : role !== 'system' || dialect.system_turns !== false

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
  const [first, ...others] = turns.map(turn => ownTurn(turn, context))
  if (first === undefined) return { messages: [] }
  return first['role'] === undefined
    ? { system: first['content']!, messages: others }
    : { messages: [first, ...others] }
}

function ownTurn({ wire, messages, at }: Turn, context: WriteContext): JsonObject {
  const role = wire['role']
  const became = role === 'system' && context.dialect.system_turns === false ? 'user' : role
  if (became !== role) context.losses.change(['messages', at, 'role'], became, 'no-system-turns')
  const head = became === role ? wire : { ...wire, role: became! }
  const whole = asRead<JsonObject>(messages[0]!, FORMAT)
  if (whole !== undefined && (role === undefined || typeof whole['content'] === 'string')) return head
  const blocks = messages.flatMap(({ content }, index) =>
    content.flatMap((part, place) => {
      const path: Path = ['messages', at + index, 'content', place]
      return asRead<JsonObject>(part, FORMAT) ?? writeBlock(part, path, context) ?? []
    }),
  )
  return { ...head, content: blocks }
}
