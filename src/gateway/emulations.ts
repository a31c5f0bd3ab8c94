import type { CanonicalRequest } from '../canonical/request.ts'
import { type Work, workOf } from '../canonical/work.ts'
import type { Candidate } from '../router.ts'
import { batchesOf } from './emulations/batches.ts'
import { compaction } from './emulations/compaction.ts'
import { counting } from './emulations/counting.ts'
import { prompts } from './emulations/prompts.ts'
import { ranking } from './emulations/ranking.ts'
import { needsSeveral, severalImages } from './emulations/several-images.ts'
import type { Emulation } from './types.ts'

/** How work is done that the upstream's format has no request for, a row each. */
const EMULATIONS: { readonly [W in Work]?: Emulation } = { compaction, ranking }

/** More to embed than the upstream takes at once: asking splits and joins it. */
const IN_BATCHES: Emulation = { losses: () => [], answer: ({ request }, ask) => ask(request) }

/** How a candidate's answer is emulated; undefined where one request to it does. */
export function emulationOf(candidate: Candidate, request: CanonicalRequest): Emulation | undefined {
  const work = workOf(request)
  if (work === 'count') return counting
  if (candidate.emulated) return EMULATIONS[work]
  if (needsSeveral(candidate, request)) return severalImages
  if (work === 'completion' && candidate.format.format !== 'completions' && request.messages.length > 1) return prompts
  return batchesOf(request, candidate) === undefined ? undefined : IN_BATCHES
}
