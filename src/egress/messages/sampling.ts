import type { Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Sampling } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import { defined } from '../fields.ts'
import { MODEL_LIMIT } from '../losses.ts'
import { dropSampling, nonBlankStops, RANDOM_FIELDS, supportedSampling } from '../sanitize/sampling.ts'
import { maxAnswerTokens } from '../sanitize/thinking-plan.ts'
import type { WriteContext } from './context.ts'

/** Default token limit for an unknown model. Large enough for any file that an agent writes. */
const DEFAULT_LIMIT = 32_000
/** Number of tokens reserved for the answer, in addition to a thinking budget. */
const ANSWER_TOKENS = 4096

/**
 * Writes the required `max_tokens`. A limit chosen by the gateway leaves room for thinking (traps 38, 41), and is a
 * loss if the model could have answered more or if its maximum is unknown.
 */
export function writeLimit(request: CanonicalRequest, budget: number | undefined, context: WriteContext): JsonObject {
  const { sampling, output } = request
  const { dialect, losses } = context
  const path = ['sampling', 'maxTokens']
  const maxTotalTokens = maxAnswerTokens(request, dialect)
  if (sampling.maxTokens !== undefined) {
    if (maxTotalTokens !== sampling.maxTokens) losses.change(path, maxTotalTokens, MODEL_LIMIT)
    return { max_tokens: maxTotalTokens }
  }
  if (output.count === true) return {}
  const modelMaximum = dialect.max_output ?? dialect.listed_output
  const defaultLimit = dialect.max_tokens ?? modelMaximum ?? DEFAULT_LIMIT
  const limit = Math.min(
    budget === undefined ? defaultLimit : Math.max(defaultLimit, budget + ANSWER_TOKENS),
    maxTotalTokens,
  )
  losses.add(path, limit, modelMaximum !== undefined && limit >= modelMaximum ? MODEL_LIMIT : 'limit-required')
  return { max_tokens: limit }
}

const SAMPLING_LOSSES: Unwritten<Sampling, SettingName | 'stop'> = { logprobs: 'no-logprobs' }

/**
 * Writes the sampling parameters and stop sequences that the upstream accepts.
 *
 * @param thinking whether the upstream will think.
 */
export function writeSampling(request: CanonicalRequest, thinking: boolean, context: WriteContext): JsonObject {
  const { sampling } = request
  const { dialect, losses } = context
  losses.dropFields(sampling, ['sampling'], SAMPLING_LOSSES)
  const refusesSampling = refusesAllSampling(context)
  if (refusesSampling) dropSampling(sampling, losses)
  return defined({
    ...(refusesSampling ? {} : namedSampling(supportedSampling(sampling, thinking, dialect, losses))),
    stop_sequences: nonBlankStops(sampling.stop, losses),
  }) as JsonObject
}

/** The sampling parameters by canonical name. */
export const SAMPLING_FIELDS = { temperature: 'temperature', topP: 'top_p', topK: 'top_k' } as const

const namedSampling = ({ temperature, topP, topK }: Pick<Sampling, (typeof RANDOM_FIELDS)[number]>): object => ({
  temperature,
  top_p: topP,
  top_k: topK,
})

/** Returns true if the upstream takes none of the sampling parameters. */
export const refusesAllSampling = ({ dialect, isStrict: stricter }: WriteContext): boolean =>
  stricter || dialect.sampling === 'none'

/** Returns the sampling fields of a native body that the upstream refuses, even if they are null. */
export function refusedSampling(sampling: Sampling, body: JsonObject, context: WriteContext): string[] {
  if (!refusesAllSampling(context)) return []
  dropSampling(sampling, context.losses)
  return RANDOM_FIELDS.map(field => SAMPLING_FIELDS[field]).filter(name => body[name] !== undefined)
}
