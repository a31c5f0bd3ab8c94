import type { ResultEnd, ResultStart } from '../../canonical/event.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { Candidate } from '../../router.ts'
import type { Keeper } from './keeper.ts'

/** How an answer is told to a caller whose request was told in other words, or who may ask for the answer again. */
export interface Telling {
  /** The request as the caller made it: what the answer repeats of it. */
  readonly asked: CanonicalRequest
  dress<T extends CanonicalResult | ResultStart | ResultEnd>(said: T): T
  /** Keeps the answer before it is told; absent where it is not to be kept, or by somebody else. Never rejects. */
  readonly keep?: (response: JsonObject) => Promise<unknown>
}

const FORMAT = 'responses'

/**
 * How a candidate's answer is told: under a name it can be asked for by, the upstream's own where that keeps it, too.
 *
 * @param asItCame whether the candidate is told the request in the caller's own words.
 */
export function tellingOf(
  asked: CanonicalRequest,
  candidate: Candidate,
  keeper: Keeper | undefined,
  asItCame: boolean,
): Telling {
  keeper?.madeBy(candidate)
  const said = asItCame ? undefined : stateIn(asked)
  const id = keeper === undefined || isUpstreams(candidate, asked) ? undefined : keeper.id
  return {
    asked,
    dress: answer => {
      const named = id === undefined || ('type' in answer && answer.type === 'result-end') ? answer : { ...answer, id }
      return said === undefined ? named : repeating(named, said)
    },
    ...(keeper?.saves === true ? { keep: response => keeper.keep(response) } : {}),
  }
}

/** Whether the upstream's own id is one to ask for the answer by. */
const isUpstreams = ({ native, format }: Candidate, { state }: CanonicalRequest): boolean =>
  native && format.dialect['stateless'] !== true && state?.background !== true

/** What an answer repeats of a request's state. */
const stateIn = ({ state }: CanonicalRequest): JsonObject => ({
  previous_response_id: state?.previous ?? null,
  ...(state?.conversation === undefined ? {} : { conversation: { id: state.conversation } }),
  ...(state?.background === undefined ? {} : { background: state.background }),
})

/** What an upstream of the format repeats is of the request as it was told, which is not as the caller said it. */
function repeating<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, said: JsonObject): T {
  const own = answer.spelling?.[FORMAT]
  if (own?.['echo'] === undefined) return answer
  const echo = { ...(own['echo'] as JsonObject), ...said }
  const nulls = ((own['nulls'] ?? []) as readonly string[]).filter(field => said[field] == null)
  return { ...answer, spelling: { ...answer.spelling, [FORMAT]: { ...own, echo, nulls } } }
}
