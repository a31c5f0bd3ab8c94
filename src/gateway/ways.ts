import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type Work, workOf } from '../canonical/work.ts'
import type { Candidate } from '../router.ts'
import type { Attempt } from './attempt.ts'
import type { Answered } from './told.ts'
import { batchesOf } from './ways/batches.ts'
import { compaction } from './ways/compaction.ts'
import { counting } from './ways/counting.ts'
import { pictures, takesSeveral } from './ways/pictures.ts'
import { prompts } from './ways/prompts.ts'
import { ranking } from './ways/ranking.ts'

/** Asks the candidate for one thing; with a signal it is one of several at once, and the caller's leaving is the way's business. */
export type Ask = (request: CanonicalRequest, signal?: AbortSignal) => Promise<Answered>

/** An answer the gateway makes itself, out of others it asks the candidate for, or of none. */
export interface Way {
  /** What it cannot do as it was asked, known before anything is sent. */
  losses(request: CanonicalRequest): readonly Loss[]
  answer(attempt: Attempt, ask: Ask): Promise<Answered>
}

/** How work is done that the upstream's format has no request for, a row each. */
const DETOURS: { readonly [W in Work]?: Way } = { compaction, ranking }

/** More to embed than the upstream takes at once: asking splits and joins it. */
const IN_BATCHES: Way = { losses: () => [], answer: ({ request }, ask) => ask(request) }

/** The way round to a candidate's answer; undefined where it can be asked straight away. */
export function wayOf(candidate: Candidate, request: CanonicalRequest): Way | undefined {
  const work = workOf(request)
  if (work === 'count') return counting
  if (candidate.detour) return DETOURS[work]
  if (takesSeveral(candidate, request)) return pictures
  if (work === 'completion' && candidate.format.format !== 'completions' && request.messages.length > 1) return prompts
  return batchesOf(request, candidate) === undefined ? undefined : IN_BATCHES
}
