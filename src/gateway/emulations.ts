import type { CanonicalRequest } from '../canonical/request.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { fitnessOf } from '../formats/index.ts'
import type { Target } from '../upstreams/router.ts'
import { needsBatches, roundTripInBatches } from './emulations/batches.ts'
import { compaction } from './emulations/compaction.ts'
import { counting } from './emulations/counting.ts'
import { prompts } from './emulations/prompts.ts'
import { ranking } from './emulations/ranking.ts'
import { needsSeveralRequests, severalImages } from './emulations/several-images.ts'
import { locateLosses } from './locate-losses.ts'
import { refusalFor } from './prepare.ts'
import type { Attempt, Emulation, WholeAnswer } from './types.ts'

/** Emulations by kind of work, for upstreams whose format has no request for the work. */
const EMULATIONS: { readonly [W in Work]?: Emulation } = { compaction, ranking }

/** Splits an embedding request that has more inputs than the upstream accepts at once. */
const IN_BATCHES: Emulation = { losses: () => [], answer: (attempt, roundTrip) => roundTrip(attempt, attempt.request) }

/**
 * Returns the emulation for a target and a request other than a conversation, or undefined if one request to the target
 * is enough.
 */
export function emulationOf(target: Target, request: CanonicalRequest): Emulation | undefined {
  const work = workOf(request)
  if (work === 'count') return counting
  if (target.emulated) return EMULATIONS[work]
  if (needsSeveralRequests(target, request)) return severalImages
  if (work === 'completion' && request.messages.length > 1 && !takesPrompts(target, work)) return prompts
  return needsBatches(request, target) ? IN_BATCHES : undefined
}

/** Returns true if the upstream takes several prompts in one request. */
const takesPrompts = ({ format: { format, dialect } }: Target, work: Work): boolean =>
  fitnessOf(format, work) === 'primary' && dialect['prompts'] !== 'one'

/**
 * Answers an attempt with several requests to the target, or with none.
 *
 * @throws GatewayError `cannot-express` if the request would lose too much, and any failure of the requests that it
 * sends.
 */
export async function emulate(emulation: Emulation, attempt: Attempt): Promise<WholeAnswer> {
  const losses = emulation.losses(attempt.request)
  const refusal = refusalFor(attempt.request, losses, attempt.incoming.onLoss, lost => locateLosses(lost, attempt))
  if (refusal !== undefined) throw refusal
  const wholeAnswer = await emulation.answer(attempt, roundTripInBatches)
  return { ...wholeAnswer, losses: [...losses, ...wholeAnswer.losses] }
}
