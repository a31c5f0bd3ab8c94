import type { Part, ToolResultPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { CONTINUE, CONTINUE_TURN, type Message, saysNothing } from '../../canonical/request.ts'
import { lengthOfRun } from '../assistant-run.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { type MovedPart, takeMoved, withoutMedia } from '../moved-media.ts'
import { resultsFirst } from '../sanitize/results-first.ts'
import { SYSTEM_PARTS, USER_PARTS, withFailure, withMarker, writeAllowed } from '../turns.ts'
import { writeAssistant, writeAssistantRun } from './assistant.ts'
import { contentOf, writePart } from './content.ts'
import { FORMAT, reportName, type WriteContext } from './context.ts'

/**
 * Writes all messages of a request. Tool results directly follow their calls. Parts that a tool message cannot hold are
 * put into a user message after the last result.
 */
export function writeMessages(messages: readonly Message[], context: WriteContext): JsonObject[] {
  const wire: JsonObject[] = []
  const movedParts: MovedPart[] = []
  const order = resultsFirst(messages, 0)
  for (let position = 0; position < order.length; position++) {
    const index = order[position]!
    const message = messages[index]!
    const path: Path = ['messages', index]
    if (message.role === 'tool') {
      append(wire, writeResults(message, path, context, movedParts))
      continue
    }
    flush(movedParts, position, wire, context)
    const run = lengthOfRun(messages, order, position, FORMAT)
    const writtenMessages =
      message.role !== 'assistant'
        ? writeMessage(message, path, context)
        : run === 1
          ? writeAssistant(message, path, context)
          : writeAssistantRun(messages, order.slice(position, position + run), context)
    position += run - 1
    if (hasContent(writtenMessages)) wire.push(writtenMessages)
  }
  flush(movedParts, messages.length, wire, context)
  if (wire.length === 0 && saysNothing(messages)) {
    context.losses.insert(['messages', messages.length], CONTINUE_TURN, 'the-user-speaks-first')
    wire.push({ role: 'user', content: CONTINUE })
  }
  context.losses.reorder(['messages'], order, messages.length, 'results-first')
  return wire
}

/** Returns true if a message has content. Messages without content are omitted. */
const hasContent = (wire: JsonObject): boolean =>
  (wire['content'] ?? '') !== '' || Object.keys(wire).some(field => field !== 'role' && field !== 'content')

/** Writes the media of tool results as a user message after the last result (trap 48). */
function flush(moved: MovedPart[], index: number, wire: JsonObject[], { losses }: WriteContext): void {
  const turn = takeMoved(moved, index, losses)
  if (turn !== undefined) wire.push({ role: 'user', content: turn.wires })
}

function writeMessage(message: Message, path: Path, context: WriteContext): JsonObject {
  const { role } = message
  reportName(message, path, context)
  if (role === 'developer') context.losses.change([...path, 'role'], 'system', 'no-developer-role')
  const content = writeContent(
    message.content,
    [...path, 'content'],
    context,
    role === 'user' ? USER_PARTS : SYSTEM_PARTS,
  )
  return { role: role === 'developer' ? 'system' : role, content, ...extrasFor(message, FORMAT) }
}

/** Writes the `content` field. Documents that the caller sent next to the turns are moved back there. */
const writeContent = (
  content: readonly Part[],
  path: Path,
  context: WriteContext,
  allowed: ReadonlySet<Part['type']>,
): Json =>
  contentOf(
    writeAllowed(content, allowed, path, context.losses, (part, at) => {
      const wire = writePart(part, at, context)
      if (wire === undefined || spellingFor(part, FORMAT)['beside'] !== true) return wire
      context.documents.push(wire['document']!)
      return undefined
    }),
  )

/** Writes each tool result as a separate message. */
function writeResults(message: Message, path: Path, context: WriteContext, moved: MovedPart[]): JsonObject[] {
  const wire: JsonObject[] = []
  reportName(message, path, context)
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  message.content.forEach((part, index) => {
    const at = [...path, 'content', index]
    if (part.type === 'tool-result') wire.push(writeResult(part, at, context, moved))
    else context.losses.drop(at, 'not-in-this-turn')
  })
  return wire
}

function writeResult(result: ToolResultPart, path: Path, context: WriteContext, moved: MovedPart[]): JsonObject {
  const { losses } = context
  if (result.freeform !== undefined) losses.dropRestored([...path, 'freeform'], 'implied-by-the-call')
  if (result.name !== undefined) losses.dropRestored([...path, 'name'], 'implied-by-the-call')
  const content = withFailure(withMarker(result, false, path, losses), path, losses)
  const write = (part: Part, partLosses: Losses) => writePart(part, [], { ...context, losses: partLosses })
  const texts = withoutMedia({ ...result, content }, path, { format: FORMAT, losses, moved, write })
  return {
    role: 'tool',
    tool_call_id: result.id,
    content: writeContent(texts, [...path, 'content'], context, SYSTEM_PARTS),
    ...extrasFor(result, FORMAT),
  }
}
