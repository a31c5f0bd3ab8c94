import { createHash } from 'node:crypto'
import type { Part } from '../../canonical/content.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

const SHORT = /^[a-zA-Z0-9]{9}$/

const shortId = (id: string): string =>
  SHORT.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)

/** The request with call ids of nine letters and digits, the only ones that some upstreams take. */
export function withShortIds(request: CanonicalRequest, losses: Losses): CanonicalRequest {
  const messages = request.messages.map((message, place) => {
    const content = message.content.map((part, index): Part => {
      if (part.type !== 'tool-call' && part.type !== 'tool-result') return part
      const id = shortId(part.id)
      if (id !== part.id) losses.rename(['messages', place, 'content', index, 'id'], id, 'id-made-short')
      return { ...part, id }
    })
    return { ...message, content }
  })
  return { ...request, messages }
}
