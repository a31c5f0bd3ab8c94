import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import { fitnessOf, formatFor } from '../providers/index.ts'
import type { Candidate } from '../router.ts'

/** How many models of a channel are remembered to have no completions. */
const MOST = 1000

/** By channel, the models whose upstream has no completions for them. */
const lacking = new WeakMap<Candidate['channel'], Set<string>>()

/**
 * The candidate that completes a prompt by way of a conversation: vendors have completions for few of their models, and
 * refuse others only when a request comes (FORMATS §3). Undefined for other work, and where the channel converses in no
 * format.
 */
export function completionFallback(candidate: Candidate, request: CanonicalRequest): Candidate | undefined {
  if (workOf(request) !== 'completion' || !isMadeForCompletion(candidate.format.format)) return undefined
  const format = candidate.channel.formats.find(
    one => fitnessOf(one.format, 'completion', one.dialect) !== undefined && !isMadeForCompletion(one.format),
  )
  if (format === undefined) return undefined
  const own = formatFor(format, { model: candidate.upstreamModel, native: false })
  return { ...candidate, format: own, native: false }
}

const isMadeForCompletion = (format: string): boolean => fitnessOf(format, 'completion') === 'made-for-it'

const MESSAGE = /\bchat model\b|\bnot (?:a |supported\b).*\bcompletions?\b/i

/** Whether an upstream's error means that it has no completions, or none for this model. */
export function lacksCompletions(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false
  const { kind, message } = thrown.error
  return kind === 'not-found' || kind === 'method-not-allowed' || (kind === 'invalid-request' && MESSAGE.test(message))
}

/** Whether an earlier request found that the candidate's upstream has no completions for the model. */
export const isKnownToLack = ({ channel, upstreamModel }: Candidate): boolean =>
  lacking.get(channel)?.has(upstreamModel) === true

/** Remembers that the candidate's upstream has no completions for the model. */
export function rememberLack({ channel, upstreamModel }: Candidate): void {
  const models = lacking.get(channel) ?? new Set<string>()
  if (models.size < MOST) models.add(upstreamModel)
  lacking.set(channel, models)
}
