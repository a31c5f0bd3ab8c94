import type { Part, TextPart } from '../../canonical/content.ts'
import { CONTINUE_TURN, type Message } from '../../canonical/request.ts'
import type { ConversationItem } from '../../canonical/voice-session.ts'
import { pairedCalls } from './paired-calls.ts'

/**
 * Converts a conversation to the messages of a request. Audio becomes its transcript, and consecutive assistant items
 * become one message. Empty items and unfinished calls are skipped, and the results of calls directly follow them. A
 * request after an answer, without a new turn of the user, ends with a turn of the user: models would go on with the
 * answer, or refuse it (docs/wire/messages.md#roles-and-turns).
 */
export function messagesOf(items: readonly ConversationItem[]): readonly Message[] {
  const messages: { role: Message['role']; content: Part[] }[] = []
  for (const item of pairedCalls(items.filter(item => !isBrokenCall(item)))) {
    const content = contentOf(item)
    const last = messages.at(-1)
    if (content.length === 0) continue
    if (last?.role === 'assistant' && item.role === 'assistant') for (const part of content) last.content.push(part)
    else messages.push({ role: item.role, content })
  }
  if (messages.at(-1)?.role === 'assistant') messages.push({ ...CONTINUE_TURN, content: [...CONTINUE_TURN.content] })
  return messages
}

/** Returns true if an item has nothing that a model could answer, such as speech without words. */
export const isSilent = (item: ConversationItem): boolean => isBrokenCall(item) || contentOf(item).length === 0

const contentOf = ({ content }: ConversationItem): Part[] => content.map(asText).filter(isContent)

const isBrokenCall = ({ content, status }: ConversationItem): boolean =>
  content[0]?.type === 'tool-call' && status !== undefined && status !== 'completed'

const asText = (part: Part): Part =>
  part.type === 'media' && part.kind === 'audio' ? ({ type: 'text', text: part.transcript ?? '' } as TextPart) : part

const isContent = (part: Part): boolean =>
  part.type === 'opaque' ? part.text !== undefined : part.type !== 'text' || part.text.trim() !== ''
