import type { Part, ReasoningPart } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { spellingFor } from '../fields.ts'
import { isSearch } from '../searches.ts'

/**
 * Returns true if the last assistant turn has calls but does not start with reasoning signed by an upstream of this
 * format.
 */
export function isMidway(request: CanonicalRequest, format: Format): boolean {
  const turn = lastAnswer(request, format).filter(part => isWritten(part, format))
  return turn.some(part => part.type === 'tool-call') && !isSignedIn(turn[0]!, format)
}

/**
 * Returns true if the last assistant turn of a native request has calls without the reasoning that led to them, although
 * the caller returned it: another upstream or account signed it.
 *
 * @param received the request as the caller sent it.
 */
export const losesReasoning = (request: CanonicalRequest, received: CanonicalRequest, format: Format): boolean =>
  isMidway(request, format) && (!isMidway(received, format) || isReasonedElsewhere(request, format))

/** Returns true if all reasoning in the last assistant turn is from other upstreams. */
function isReasonedElsewhere(request: CanonicalRequest, format: Format): boolean {
  const reasoning = lastAnswer(request, format).filter(part => part.type === 'reasoning')
  const isForeign = (part: ReasoningPart): boolean =>
    part.signature !== undefined || spellingFor(part, format)['signature'] === 'unsigned'
  return !reasoning.some(part => isSignedIn(part, format)) && reasoning.some(isForeign)
}

/** Returns true if the part is reasoning with a signature of the given format. */
const isSignedIn = (part: Part, format: Format): boolean =>
  part.type === 'reasoning' && part.signature?.format === format

/** Returns false for empty text and for unsigned reasoning, which are not written. */
function isWritten(part: Part, format: Format): boolean {
  if (isSearch(part)) return true
  if (part.type === 'reasoning') return isSignedIn(part, format)
  if (part.type === 'tool-call' || (part.type === 'opaque' && part.format === format)) return true
  return 'text' in part && part.text !== undefined && part.text.trim() !== ''
}

/** Returns the parts of the last assistant turn, which may span several messages. */
function lastAnswer({ messages }: CanonicalRequest, format: Format): readonly Part[] {
  const turns: (readonly Part[])[] = []
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, content } = messages[index]!
    if (role !== 'assistant' && content.length > 0 && turns.length > 0) break
    if (role === 'assistant' && content.some(part => isWritten(part, format))) turns.push(content)
  }
  return turns.reverse().flat()
}
