import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import { areLegalArguments } from '../sanitize/legal-arguments.ts'

/** Returns true if a native body has a call with arguments that are no object (`sanitize/legal-arguments.ts`). */
export function hasOddArguments({ messages }: JsonObject): boolean {
  const calls = (Array.isArray(messages) ? messages : []).flatMap((message: Json) => {
    const list = isObject(message) ? message['tool_calls'] : undefined
    return Array.isArray(list) ? (list as readonly Json[]) : []
  })
  return calls.some(call => isObject(call) && isObject(call['function']) && !isTaken(call['function']))
}

/** An empty text is refused, too; the writer makes it an empty object (trap 8). */
const isTaken = ({ arguments: text }: JsonObject): boolean => text !== '' && areLegalArguments(stringIn(text))
