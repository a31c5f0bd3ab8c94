import { CallIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import {
  CONTINUE,
  CONTINUE_TURN,
  isInstructing,
  leadingInstructions,
  type Message,
  type Role,
  saysNothing,
} from '../../canonical/request.ts'
import { takeMoved } from '../moved-media.ts'
import { FORMAT, nativeExtras, type WriteContext } from './fields.ts'
import { PartsWriter } from './parts.ts'

/** The written conversation. */
export interface Turns {
  readonly systemInstruction?: Json
  readonly contents: readonly JsonObject[]
}

/** Writes all messages of a request in the turns that the upstream expects. */
export function writeTurns(messages: readonly Message[], context: WriteContext): Turns {
  const count = leadingInstructions(messages)
  const ids = new CallIds()
  const systemInstruction = writeSystem(messages.slice(0, count), context, ids)
  const writer = new ContentsWriter(context, ids)
  const before = context.losses.list.length
  const order = messages.some(({ role }) => role === 'tool') ? resultsInCallOrder(messages, count) : undefined
  if (order !== undefined) putInCallOrder(messages, order, count, writer, context)
  else
    for (let index = count; index < messages.length; index++) writer.addMessage(messages[index]!, ['messages', index])
  const turns = withUserTurns(writer.written(), { first: count, end: messages.length, before }, context)
  const isEmpty = turns.length === 0 && (systemInstruction !== undefined || saysNothing(messages))
  const contents = isEmpty ? openingContents(messages, context) : turns
  // Reported last, because insertions are at positions of the new order.
  if (order !== undefined) context.losses.reorder(['messages'], order, messages.length, 'results-first')
  reportPairs(ids, context)
  return systemInstruction === undefined ? { contents } : { systemInstruction, contents }
}

/**
 * Corrects the reported ids of tool results. Without ids, readers match results of unknown calls by order (trap 111).
 */
function reportPairs(ids: CallIds, { losses: { list } }: WriteContext): void {
  const paired = ids.pairedByOrder()
  if (paired === undefined) return
  for (const [index, loss] of list.entries()) {
    if (loss.kind !== 'changed' || loss.path.at(-1) !== 'id') continue
    list[index] = { ...loss, became: paired.get(loss.became as string) ?? loss.became }
  }
}

/** Writes the messages. Results directly follow their calls, in call order (trap 43). */
function putInCallOrder(
  messages: readonly Message[],
  order: readonly number[],
  leadCount: number,
  writer: ContentsWriter,
  context: WriteContext,
) {
  const numbers = new CallNumbers()
  for (let position = leadCount; position < order.length; position++) {
    const index = order[position]!
    const message = messages[index]!
    const path: Path = ['messages', index]
    if (message.role !== 'tool') writer.addMoved(position)
    numbers.add(message)
    writer.addMessage(message, path, inCallOrder(message, numbers, path, context.losses))
  }
  writer.addMoved(messages.length)
}

/** Written user turn that is added where upstreams require one. They refuse empty turns and empty contents, too. */
const OPENING_TURN: JsonObject = { role: 'user', parts: [{ text: CONTINUE }] }

function openingContents(messages: readonly Message[], { losses }: WriteContext): readonly JsonObject[] {
  losses.insert(['messages', messages.length], CONTINUE_TURN, 'the-user-speaks-first')
  return [OPENING_TURN]
}

/** Positions of the conversation among the messages, and the number of losses reported before it. */
interface Positions {
  readonly first: number
  readonly end: number
  readonly before: number
}

/**
 * Adds a turn of the user before a first turn with calls, which every model refuses there, and after a last turn of the
 * model that the upstream does not continue (docs/wire/contents.md#request).
 */
function withUserTurns(
  contents: readonly JsonObject[],
  { first, end, before }: Positions,
  { dialect, losses }: WriteContext,
): readonly JsonObject[] {
  const [opening] = contents
  const opens = opening !== undefined && isOfModel(opening) && hasCalls(opening)
  const ends = dialect.prefill === false && contents.length > 0 && isOfModel(contents.at(-1)!)
  if (!opens && !ends) return contents
  if (opens)
    losses.list.splice(before, 0, {
      kind: 'inserted',
      path: ['messages', first],
      value: CONTINUE_TURN,
      reason: 'the-user-speaks-first',
    })
  if (ends) losses.insert(['messages', end], CONTINUE_TURN, 'the-user-speaks-last')
  return [...(opens ? [OPENING_TURN] : []), ...contents, ...(ends ? [OPENING_TURN] : [])]
}

const isOfModel = ({ role }: JsonObject): boolean => role === 'model'

const hasCalls = ({ parts }: JsonObject): boolean =>
  (parts as readonly JsonObject[]).some(part => part['functionCall'] !== undefined)

/** Writes the system messages at the start as one instruction (trap 42). */
function writeSystem(messages: readonly Message[], context: WriteContext, ids: CallIds): Json | undefined {
  if (messages.length === 0) return undefined
  const parts = new PartsWriter(context, ids)
  messages.forEach((message, index) => {
    const path: Path = ['messages', index]
    if (message.role !== 'system') context.losses.change([...path, 'role'], 'system', 'no-developer-role')
    context.losses.dropFields(message, path, MESSAGE_LOSSES)
    if (messages.length > 1 && nativeExtras(message) !== undefined)
      context.losses.drop([...path, 'extras', FORMAT], 'one-instruction-only')
    parts.putAll(message, 'system', path)
  })
  parts.end()
  const extras = messages.length === 1 ? nativeExtras(messages[0]) : undefined
  if (parts.parts.length === 0 && extras === undefined) return undefined
  return { parts: parts.parts, ...extras }
}

export const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'no-speaker-names' }

type Turn = 'user' | 'model' | 'tool'

const TURN_BY_ROLE: { readonly [R in Role]: Turn } = {
  system: 'user',
  developer: 'user',
  user: 'user',
  assistant: 'model',
  tool: 'tool',
}

/** A `contents` entry that is still being written. */
interface OpenEntry {
  readonly turn: Turn
  readonly message: Message
  readonly parts: PartsWriter
}

/**
 * Joins adjacent messages of one role into one `contents` entry. The results of a turn's calls share a separate entry
 * (trap 43).
 */
class ContentsWriter {
  private readonly context: WriteContext
  private readonly ids: CallIds
  private readonly contents: OpenEntry[] = []

  constructor(context: WriteContext, ids: CallIds) {
    this.context = context
    this.ids = ids
  }

  addMessage(message: Message, path: Path, order?: readonly number[]): void {
    const { losses } = this.context
    const isSystem = isInstructing(message.role)
    if (isSystem) losses.change([...path, 'role'], 'user', 'system-stands-first')
    losses.dropFields(message, path, MESSAGE_LOSSES)
    this.enter(message).parts.putAll(message, isSystem ? 'user' : message.role, path, order)
  }

  /** Writes the media of the results so far as a user turn before the message at the index (trap 48). */
  addMoved(index: number): void {
    const { moved = [], losses } = this.context
    const turn = takeMoved(moved, index, losses)
    if (turn === undefined) return
    const { parts } = this.enter(turn.message)
    for (const [at, part] of turn.message.content.entries())
      parts.parts.push(part.type === 'text' ? { text: part.text } : turn.wires[at]!)
  }

  written(): readonly JsonObject[] {
    this.endLast()
    return this.contents.map(writeEntry)
  }

  private enter(message: Message): OpenEntry {
    const turn = TURN_BY_ROLE[message.role]
    const last = this.contents.at(-1)
    if (last !== undefined && continues(last, turn, message)) return last
    const lastRemaining = this.endLast()
    if (lastRemaining !== last && lastRemaining !== undefined && continues(lastRemaining, turn, message))
      return lastRemaining
    const open = { turn, message, parts: new PartsWriter(this.context, this.ids) }
    this.contents.push(open)
    return open
  }

  /**
   * Ends the last entry and returns the last one that remains. An entry without parts is removed, because it would
   * separate its neighbours.
   */
  private endLast(): OpenEntry | undefined {
    const last = this.contents.at(-1)
    last?.parts.end()
    if (last === undefined || last.parts.parts.length > 0 || nativeExtras(last.message) !== undefined) return last
    this.contents.pop()
    return this.contents.at(-1)
  }
}

/**
 * Returns true if the message can be joined to the entry: both belong to one turn, and neither has extras of the
 * format.
 */
const continues = (open: OpenEntry, turn: Turn, message: Message): boolean =>
  turn === open.turn && nativeExtras(open.message) === undefined && nativeExtras(message) === undefined

function writeEntry({ turn, message, parts: { parts } }: OpenEntry): JsonObject {
  const role = turn === 'model' ? 'model' : turn === 'tool' && parts.length === 0 ? 'function' : 'user'
  return { role, parts, ...nativeExtras(message) }
}

/**
 * Orders the messages so that the results of a turn's calls directly follow the turn, in the order of the calls (trap
 * 43). The first `leadCount` messages keep their index.
 */
function resultsInCallOrder(messages: readonly Message[], leadCount: number): readonly number[] {
  const numbers = new CallNumbers()
  const order: number[] = [...messages.keys()].slice(0, leadCount)
  let results: number[] = []
  let others: number[] = []
  const flush = (): void => {
    append(
      order,
      sortedByNumber(results, index => numbers.of(messages[index]!.content[0])),
    )
    append(order, others)
    results = []
    others = []
  }
  for (let index = leadCount; index < messages.length; index++) {
    const { role } = messages[index]!
    if (role === 'assistant') {
      flush()
      numbers.add(messages[index]!)
      order.push(index)
    } else (role === 'tool' ? results : others).push(index)
  }
  flush()
  return order
}

/** Sorts a message's results by their calls. Returns undefined if the message has fewer than two results. */
function inCallOrder({ role, content }: Message, numbers: CallNumbers, path: Path, losses: Losses) {
  if (role !== 'tool' || content.length < 2) return undefined
  const order = sortedByNumber([...content.keys()], index => numbers.of(content[index]))
  losses.reorder([...path, 'content'], order, content.length, 'in-order-of-calls')
  return order
}

/** Numbers of the calls so far, by id. */
class CallNumbers {
  private readonly numbers = new Map<string, number>()
  private next = 0

  /** Numbers the calls of a turn. A repeated id refers to the latest turn with it, and to its first call there. */
  add({ content }: Message): void {
    const first = this.next
    for (const part of content)
      if (part.type === 'tool-call' && (this.numbers.get(part.id) ?? -1) < first) this.numbers.set(part.id, this.next++)
  }

  /** Returns the number of the call that the result is for. */
  of(part: Part | undefined): number | undefined {
    return part?.type === 'tool-result' ? this.numbers.get(part.id) : undefined
  }
}

/** Sorts indexes by their numbers. An index without a number stays after its predecessor. */
function sortedByNumber(
  indices: readonly number[],
  numberFor: (index: number) => number | undefined,
): readonly number[] {
  let last = -1
  const ranked = indices.map(index => {
    last = numberFor(index) ?? last
    return { index, rank: last }
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ index }) => index)
}
