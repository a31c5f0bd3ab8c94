import type { Part } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { isSearch } from '../searches.ts'

/**
 * Returns true if the last assistant turn has calls but does not start with reasoning signed by an upstream of this
 * format.
 */
export function isMidway(request: CanonicalRequest, format: Format): boolean {
  const turn = lastAnswer(request, format).filter(part => isWritten(part, format))
  return turn.some(part => part.type === 'tool-call') && !isSignedIn(turn[0]!, format)
}

/** Returns true if the part is reasoning with a signature of the given format. */
export const isSignedIn = (part: Part, format: Format): boolean =>
  part.type === 'reasoning' && part.signature?.format === format

/** Returns false for empty text and for unsigned reasoning, which are not written. */
function isWritten(part: Part, format: Format): boolean {
  if (isSearch(part)) return true
  if (part.type === 'reasoning') return isSignedIn(part, format)
  if (part.type === 'tool-call' || (part.type === 'opaque' && part.format === format)) return true
  return 'text' in part && part.text !== undefined && part.text.trim() !== ''
}

/** Returns the parts of the last assistant turn, which may span several messages. */
export function lastAnswer({ messages }: CanonicalRequest, format: Format): readonly Part[] {
  const turns: (readonly Part[])[] = []
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, content } = messages[index]!
    if (role !== 'assistant' && content.length > 0 && turns.length > 0) break
    if (role === 'assistant' && content.some(part => isWritten(part, format))) turns.push(content)
  }
  return turns.reverse().flat()
}
