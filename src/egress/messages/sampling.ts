import type { Losses, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Sampling } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { MessagesDialect } from '../../formats/dialects/messages.ts'
import { defined } from '../fields.ts'
import { MODEL_LIMIT } from '../losses.ts'
import type { WriteContext } from './context.ts'

/** Default token limit for an unknown model, enough for any file that an agent writes. */
const LIMIT = 32_000
/** Number of tokens reserved for the answer beside a thinking budget. */
const ROOM = 4096

/**
 * Maximum number of tokens of an answer including its reasoning: the lower of the caller's limit and the model's, or
 * infinity if neither is known.
 */
export const mostTokens = ({ sampling }: CanonicalRequest, { max_output }: MessagesDialect): number =>
  Math.min(sampling.maxTokens ?? Number.POSITIVE_INFINITY, max_output ?? Number.POSITIVE_INFINITY)

/**
 * Writes `max_tokens`, which is required. A limit chosen by the gateway leaves room for thinking (traps 38, 41). Such a
 * limit is a loss if the model could have answered more, or if its maximum is unknown.
 */
export function writeLimit(request: CanonicalRequest, budget: number | undefined, context: WriteContext): JsonObject {
  const { sampling, output } = request
  const { dialect, losses } = context
  const path = ['sampling', 'maxTokens']
  const most = mostTokens(request, dialect)
  if (sampling.maxTokens !== undefined) {
    if (most !== sampling.maxTokens) losses.change(path, most, MODEL_LIMIT)
    return { max_tokens: most }
  }
  if (output.count === true) return {}
  const longest = dialect.max_output ?? dialect.listed_output
  const defaultLimit = dialect.max_tokens ?? longest ?? LIMIT
  const limit = Math.min(budget === undefined ? defaultLimit : Math.max(defaultLimit, budget + ROOM), most)
  losses.add(path, limit, longest !== undefined && limit >= longest ? MODEL_LIMIT : 'limit-required')
  return { max_tokens: limit }
}

const SAMPLING_LOSSES: Unwritten<Sampling, SettingName | 'stop'> = { logprobs: 'no-logprobs' }

/**
 * Writes the sampling parameters and stop sequences that the upstream takes.
 *
 * @param thinking whether the upstream will think.
 */
export function writeSampling(request: CanonicalRequest, thinking: boolean, context: WriteContext): JsonObject {
  const { sampling } = request
  const { losses } = context
  losses.dropFields(sampling, ['sampling'], SAMPLING_LOSSES)
  const none = takesNoSampling(context)
  if (none) dropSampling(sampling, losses)
  return defined({
    ...(none ? {} : supportedSampling(sampling, thinking, context)),
    stop_sequences: writeStop(sampling.stop, context),
  }) as JsonObject
}

/** The sampling parameters by canonical name. */
const RANDOM = { temperature: 'temperature', topP: 'top_p', topK: 'top_k' } as const

const RANDOM_FIELDS = ['temperature', 'topP', 'topK'] as const

const takesNoSampling = ({ dialect, stricter }: WriteContext): boolean => stricter || dialect.sampling === 'none'

function dropSampling(sampling: Sampling, losses: Losses): void {
  for (const field of RANDOM_FIELDS) if (sampling[field] !== undefined) losses.drop(['sampling', field], 'no-sampling')
}

/** The fields of a native body that set sampling and that the upstream refuses, also if they are null. */
export function refusedSampling(sampling: Sampling, body: JsonObject, context: WriteContext): string[] {
  if (!takesNoSampling(context)) return []
  dropSampling(sampling, context.losses)
  return RANDOM_FIELDS.map(field => RANDOM[field]).filter(name => body[name] !== undefined)
}

/** Minimum `top_p` that is allowed with thinking. */
const LEAST_TOP_P = 0.95

/**
 * Limits the temperature to 1. With thinking, only temperature 1 and a `top_p` near 1 are allowed, and no `top_k` (trap
 * 38).
 */
function supportedSampling(sampling: Sampling, thinking: boolean, { dialect, losses }: WriteContext) {
  const { temperature, topP, topK } = sampling
  const hot = temperature !== undefined && temperature > 1
  const drops = {
    temperature: thinking && temperature !== undefined && temperature !== 1,
    topP: thinking && topP !== undefined && topP < LEAST_TOP_P,
    topK: thinking && topK !== undefined,
  }
  for (const field of RANDOM_FIELDS) if (drops[field]) losses.drop(['sampling', field], 'not-while-thinking')
  const both = temperature !== undefined && !drops.temperature && topP !== undefined && !drops.topP
  const one = both && dialect.sampling === 'one'
  if (one) losses.drop(['sampling', 'topP'], 'one-of-both')
  if (hot && !drops.temperature) losses.change(['sampling', 'temperature'], 1, 'at-most-one')
  return {
    temperature: drops.temperature ? undefined : hot ? 1 : temperature,
    top_p: drops.topP || one ? undefined : topP,
    top_k: drops.topK ? undefined : topK,
  }
}

/** Writes the stop sequences without blank ones, which upstreams refuse. */
function writeStop(stop: Sampling['stop'], { losses }: WriteContext): readonly string[] | undefined {
  if (stop === undefined) return undefined
  const nonBlank = stop.filter(text => text.trim() !== '')
  if (nonBlank.length === 0 && stop.length > 0) return losses.drop(['sampling', 'stop'], 'blank-stop')
  stop.forEach((text, index) => {
    if (text.trim() === '') losses.drop(['sampling', 'stop', index], 'blank-stop')
  })
  return nonBlank
}
