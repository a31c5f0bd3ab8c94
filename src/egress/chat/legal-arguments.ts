import type { Part } from '../../canonical/content.ts'
import { parseCallObject } from '../../canonical/exact-numbers.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WriteContext } from './content.ts'

/*
 * MiniMax refuses a history with a call whose arguments are no JSON object, as those of an answer that was cut are:
 * "invalid function arguments json string" (pi#5468, nanobot#2373, oh-my-pi#181, read on 2026-12-01). Every later request
 * of the session has the call.
 */

const isLegal = (text: string): boolean => text === '' || parseCallObject(text) !== undefined

/** Returns true if a native body has a call with arguments that are no object. */
export function hasOddArguments({ messages }: JsonObject): boolean {
  const calls = (Array.isArray(messages) ? messages : []).flatMap((message: Json) => {
    const list = isObject(message) ? message['tool_calls'] : undefined
    return Array.isArray(list) ? (list as readonly Json[]) : []
  })
  return calls.some(call => isObject(call) && isObject(call['function']) && !isTaken(call['function']))
}

/** An empty text is refused, too; the writer makes it an empty object (trap 8). */
const isTaken = ({ arguments: text }: JsonObject): boolean => text !== '' && isLegal(stringIn(text))

/** Wraps arguments that are no object, so that the model still sees what it wrote, for upstreams that refuse them. */
export function withLegalArguments(request: CanonicalRequest, { dialect, losses }: WriteContext): CanonicalRequest {
  if (dialect.odd_arguments !== false) return request
  let isChanged = false
  const messages = request.messages.map((message, index) => {
    const content = message.content.map((part, at): Part => {
      if (part.type !== 'tool-call' || part.freeform === true || isLegal(part.arguments)) return part
      isChanged = true
      const wrapped = JSON.stringify({ INVALID_JSON: part.arguments })
      losses.change(['messages', index, 'content', at, 'arguments'], wrapped, 'arguments-are-an-object')
      return { ...part, arguments: wrapped }
    })
    return content.some((part, at) => part !== message.content[at]) ? { ...message, content } : message
  })
  return isChanged ? { ...request, messages } : request
}
