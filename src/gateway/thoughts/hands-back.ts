import type { Part } from '../../canonical/content.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Step } from './store.ts'

const isProof = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined
const isThought = (part: Part): boolean => part.type === 'reasoning'

/**
 * Whether a caller hands thoughts like these back by itself, as its last turn with calls shows: then nobody need
 * remember them, nor read its whole history for that. Who has the words alone still needs their proof.
 */
export function handsBack({ messages }: CanonicalRequest, steps: readonly Step[]): boolean {
  let at = messages.findLastIndex(({ content }) => content.some(({ type }) => type === 'tool-call'))
  const signed = steps.some(({ lead, next }) => lead.some(isProof) || next.some(isProof))
  while (messages[at]?.role === 'assistant') if (messages[at--]!.content.some(signed ? isProof : isThought)) return true
  return false
}
