import { append } from '../../canonical/lists.ts'
import { childPath, type Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { missingResult } from '../../canonical/repair.ts'
import { CONTINUE_TURN, isInstructing, leadingInstructions, type Message } from '../../canonical/request.ts'
import type { ConverseDialect } from '../../formats/dialects/converse.ts'
import { extrasFor } from '../fields.ts'
import { takeMoved } from '../moved-media.ts'
import { ACKNOWLEDGING_TURN, resultsFirst, TOOL_ACKNOWLEDGEMENT } from '../sanitize/results-first.ts'
import { type LocatedBlock, type TurnKind, writeBlocks } from './content.ts'
import { type Block, FORMAT, isMarkable, type MarkableEnd, type WriteContext } from './context.ts'

/**
 * Text added to a document without text, because upstreams refuse a document on its own (docs/wire/converse.md#media).
 */
const DOCUMENT_TEXT = 'See the document.'

/** A written conversation. */
export interface WrittenConversation {
  readonly system: Block[]
  readonly messages: readonly Block[]
  /** The end of the system text, if a cache point may follow it. */
  readonly systemEnd: MarkableEnd | undefined
  /** The end of the conversation, if it is a user turn that a cache point may follow. */
  readonly end: MarkableEnd | undefined
}

/**
 * Makes turns from another format valid (docs/wire/converse.md#turns). Leading system turns become the `system` field,
 * later ones become user turns. Adjacent turns of one role are joined, and tool results come before other parts of a
 * user turn. The first turn is a user turn, and so is the last, unless the model continues the assistant's text.
 *
 * @param thinking whether the upstream will think.
 */
export function writeTurns(
  messages: readonly Message[],
  thinking: boolean,
  context: WriteContext,
): WrittenConversation {
  const leadCount = leadingInstructions(messages)
  const system = messages
    .slice(0, leadCount)
    .flatMap((message, index) => writeLeading(message, ['messages', index], context))
  const order = resultsFirst(messages, leadCount)
  const turns = new Turns(leadCount)
  order.forEach((index, position) => {
    if (position < leadCount) return
    const message = messages[index]!
    if (message.role !== 'tool') turns.addMoved(position, context)
    turns.add(message, ['messages', index], position, context)
  })
  turns.addMoved(messages.length, context)
  for (const turn of turns.list) addText(turn, context)
  if (turns.list.length === 0) turns.beginWithUser(context)
  const ending = endOf(turns, thinking, context)
  if (ending !== undefined) turns.list.push(insertedTurn(messages.length, ending.message, ending.reason, context))
  context.losses.reorder(['messages'], order, messages.length, 'results-first')
  const systemBlocks = system.map(({ block }) => block)
  return {
    system: systemBlocks,
    systemEnd: endOfBlocks(systemBlocks, system.at(-1)),
    end: ending === undefined ? endOfUser(turns) : undefined,
    messages: turns.list.map(({ role, blocks, extras }) => ({ role, content: blocks, ...extras })),
  }
}

const endOfUser = ({ list, end }: Turns): MarkableEnd | undefined =>
  list.at(-1)?.role === 'user' ? endOfBlocks(list.at(-1)!.blocks, end) : undefined

/**
 * Returns the end of a list of blocks, or undefined if the list ends with a different block, or if no cache point may
 * follow.
 */
const endOfBlocks = (blocks: Block[], last: LocatedBlock | undefined): MarkableEnd | undefined =>
  last !== undefined && blocks.at(-1) === last.block && isMarkable(last.block) ? { blocks, path: last.path } : undefined

/** Adds a text to a turn that has a document but no text. */
function addText({ blocks, document }: WireTurn, { losses }: WriteContext): void {
  if (document === undefined || blocks.some(({ text }) => text !== undefined)) return
  losses.insert(document.path, { type: 'text', text: DOCUMENT_TEXT }, 'documents-need-text')
  blocks.splice(document.at, 0, { text: DOCUMENT_TEXT })
}

function insertedTurn(at: number, message: Message, reason: string, context: WriteContext): WireTurn {
  context.losses.insert(['messages', at], message, reason)
  const locatedBlocks = writeBlocks(message.content, [], message.role === 'tool' ? 'tool' : 'user', context)
  return { role: 'user', blocks: locatedBlocks.map(({ block }) => block), extras: {}, isClosed: false }
}

interface Ending {
  readonly message: Message
  readonly reason: string
}

/**
 * Returns the user turn to add after a final assistant turn: results for its calls, or a text that asks the model to
 * continue. Returns undefined if the model continues the assistant's text (prefill), which must not end in white space.
 */
function endOf({ list, end }: Turns, thinking: boolean, { dialect, losses }: WriteContext): Ending | undefined {
  const last = list.at(-1)
  if (last?.role !== 'assistant') return undefined
  const calls = last.blocks.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse as JsonObject]))
  const ids = calls.filter(({ type }) => type === undefined).map(({ toolUseId }) => String(toolUseId))
  if (ids.length > 0)
    return { message: { role: 'tool', content: ids.map(id => missingResult(id)) }, reason: 'unanswered-call' }
  if (dialect.prefill === false || thinking) return { message: CONTINUE_TURN, reason: 'the-user-speaks-last' }
  const { block, path } = end!
  const text = typeof block['text'] === 'string' ? block['text'] : ''
  if (text !== text.trimEnd()) {
    block['text'] = text.trimEnd()
    losses.change([...path, 'text'], block['text'], 'no-space-at-the-end')
  }
  return undefined
}

function writeLeading(message: Message, path: Path, context: WriteContext): LocatedBlock[] {
  reportName(message, path, context)
  if (message.role === 'developer') context.losses.change([...path, 'role'], 'system', 'no-developer-role')
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  return writeBlocks(message.content, childPath(path, 'content'), 'system', context)
}

function reportName(message: Message, path: Path, { losses }: WriteContext): void {
  if (message.name !== undefined) losses.drop([...path, 'name'], 'no-speaker-names')
}

interface WireTurn {
  readonly role: string
  readonly blocks: Block[]
  readonly extras: JsonObject
  /** True if no turn may be joined to this one, because its message has extras of the format. */
  readonly isClosed: boolean
  /** Position after the last message with a document: its index among the blocks, and its path in the original. */
  document?: { readonly at: number; readonly path: Path }
}

const KIND_BY_ROLE: { readonly [R in Message['role']]: TurnKind } = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
}

const isResult = ({ toolResult }: Block): boolean => toolResult !== undefined

/** Returns true for a block that models refuse in a turn with results, by the flag `after_tools`. */
const REFUSED_AFTER_RESULTS: {
  readonly [F in NonNullable<ConverseDialect['after_tools']>]: (block: Block) => boolean
} = {
  anyone: () => false,
  no_files: ({ document, video }) => document !== undefined || video !== undefined,
  assistant: block => !isResult(block),
}

/** Collects turns and joins adjacent turns of one role, because upstreams require alternating roles. */
class Turns {
  readonly list: WireTurn[] = []
  /** The last block written and its path. */
  end: LocatedBlock | undefined

  private readonly first: number

  /** @param first index of the first message that may be a turn. */
  constructor(first: number) {
    this.first = first
  }

  /** Inserts the first turn of a conversation that the user does not begin. */
  beginWithUser(context: WriteContext): void {
    this.list.push(insertedTurn(this.first, CONTINUE_TURN, 'the-user-speaks-first', context))
  }

  /** @param position place of the message in the order of writing. */
  add(message: Message, path: Path, position: number, context: WriteContext): void {
    const { losses } = context
    const locatedBlocks = writeBlocks(message.content, childPath(path, 'content'), KIND_BY_ROLE[message.role], context)
    reportName(message, path, context)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    if (isInstructing(message.role)) losses.change([...path, 'role'], 'user', 'no-system-turns')
    const isClosed = message.extras?.[FORMAT] !== undefined
    if (locatedBlocks.length === 0) {
      if (isClosed) losses.drop(path, 'empty-turn')
      return
    }
    const blocks = locatedBlocks.map(({ block }) => block)
    if (role === 'user') this.answerTools(blocks, position, context)
    else if (this.list.length === 0) this.beginWithUser(context)
    this.end = locatedBlocks.at(-1)
    this.join({ role, blocks, extras: extrasFor(message, FORMAT), isClosed })
    const turn = this.list.at(-1)!
    if (role === 'user' && blocks.some(({ document }) => document !== undefined))
      turn.document = { at: turn.blocks.length, path: [...path, 'content', message.content.length] }
  }

  /** Adds the media of results that models take in turns of the user only (trap 48). */
  addMoved(position: number, context: WriteContext): void {
    const { moved = [], losses } = context
    if (moved.length === 0) return
    this.answerTools(
      moved.map(({ wire }) => wire),
      position,
      context,
    )
    const { wires } = takeMoved(moved, position, losses)!
    const blocks = wires.map(({ type: _, ...block }): Block => block)
    this.join({ role: 'user', blocks, extras: {}, isClosed: false })
  }

  /** Adds a turn, or joins it to the last one if both have the same role. */
  private join(turn: WireTurn): void {
    const last = this.list.at(-1)
    if (last?.role === turn.role && !last.isClosed && !turn.isClosed) append(last.blocks, turn.blocks)
    else this.list.push(turn)
  }

  /** Inserts an assistant turn after tool results, for models that take no other blocks beside them. */
  private answerTools(next: readonly Block[], position: number, { dialect, losses }: WriteContext): void {
    const isAfterResult = this.list.at(-1)?.blocks.some(isResult) === true
    if (!isAfterResult || !next.some(REFUSED_AFTER_RESULTS[dialect.after_tools ?? 'anyone'])) return
    losses.insert(['messages', position], ACKNOWLEDGING_TURN, 'no-user-after-tools')
    this.list.push({ role: 'assistant', blocks: [{ text: TOOL_ACKNOWLEDGEMENT }], extras: {}, isClosed: false })
  }
}
