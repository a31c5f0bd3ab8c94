import type { Format } from '../canonical/node.ts'
import type { Work } from '../canonical/work.ts'
import type { ChannelConfig, ChannelFormat, ModelFacts } from '../config/types.ts'
import { type Fitness, fitnessOf, isDirect } from '../formats/index.ts'

/** The caller's format, and the kind of work. */
export interface FormatRequest {
  readonly format: Format
  readonly work: Work
  /** The operator's facts about the model. */
  readonly facts?: Pick<ModelFacts, 'interface'> | undefined
  /** Reasoning of a request with functions. Undefined for requests without functions, or with reasoning turned off. */
  readonly functions?: 'thinking' | 'unstated' | undefined
}

/**
 * Chooses the caller's format if it can do the work. Otherwise chooses the model's `interface`, a format designed for the
 * work, a format that can do it, or a format that can emulate it, in this order. Formats to avoid for the model come
 * last.
 */
export function bestFormat(
  { formats }: ChannelConfig,
  request: FormatRequest,
  upstream: string,
): ChannelFormat | undefined {
  let best: ChannelFormat | undefined
  let bestRank = UNFIT
  for (const candidate of formats) {
    const rank = formatRank(candidate, request, upstream)
    if (rank < bestRank && serves(candidate, upstream)) {
      best = candidate
      bestRank = rank
    }
  }
  return best
}

/** Returns the rank of a format for the work of a request. The lowest rank is best. */
function formatRank(candidate: ChannelFormat, request: FormatRequest, upstream: string): number {
  const { format, work, facts } = request
  const fitness = fitnessAt(candidate, work)
  if (fitness === undefined) return UNFIT
  const isNamed = isDirect(fitness) && (candidate.format === format || candidate.format === facts?.interface)
  const rank = isNamed ? (candidate.format === format ? NATIVE : PREFERRED) : RANKS[fitness]
  return isAvoided(candidate, request, upstream) ? rank + AVOIDED : rank
}

const isAvoided = (
  { avoidedModels, functionModels }: ChannelFormat,
  { functions }: FormatRequest,
  upstream: string,
): boolean =>
  avoidedModels?.test(upstream) === true ||
  (functions !== undefined && functionModels?.[functions].test(upstream) === true)

/** Returns true if the upstream serves the model in this format. */
const serves = ({ servedModels }: ChannelFormat, upstream: string): boolean =>
  servedModels === undefined || servedModels.test(upstream)

export const fitnessAt = ({ format, dialect }: ChannelFormat, work: Work) => fitnessOf(format, work, dialect)

/** Ranks of the caller's format, and of the format that the operator names for the model. */
const [NATIVE, PREFERRED] = [0, 0.5]
const RANKS: { readonly [F in Fitness]: number } = { primary: 1, able: 2, emulated: 3 }
/** Added to the rank of a format that should be avoided, so that it comes after all others. */
const AVOIDED = 10
/** Rank of a format that cannot do the work. */
const UNFIT = Number.POSITIVE_INFINITY
