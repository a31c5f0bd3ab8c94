import { append } from '../../canonical/lists.ts'
import { childPath, Losses, type Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { missingResult } from '../../canonical/repair.ts'
import { CONTINUE_TURN, isInstructing, leadingInstructions, type Message } from '../../canonical/request.ts'
import { extrasFor } from '../fields.ts'
import { resultsFirst } from '../sanitize/results-first.ts'
import { contentOf, type LocatedBlock, writeBlocks } from './content.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'
import { insertedThinking, lacksThinking } from './demanded-thinking.ts'

/** A written conversation. Its system blocks are mutable, because they may still get a cache marker. */
interface WrittenConversation {
  readonly system: readonly LocatedBlock[]
  readonly messages: readonly Block[]
}

/**
 * Makes turns from another format valid (traps 42, 43). Leading system turns become the `system` field, adjacent turns
 * of one role are joined, and tool results come before other parts of a user turn. The first turn is a user turn, and
 * so is the last, unless the model continues the assistant's text.
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
  const turns = new Turns()
  const written = order.slice(leadCount).map((index): WrittenTurn => {
    const message = messages[index]!
    const turn = message.role === 'developer' ? 'system' : message.role
    const path: Path = ['messages', index]
    const losses = context.demandsThinking === true ? new Losses() : undefined
    const ownContext = losses === undefined ? context : { ...context, losses }
    return {
      message,
      path,
      located: writeBlocks(message.content, childPath(path, 'content'), turn, ownContext),
      losses,
    }
  })
  const roles = rolesOf(written, context)
  const insertsThinking = turnsWithoutThinking(written, roles, context)
  written.forEach(({ message, path, located, losses }, at) => {
    const role = roles[at]!
    // A placeholder is reported first: it has its place in the turn as it was written.
    const placeholder = insertsThinking.has(at) ? [placeholderIn(path, context)] : []
    if (losses !== undefined) context.losses.report(losses.list)
    reportRole(message, role, path, context)
    turns.add(role, [...placeholder, ...located], message, path, context)
  })
  if (turns.list[0]?.role !== 'user')
    turns.list.unshift(insertedTurn(leadCount, CONTINUE_TURN, 'the-user-speaks-first', context))
  const ending = endOf(turns, thinking, context)
  if (ending !== undefined) turns.list.push(insertedTurn(messages.length, ending.message, ending.reason, context))
  context.losses.reorder(['messages'], order, messages.length, 'results-first')
  return {
    system,
    messages: turns.list.map(({ role, blocks, extras }) => ({ role, ...contentOf(blocks), ...extras })),
  }
}

/** Creates a missing user turn and reports it as inserted. */
function insertedTurn(at: number, message: Message, reason: string, context: WriteContext): WireTurn {
  context.losses.insert(['messages', at], message, reason)
  const located = writeBlocks(message.content, [], message.role === 'tool' ? 'tool' : 'user', context)
  return { role: 'user', blocks: located.map(({ block }) => block), extras: {}, isClosed: false }
}

interface Ending {
  readonly message: Message
  readonly reason: string
}

/**
 * Returns the user turn to add after a final assistant turn: results if it has calls, because unanswered calls are
 * refused, otherwise a text that asks the model to continue. Returns undefined if the model continues the assistant's
 * text (prefill), which must not end in white space.
 */
function endOf({ list, end }: Turns, thinking: boolean, { dialect, losses }: WriteContext): Ending | undefined {
  const last = list.at(-1)
  if (last?.role !== 'assistant') return undefined
  const ids = last.blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id))
  if (ids.length > 0) return { message: unanswered(ids), reason: 'unanswered-call' }
  if (dialect.prefill === false || thinking) return { message: CONTINUE_TURN, reason: 'the-user-speaks-last' }
  const { block, path } = end!
  const text = block['type'] === 'text' ? (block['text'] as string) : ''
  if (text !== text.trimEnd()) {
    block['text'] = text.trimEnd()
    losses.change([...path, 'text'], block['text'], 'no-space-at-the-end')
  }
  return undefined
}

const unanswered = (ids: readonly string[]): Message => ({ role: 'tool', content: ids.map(id => missingResult(id)) })

function writeLeading(message: Message, path: Path, context: WriteContext): LocatedBlock[] {
  writeHead(message, path, context)
  if (message.role === 'developer') context.losses.change([...path, 'role'], 'system', 'no-developer-role')
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  return writeBlocks(message.content, childPath(path, 'content'), 'system', context)
}

function writeHead(message: Message, path: Path, { losses }: WriteContext): void {
  if (message.name !== undefined) losses.drop([...path, 'name'], 'no-speaker-names')
}

interface WireTurn {
  readonly role: string
  readonly blocks: Block[]
  readonly extras: JsonObject
  /** True if no other turn may be joined to this one, because its message has extras of the format. */
  readonly isClosed: boolean
}

/** Collects turns and joins adjacent turns of one role. */
class Turns {
  readonly list: WireTurn[] = []
  /** The last block written and its path. */
  end: LocatedBlock | undefined

  add(role: string, located: readonly LocatedBlock[], message: Message, path: Path, context: WriteContext): void {
    writeHead(message, path, context)
    const isClosed = message.extras?.[FORMAT] !== undefined
    if (located.length === 0) {
      if (isClosed) context.losses.drop(path, 'empty-turn')
      return
    }
    this.end = located.at(-1)
    const blocks = located.map(({ block }) => block)
    const last = this.list.at(-1)
    if (last?.role === role && !last.isClosed && !isClosed) append(last.blocks, blocks)
    else this.list.push({ role, blocks, extras: extrasFor(message, FORMAT), isClosed: isClosed })
  }
}

/** A turn with its blocks, but without a final role. */
interface WrittenTurn {
  readonly message: Message
  readonly path: Path
  readonly located: readonly LocatedBlock[]
  /** Losses of the blocks that are still to be reported, where a placeholder may come before them. */
  readonly losses: Losses | undefined
}

/** Returns the indexes of the turns before which thinking is inserted: the first of each run of turns that is joined. */
function turnsWithoutThinking(
  turns: readonly WrittenTurn[],
  roles: readonly string[],
  { demandsThinking }: WriteContext,
): ReadonlySet<number> {
  const found = new Set<number>()
  if (demandsThinking !== true) return found
  let run: number[] = []
  for (const at of [...turns.keys(), turns.length]) {
    const turn = turns[at]
    if (turn?.located.length === 0) continue
    const isAnswer = turn !== undefined && roles[at] === 'assistant'
    const isJoined = isAnswer && !hasExtras(turn) && !run.some(one => hasExtras(turns[one]!))
    if (run.length > 0 && !isJoined) {
      if (lacksThinking(run.flatMap(one => turns[one]!.located.map(({ block }) => block as JsonObject))))
        found.add(run[0]!)
      run = []
    }
    if (isAnswer) run.push(at)
  }
  return found
}

/** Returns the block for unknown thinking at the start of a turn. */
function placeholderIn(turn: Path, { losses }: WriteContext): LocatedBlock {
  const path = [...turn, 'content', 0]
  return { block: insertedThinking(path, losses), path }
}

const roleOf = ({ role }: Message, { dialect }: WriteContext): string => {
  if (role === 'tool') return 'user'
  if (!isInstructing(role)) return role
  return dialect.system_turns === false ? 'user' : 'system'
}

/**
 * Decides the role of each turn. A system turn after the start is only allowed directly after a user turn, and only if
 * an assistant turn or nothing follows. Anywhere else it becomes a user turn ("Mid-conversation system messages",
 * platform.claude.com, read on 2026-11-22; trap 42).
 */
function rolesOf(turns: readonly WrittenTurn[], context: WriteContext): readonly string[] {
  const roles = turns.map(({ message }) => roleOf(message, context))
  if (!roles.includes('system')) return roles
  let systemRun: number[] = []
  let previousRole: string | undefined
  const flush = (next: string | undefined): void => {
    const isJoinable = systemRun.length < 2 || !systemRun.some(at => hasExtras(turns[at]!))
    const isAllowed = isJoinable && previousRole === 'user' && (next === undefined || next === 'assistant')
    if (!isAllowed) for (const at of systemRun) roles[at] = 'user'
    systemRun = []
  }
  for (const [at, { located }] of turns.entries()) {
    if (located.length === 0) continue
    if (roles[at] === 'system') systemRun.push(at)
    else {
      flush(roles[at])
      previousRole = roles[at]
    }
  }
  flush(undefined)
  return roles
}

function reportRole({ role }: Message, newRole: string, path: Path, { losses }: WriteContext): void {
  if (!isInstructing(role) || newRole === role) return
  losses.change([...path, 'role'], newRole, newRole === 'user' ? 'no-system-turns' : 'no-developer-role')
}

/** Returns true if the turn has extras of the format. No other turn may then be joined to it. */
const hasExtras = ({ message }: WrittenTurn): boolean => message.extras?.[FORMAT] !== undefined
