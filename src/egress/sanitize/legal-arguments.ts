import type { Part } from '../../canonical/content.ts'
import { parseCallObject } from '../../canonical/exact-numbers.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/*
 * MiniMax refuses a history with a call whose arguments are no JSON object, as those of an answer that was cut are:
 * "invalid function arguments json string" (pi#5468, nanobot#2373, oh-my-pi#181, read on 2026-12-01), as servers do that
 * run the models' own templates (`formats/vendors/local.ts`). Every later request of the session has the call.
 */

/** Returns true for arguments that these upstreams take. */
export const areLegalArguments = (text: string): boolean => text === '' || parseCallObject(text) !== undefined

const isOdd = (part: Part): boolean =>
  part.type === 'tool-call' && part.freeform !== true && !areLegalArguments(part.arguments)

/** Returns true if a turn has a call with arguments that are no object. */
export const hasOddCalls = ({ messages }: CanonicalRequest): boolean =>
  messages.some(({ content }) => content.some(isOdd))

/** Wraps arguments that are no object, so that the model still sees what it wrote, for upstreams that refuse them. */
export function withLegalArguments(
  request: CanonicalRequest,
  { odd_arguments }: { readonly odd_arguments?: boolean },
  losses: Losses,
): CanonicalRequest {
  if (odd_arguments !== false || !hasOddCalls(request)) return request
  const messages = request.messages.map((message, index) => {
    const content = message.content.map((part, at): Part => {
      if (part.type !== 'tool-call' || !isOdd(part)) return part
      const wrapped = JSON.stringify({ INVALID_JSON: part.arguments })
      losses.change(['messages', index, 'content', at, 'arguments'], wrapped, 'arguments-are-an-object')
      return { ...part, arguments: wrapped }
    })
    return content.some((part, at) => part !== message.content[at]) ? { ...message, content } : message
  })
  return { ...request, messages }
}
