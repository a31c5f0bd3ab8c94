import { CallIds } from '../../canonical/call-ids.ts'
import type { Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { kept, spelt } from '../fields.ts'
import { FORMAT, type WriteContext, withExtras } from './fields.ts'
import { inCallOrder, placesOfCalls, resultsInCallOrder } from './order.ts'
import { PartsWriter } from './parts.ts'

export interface Turns {
  readonly systemInstruction?: Json
  readonly contents: readonly JsonObject[]
}

/** All messages of a request: as they came, or in the turns that the upstream requires. */
export function writeTurns(messages: readonly Message[], context: WriteContext): Turns {
  const leading = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const count = leading === -1 ? messages.length : leading
  const ids = new CallIds()
  const systemInstruction = writeSystem(messages.slice(0, count), context, ids)
  const writer = new ContentsWriter(context, ids)
  const places = context.native ? new Map() : placesOfCalls(messages)
  const order = context.native ? [...messages.keys()] : resultsInCallOrder(messages, count, places)
  for (const index of order.slice(count)) {
    const path: Path = ['messages', index]
    const message = messages[index]!
    writer.put(message, context.native ? undefined : inCallOrder(message, places, path, context.losses), path)
  }
  if (order.some((from, to) => from !== to)) context.losses.move(['messages'], order, 'results-first')
  const contents = writer.written()
  if (systemInstruction !== undefined && count === messages.length && !context.native)
    return { systemInstruction, contents: opened(messages, context) }
  return systemInstruction === undefined ? { contents } : { systemInstruction, contents }
}

/** The user's message where there is none: empty contents are refused. */
const OPENING = 'Continue.'

function opened(messages: readonly Message[], { losses }: WriteContext): readonly JsonObject[] {
  const opening: Message = { role: 'user', content: [{ type: 'text', text: OPENING }] }
  losses.insert(['messages', messages.length], opening, 'the-user-speaks-first')
  return [{ role: 'user', parts: [{ text: OPENING }] }]
}

/** The messages before the conversation are one instruction (trap 42). */
function writeSystem(messages: readonly Message[], context: WriteContext, ids: CallIds): Json | undefined {
  const parts = new PartsWriter(context, ids)
  messages.forEach((message, index) => {
    const path: Path = ['messages', index]
    if (!context.native) {
      if (message.role !== 'system') context.losses.change([...path, 'role'], 'system', 'no-developer-role')
      reportHead(message, path, context)
      if (messages.length > 1 && message.extras?.[FORMAT] !== undefined)
        context.losses.drop([...path, 'extras', FORMAT], 'one-instruction-only')
    }
    parts.putAll(message, 'system', path)
  })
  parts.end()
  const [first] = messages
  if (first === undefined) return undefined
  if (context.native) {
    const [text] = parts.parts
    if (spelt(first, FORMAT)['as'] === 'string') return text?.['text'] ?? ''
    return writeContent(first, spelt(first, FORMAT)['role'], parts.parts)
  }
  const own = messages.length === 1 ? kept(first, FORMAT) : {}
  if (parts.parts.length === 0 && Object.keys(own).length === 0) return undefined
  return { parts: parts.parts, ...own }
}
const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'no-speaker-names' }

function reportHead(message: Message, path: Path, { losses }: WriteContext): void {
  losses.dropFields(message, path, MESSAGE_LOSSES)
}

type Turn = 'user' | 'model' | 'tool'

const TURNS: { readonly [R in Role]: Turn } = {
  system: 'user',
  developer: 'user',
  user: 'user',
  assistant: 'model',
  tool: 'tool',
}

/** A content that is being written. */
interface Open {
  readonly turn: Turn
  readonly message: Message
  readonly parts: PartsWriter
}

/** Neighbours of one role become one content; all results of one turn's calls are a separate content (trap 43). */
class ContentsWriter {
  private readonly context: WriteContext
  private readonly ids: CallIds
  private readonly contents: Open[] = []

  constructor(context: WriteContext, ids: CallIds) {
    this.context = context
    this.ids = ids
  }

  put(message: Message, order: readonly number[] | undefined, path: Path): void {
    const { context } = this
    const isSystem = message.role === 'system' || message.role === 'developer'
    if (!context.native) {
      if (isSystem) context.losses.change([...path, 'role'], 'user', 'system-stands-first')
      reportHead(message, path, context)
    }
    const { parts } = this.enter(message)
    const role: Role = isSystem ? 'user' : message.role
    parts.putAll(message, role, path, order)
  }

  written(): readonly JsonObject[] {
    this.leave()
    return this.contents.map(content => this.write(content))
  }

  private enter(message: Message): Open {
    const turn = TURNS[message.role]
    const last = this.contents.at(-1)
    if (last !== undefined && this.continues(last, turn, message)) return last
    const before = this.leave()
    if (before !== last && before !== undefined && this.continues(before, turn, message)) return before
    const open = { turn, message, parts: new PartsWriter(this.context, this.ids) }
    this.contents.push(open)
    return open
  }

  private continues(open: Open, turn: Turn, message: Message): boolean {
    if (this.context.native) return spelt(message, FORMAT)['joined'] === true
    return turn === open.turn && isBare(open.message) && isBare(message)
  }

  /** Ends the last content, and returns the one that is last then: a turn without parts separates nothing. */
  private leave(): Open | undefined {
    const last = this.contents.at(-1)
    last?.parts.end()
    if (last === undefined || this.context.native || last.parts.parts.length > 0 || hasExtras(last.message)) return last
    this.contents.pop()
    return this.contents.at(-1)
  }

  private write({ turn, message, parts }: Open): JsonObject {
    const role = turn === 'model' ? 'model' : 'user'
    if (this.context.native) return writeContent(message, spelt(message, FORMAT)['role'] ?? role, parts.parts)
    const as = turn === 'tool' && parts.parts.length === 0 ? 'function' : role
    return { role: as, parts: parts.parts, ...kept(message, FORMAT) }
  }
}

const hasExtras = (message: Message): boolean => Object.keys(kept(message, FORMAT)).length > 0

/** Whether the format has no extras on the message, so that it can be joined with its neighbour. */
const isBare = (message: Message): boolean => message.extras?.[FORMAT] === undefined

/** A content in the caller's spelling. */
function writeContent(message: Message, role: Json | undefined, parts: readonly JsonObject[]): JsonObject {
  const how = spelt(message, FORMAT)['parts']
  const written = how === 'single' ? parts[0] : how === 'absent' && parts.length === 0 ? undefined : parts
  return withExtras(message, { role: role === 'absent' ? undefined : role, parts: written })
}
