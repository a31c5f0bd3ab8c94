import type { Part, ToolResultPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { Losses, type Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { CONTINUE, CONTINUE_TURN, isInstructing, type Message, saysNothing } from '../../canonical/request.ts'
import { lengthOfRun } from '../assistant-run.ts'
import { defined, extrasFor } from '../fields.ts'
import { type MovedPart, takeMoved, withoutMedia } from '../moved-media.ts'
import { ACKNOWLEDGING_TURN, resultsFirst, TOOL_ACKNOWLEDGEMENT } from '../sanitize/results-first.ts'
import { sha256 } from '../sanitize/sha256.ts'
import { SYSTEM_PARTS, USER_PARTS, withFailure, withMarker, writeAllowed } from '../turns.ts'
import { writeAssistant } from './assistant.ts'
import { writeAssistantRun } from './assistant-run.ts'
import { contentOf, FORMAT, type WriteContext, writePart } from './content.ts'
import { withDemandedReasoning } from './demanded-reasoning.ts'
import { joinedInstructions, writeInstructions } from './instructions.ts'
import { withJoinedTurns } from './joined-turns.ts'

/**
 * Writes all messages of a request. Tool results directly follow their calls. Parts that a tool message cannot hold are
 * put into a user message after the last result.
 */
export function writeMessages(messages: readonly Message[], context: WriteContext): JsonObject[] {
  const wire: JsonObject[] = []
  const movedParts: MovedPart[] = []
  const leadCount = joinedInstructions(messages, context)
  if (leadCount > 0) append(wire, [writeInstructions(messages, leadCount, context)].filter(hasContent))
  const order = resultsFirst(messages, leadCount)
  for (let position = leadCount; position < order.length; position++) {
    const index = order[position]!
    const message = messages[index]!
    const path: Path = ['messages', index]
    if (message.role === 'tool') {
      append(wire, writeResults(message, path, context, movedParts))
      continue
    }
    flush(movedParts, position, wire, context)
    const run = lengthOfRun(messages, order, position, FORMAT)
    position += run - 1
    const writtenMessages =
      message.role === 'assistant'
        ? writeTurns(messages, order.slice(position - run + 1, position + 1), context)
        : writeMessage(message, path, context, wire.at(-1))
    if (!hasContent(writtenMessages)) continue
    if (message.role !== 'assistant') answerTools(position, wire, context)
    wire.push(writtenMessages)
  }
  flush(movedParts, messages.length, wire, context)
  if (wire.length === 0 && saysNothing(messages)) openConversation(messages, wire, context)
  context.losses.reorder(['messages'], order, messages.length, 'results-first')
  return context.dialect.joined_turns === true ? withJoinedTurns(wire) : wire
}

/** Adds a turn of the user if all turns are empty, because OpenAI refuses a request without messages. */
function openConversation(messages: readonly Message[], wire: JsonObject[], { losses }: WriteContext): void {
  losses.insert(['messages', messages.length], CONTINUE_TURN, 'the-user-speaks-first')
  wire.push({ role: 'user', content: CONTINUE })
}

/** Writes the assistant turns at the indexes in `run` as one message. */
function writeTurns(messages: readonly Message[], run: readonly number[], context: WriteContext): JsonObject {
  const [first] = run
  const write = (one: WriteContext): JsonObject =>
    run.length === 1
      ? writeAssistant(messages[first!]!, ['messages', first!], one)
      : writeAssistantRun(messages, run, one)
  if (context.reasoningFrom === undefined) return write(context)
  // The placeholder is reported first: it has its place in the turn as it was written.
  const losses = new Losses()
  const written = write({ ...context, losses })
  const wire = hasContent(written) ? withDemandedReasoning(written, messages, run, context) : written
  context.losses.report(losses.list)
  return wire
}

/** Inserts an assistant message after tool messages, for upstreams that refuse any other role there. */
export function answerTools(index: number, wire: JsonObject[], { dialect, losses }: WriteContext): void {
  if (dialect.after_tools !== 'assistant' || wire.at(-1)?.['role'] !== 'tool') return
  losses.insert(['messages', index], ACKNOWLEDGING_TURN, 'no-user-after-tools')
  wire.push({ role: 'assistant', content: TOOL_ACKNOWLEDGEMENT })
}

/** Returns true if a message has content. Messages without content are omitted, because some upstreams refuse them. */
function hasContent(wire: JsonObject): boolean {
  const { content } = wire
  if (content !== '' && content !== null) return true
  return Object.keys(wire).some(field => !NOT_CONTENT.has(field))
}

/** Fields that a message without content may still have. */
const NOT_CONTENT: ReadonlySet<string> = new Set(['role', 'name', 'content'])

/** Writes the media of tool results as a user message after the last result (trap 48). */
function flush(moved: MovedPart[], index: number, wire: JsonObject[], context: WriteContext): void {
  if (moved.length > 0) answerTools(index, wire, context)
  const turn = takeMoved(moved, index, context.losses)
  if (turn !== undefined) wire.push({ role: 'user', content: turn.wires })
}

function writeMessage(message: Message, path: Path, context: WriteContext, before: JsonObject | undefined): JsonObject {
  const allowed = message.role === 'user' ? USER_PARTS : SYSTEM_PARTS
  const role = writeRole(message, path, context, before)
  const content = writeContent(message.content, [...path, 'content'], context, allowed)
  if (role === 'user' && context.dialect.joined_turns === true) {
    reportJoined(message, path, context)
    return { role, content }
  }
  return { role, content, ...defined({ name: message.name }), ...extrasFor(message, FORMAT) }
}

/** Reports the fields of a turn that the joined turn cannot have (joined-turns.ts). Templates read neither. */
function reportJoined({ name, extras }: Message, path: Path, { losses }: WriteContext): void {
  if (name !== undefined) losses.drop([...path, 'name'], 'no-speaker-names')
  if (extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
}

/** @param before the message that was written before this one. */
function writeRole(
  { role }: Message,
  path: Path,
  { dialect, losses }: WriteContext,
  before: JsonObject | undefined,
): string {
  const isLate = dialect.after_tools === 'assistant' && isOfModel(before)
  if (isInstructing(role) && (isLate || (dialect.system_turns === false && path[1] !== 0))) {
    losses.change([...path, 'role'], 'user', 'no-system-turns')
    return 'user'
  }
  if (role !== 'developer' || dialect.developer_role !== false) return role
  losses.change([...path, 'role'], 'system', 'no-developer-role')
  return 'system'
}

/** Returns true for a message behind which upstreams with `after_tools: assistant` refuse a system message. */
export const isOfModel = (message: JsonObject | undefined): boolean =>
  message?.['role'] === 'assistant' || message?.['role'] === 'tool'

/** Writes the `content` field. A single plain text part becomes a string. */
const writeContent = (
  content: readonly Part[],
  path: Path,
  context: WriteContext,
  allowed: ReadonlySet<Part['type']>,
): Json =>
  contentOf(
    writeAllowed(content, allowed, path, context.losses, (part, at) => writePart(part, at, context)),
    context.dialect,
  )

/** Writes each tool result as a separate message. */
function writeResults(message: Message, path: Path, context: WriteContext, moved: MovedPart[]): JsonObject[] {
  const wire: JsonObject[] = []
  if (message.name !== undefined) context.losses.drop([...path, 'name'], 'tool-turns-have-no-name')
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  message.content.forEach((part, index) => {
    const at = [...path, 'content', index]
    if (part.type === 'tool-result') wire.push(writeResult(part, at, context, moved))
    else context.losses.drop(at, 'not-in-this-turn')
  })
  return wire
}

function writeResult(result: ToolResultPart, path: Path, context: WriteContext, moved: MovedPart[]): JsonObject {
  if (result.freeform !== undefined) context.losses.dropRestored([...path, 'freeform'], 'implied-by-the-call')
  const { dialect, losses } = context
  const markedResult = withMarker(result, (dialect.cache ?? 'none') !== 'none', path, losses)
  const withFailureText = withFailure(markedResult, path, losses)
  const write = (part: Part, partLosses: Losses) => writePart(part, [], { ...context, losses: partLosses })
  const content = writeContent(
    withoutMedia({ ...result, content: withFailureText }, path, { format: FORMAT, losses, moved, write }),
    [...path, 'content'],
    context,
    SYSTEM_PARTS,
  )
  return { role: 'tool', tool_call_id: result.id, content, ...extrasFor(result, FORMAT) }
}

/** Matches the call ids that upstreams with `call_ids: short` accept. */
const SHORT_ID = /^[a-zA-Z0-9]{9}$/

const shortId = (id: string): string => (SHORT_ID.test(id) ? id : sha256(id).slice(0, 9))

/** Replaces call ids with ids of nine letters and digits, for upstreams that accept no others. */
export function withLegalIds(messages: readonly Message[], { dialect, losses }: WriteContext): readonly Message[] {
  if (dialect.call_ids !== 'short') return messages
  return messages.map((message, messageIndex) => {
    const content = message.content.map((part, index): Part => {
      const id = part.type === 'tool-call' || part.type === 'tool-result' ? shortId(part.id) : undefined
      if (id === undefined || id === (part as ToolResultPart).id) return part
      losses.changeRestored(['messages', messageIndex, 'content', index, 'id'], id, 'id-made-short')
      return { ...part, id } as Part
    })
    return content.some((part, index) => part !== message.content[index]) ? { ...message, content } : message
  })
}
