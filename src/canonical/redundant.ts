import type { Part } from './content.ts'
import type { Loss } from './loss.ts'
import type { CanonicalRequest, Message } from './request.ts'

export const isRedundant = (part: Part): boolean => part.type === 'opaque' && part.redundant === true

/**
 * The request for formats that do not define its redundant parts: without these parts, since their content is present
 * elsewhere. The same object where there are none.
 */
export function reduced(request: CanonicalRequest): { request: CanonicalRequest; losses: readonly Loss[] } {
  const { messages } = request
  if (!messages.some(({ content }) => content.some(isRedundant))) return { request, losses: [] }
  const losses: Loss[] = []
  const left = messages.flatMap((message, index): Message[] => {
    const content = message.content.filter((part, at) => {
      if (!isRedundant(part)) return true
      losses.push({
        kind: 'dropped',
        path: ['messages', index, 'content', at],
        reason: 'said-elsewhere',
        restored: true,
      })
      return false
    })
    if (content.length === message.content.length) return [message]
    return content.length === 0 && message.extras === undefined ? [] : [{ ...message, content }]
  })
  return { request: { ...request, messages: left }, losses }
}
