import type { ResultStart } from '../canonical/event.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Candidate } from '../router.ts'
import type { Telling } from './state/telling.ts'

/**
 * What fills in the head of an answer: it always has an id and a time, and names the model as the caller knows it, by
 * the public id where the channel maps names, by the upstream's own word where it does not.
 */
export function dresser(callId: string, model: string, { upstreamModel }: Candidate, telling: Telling | undefined) {
  const head = <T extends CanonicalResult | ResultStart>(said: T): T => ({
    ...said,
    // A stream is put together by its id: clients lose chunks that have an empty one.
    id: said.id === '' && 'type' in said ? callId : (said.id ?? callId),
    model: upstreamModel === model ? (said.model ?? model) : model,
    createdAt: said.createdAt ?? Math.floor(Date.now() / 1000),
  })
  return telling === undefined
    ? head
    : <T extends CanonicalResult | ResultStart>(said: T): T => telling.dress(head(said))
}
