import { createHash } from 'node:crypto'
import type { Part, ToolResultPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { foreignLosses, Losses, lose, type Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { defined, kept } from '../fields.ts'
import { resultsFirst } from '../sanitize/results-first.ts'
import { FOR_SYSTEMS, FOR_USERS, withFailure, withMarker, writeAllowed } from '../turns.ts'
import { writeAssistant } from './assistant.ts'
import { lengthOfRun, writeAssistantRun } from './assistant-run.ts'
import { contentOf, FORMAT, type WriteContext, writePart } from './content.ts'

/**
 * Writes all messages of a request, with tool results right after their calls. Parts that a tool message cannot hold go
 * into a user message after the run of tool messages.
 */
export function writeMessages(messages: readonly Message[], context: WriteContext): JsonObject[] {
  const wire: JsonObject[] = []
  let waiting: Waiting[] = []
  const order = resultsFirst(messages, 0)
  for (let place = 0; place < order.length; place++) {
    const index = order[place]!
    const message = messages[index]!
    const path: Path = ['messages', index]
    if (message.role === 'tool') {
      append(wire, writeResults(message, path, context, waiting))
      continue
    }
    waiting = flush(waiting, place, wire, context)
    const run = lengthOfRun(messages, order, place)
    place += run - 1
    const written =
      message.role !== 'assistant'
        ? writeMessage(message, path, context)
        : run === 1
          ? writeAssistant(message, path, context)
          : writeAssistantRun(messages, order.slice(place - run + 1, place + 1), context)
    if (!hasContent(written)) continue
    if (message.role !== 'assistant') answerTools(place, wire, context)
    wire.push(written)
  }
  flush(waiting, messages.length, wire, context)
  context.losses.reorder(['messages'], order, messages.length, 'results-first')
  return wire
}

/** The text of the assistant message that is inserted after tool messages. */
const ANSWER = 'Done.'

/** Inserts an assistant message after tool messages, for upstreams that refuse any other role there. */
export function answerTools(index: number, wire: JsonObject[], { dialect, losses }: WriteContext): void {
  if (dialect.after_tools !== 'assistant' || wire.at(-1)?.['role'] !== 'tool') return
  const answer: Message = { role: 'assistant', content: [{ type: 'text', text: ANSWER }] }
  losses.insert(['messages', index], answer, 'no-user-after-tools')
  wire.push({ role: 'assistant', content: ANSWER })
}

/** Whether a message has content. Messages without content are not sent, because some upstreams refuse them. */
function hasContent(wire: JsonObject): boolean {
  const { content } = wire
  if (content !== '' && content !== null) return true
  return Object.keys(wire).some(field => !ABOUT_IT.has(field))
}

/** Fields that a message without content may have. */
const ABOUT_IT: ReadonlySet<string> = new Set(['role', 'name', 'content'])

/** A part that was moved out of a tool message, with its wire form. */
interface Waiting {
  readonly part: Part
  readonly wire: JsonObject
}

/** Writes the media of tool results as a user message after the whole run of results (trap 48). */
function flush(waiting: Waiting[], index: number, wire: JsonObject[], context: WriteContext): Waiting[] {
  if (waiting.length === 0) return waiting
  answerTools(index, wire, context)
  const content = waiting.map(({ part }) => part)
  context.losses.insert(['messages', index], { role: 'user', content }, 'moved-to-user-turn')
  wire.push({ role: 'user', content: waiting.map(({ wire }) => wire) })
  return []
}

function writeMessage(message: Message, path: Path, context: WriteContext): JsonObject {
  const allowed = message.role === 'user' ? FOR_USERS : FOR_SYSTEMS
  return {
    role: writeRole(message, path, context),
    content: writeContent(message.content, [...path, 'content'], context, allowed),
    ...defined({ name: message.name }),
    ...kept(message, FORMAT),
  }
}

function writeRole({ role }: Message, path: Path, { dialect, losses }: WriteContext): string {
  if (role !== 'developer' || dialect.developer_role !== false) return role
  losses.change([...path, 'role'], 'system', 'no-developer-role')
  return 'system'
}

/** Writes the `content` field; a single plain text becomes a string. */
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

/** Writes each tool result as a message of its own. */
function writeResults(message: Message, path: Path, context: WriteContext, waiting: Waiting[]): JsonObject[] {
  const wire: JsonObject[] = []
  if (message.name !== undefined) context.losses.drop([...path, 'name'], 'no-name-of-tool-turns')
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
  message.content.forEach((part, index) => {
    const at = [...path, 'content', index]
    if (part.type === 'tool-result') wire.push(writeResult(part, at, context, waiting))
    else context.losses.drop(at, 'not-in-this-turn')
  })
  return wire
}

function writeResult(result: ToolResultPart, path: Path, context: WriteContext, waiting: Waiting[]): JsonObject {
  if (result.freeform !== undefined) context.losses.hide([...path, 'freeform'], 'implied-by-the-call')
  const { dialect, losses } = context
  const marked = withMarker(result, (dialect.cache ?? 'none') !== 'none', path, losses)
  const said = withFailure(marked, path, losses)
  const content = writeContent(
    withoutMedia(said, result.id, path, context, waiting),
    [...path, 'content'],
    context,
    FOR_SYSTEMS,
  )
  return { role: 'tool', tool_call_id: result.id, content, ...kept(result, FORMAT) }
}

/** Moves media from a tool result to the user message after it, labelled with the id of the call. */
function withoutMedia(
  content: readonly Part[],
  id: string,
  path: Path,
  context: WriteContext,
  waiting: Waiting[],
): readonly Part[] {
  return content.map((part, index): Part => {
    if (part.type !== 'media') return part
    const losses = new Losses()
    const wire = writePart(part, [], { ...context, losses })
    const at = [...path, 'content', index]
    if (wire === undefined) context.losses.drop(at, losses.list[0]!.reason)
    else {
      const text = `Result of tool call ${id}:`
      context.losses.drop(at, 'moved-to-user-turn')
      waiting.push(
        { part: { type: 'text', text }, wire: { type: 'text', text } },
        { part: lose<Part>(part, [...losses.list, ...foreignLosses(part, FORMAT)]), wire },
      )
    }
    return { type: 'text', text: '' }
  })
}

/** The call ids that upstreams with `call_ids: short` accept. */
const SHORT = /^[a-zA-Z0-9]{9}$/

const shortId = (id: string): string =>
  SHORT.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)

/** Replaces call ids by nine letters and digits, for upstreams that accept no others. */
export function withLegalIds(messages: readonly Message[], { dialect, losses }: WriteContext): readonly Message[] {
  if (dialect.call_ids !== 'short') return messages
  return messages.map((message, place) => {
    const content = message.content.map((part, index): Part => {
      const id = part.type === 'tool-call' || part.type === 'tool-result' ? shortId(part.id) : undefined
      if (id === undefined || id === (part as ToolResultPart).id) return part
      losses.rename(['messages', place, 'content', index, 'id'], id, 'id-made-short')
      return { ...part, id } as Part
    })
    return content.some((part, index) => part !== message.content[index]) ? { ...message, content } : message
  })
}
