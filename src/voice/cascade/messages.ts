import type { Part, TextPart } from '../../canonical/content.ts'
import type { Message } from '../../canonical/request.ts'
import type { Item } from '../../canonical/session.ts'

/**
 * Items of a conversation as messages of a request: audio as its transcript, what an assistant did in a row as one
 * message. Items without content, and calls that were broken off, are left out.
 */
export function messagesOf(items: readonly Item[]): readonly Message[] {
  const messages: { role: Message['role']; content: Part[] }[] = []
  for (const item of items) {
    if (isBrokenCall(item)) continue
    const content = item.content.map(readable).filter(isContent)
    const last = messages.at(-1)
    if (content.length === 0) continue
    if (last?.role === 'assistant' && item.role === 'assistant') for (const part of content) last.content.push(part)
    else messages.push({ role: item.role, content })
  }
  return messages
}

const isBrokenCall = ({ content, status }: Item): boolean =>
  content[0]?.type === 'tool-call' && status !== undefined && status !== 'completed'

const readable = (part: Part): Part =>
  part.type === 'media' && part.kind === 'audio' ? ({ type: 'text', text: part.transcript ?? '' } as TextPart) : part

const isContent = (part: Part): boolean =>
  part.type === 'opaque' ? part.text !== undefined : part.type !== 'text' || part.text.trim() !== ''

/** Characters and base64 in an item. */
export const sizeOf = ({ content }: Item): number => content.reduce((sum, part) => sum + partSize(part), 0)

function partSize(part: Part): number {
  switch (part.type) {
    case 'text':
      return part.text.length
    case 'tool-call':
      return part.arguments.length
    case 'tool-result':
      return sizeOf({ role: 'tool', content: part.content })
    case 'media':
      return (part.source.type === 'base64' ? part.source.data.length : 0) + (part.transcript?.length ?? 0)
    default:
      return 0
  }
}
