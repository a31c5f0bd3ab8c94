import type { Part } from '../../canonical/content.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { isSigned } from '../../canonical/thought.ts'
import type { Step } from './store.ts'

const isThought = (part: Part): boolean => part.type === 'reasoning'

/**
 * Whether a caller hands thoughts like these back by itself, as its last turn with calls shows: then nobody need
 * remember them, nor read its whole history for that. Who has the words alone still needs their proof.
 */
export function handsBack({ messages }: CanonicalRequest, steps: readonly Step[]): boolean {
  let at = messages.findLastIndex(({ content }) => content.some(({ type }) => type === 'tool-call'))
  const signed = steps.some(({ lead, next }) => lead.some(isSigned) || next.some(isSigned))
  while (messages[at]?.role === 'assistant')
    if (messages[at--]!.content.some(signed ? isSigned : isThought)) return true
  return false
}
