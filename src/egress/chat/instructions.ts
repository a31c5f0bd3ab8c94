import { append } from '../../canonical/lists.ts'
import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { leadingInstructions, type Message } from '../../canonical/request.ts'
import { SYSTEM_PARTS, writeAllowed } from '../turns.ts'
import { contentOf, FORMAT, type WriteContext, writePart } from './content.ts'

/*
 * Instructions for upstreams that take one system message, at the start (`system_turns: false`). Codex sends several,
 * and others in the conversation (docs/wire/chat.md#messages).
 */

/** Returns the number of leading messages to write as one, or 0 if there are not several or the upstream takes several. */
export function joinedInstructions(messages: readonly Message[], { dialect }: WriteContext): number {
  const count = dialect.system_turns === false ? leadingInstructions(messages) : 0
  return count > 1 ? count : 0
}

/** Writes the first `count` messages as one system message. Plain texts become one text. */
export function writeInstructions(messages: readonly Message[], count: number, context: WriteContext): JsonObject {
  const { losses } = context
  const parts: JsonObject[] = []
  for (const [index, message] of messages.slice(0, count).entries()) {
    const path: Path = ['messages', index]
    if (message.role !== 'system') losses.change([...path, 'role'], 'system', 'no-developer-role')
    if (message.name !== undefined) losses.drop([...path, 'name'], 'one-instruction-only')
    if (message.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'one-instruction-only')
    const write = (part: Message['content'][number], at: Path) => writePart(part, at, context)
    append(parts, writeAllowed(message.content, SYSTEM_PARTS, [...path, 'content'], losses, write))
  }
  const content = contentOf(parts, { text_only_content: 'string' })
  if (typeof content === 'string' && content !== '') {
    losses.changeRestored(['messages', 0, 'content'], [{ type: 'text', text: content }], 'one-instruction-only')
    for (let index = 1; index < count; index++) losses.dropRestored(['messages', index], 'one-instruction-only')
  }
  return { role: 'system', content }
}
