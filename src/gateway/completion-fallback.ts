import { GatewayError } from '../canonical/error.ts'
import { workOf } from '../canonical/work.ts'
import type { Channel } from '../channel/index.ts'
import { fitnessOf, formatFor } from '../providers/index.ts'
import type { Attempt } from './types.ts'

/** As many models of a channel are remembered to have no completions. */
const MOST = 1000

const found = new WeakMap<Channel, Set<string>>()

/**
 * The attempt, or, where it asks for a completion of a model whose upstream has none for it, the same by way of a
 * conversation: vendors have completions for few of their models, and say so only when they are asked (FORMATS §3).
 *
 * @throws GatewayError as `run` does.
 */
export function withCompletionFallback(attempt: Attempt, run: Run): Promise<void> {
  const other = otherwise(attempt)
  return other === undefined ? run(attempt) : orElse(attempt, other, run)
}

type Run = (attempt: Attempt) => Promise<void>

async function orElse(attempt: Attempt, other: Attempt, run: Run): Promise<void> {
  const { candidate, channel, call } = attempt
  if (found.get(channel)?.has(candidate.upstreamModel) === true) return run(other)
  try {
    await run(attempt)
  } catch (thrown) {
    if (call.reply.begun || call.reply.gone || !hasNone(thrown)) throw thrown
    await tried(run, other, thrown)
    remember(channel, candidate.upstreamModel)
  }
}

function otherwise(attempt: Attempt): Attempt | undefined {
  const { candidate, request } = attempt
  if (candidate.format.format !== 'completions' || workOf(request) !== 'completion') return undefined
  const format = candidate.channel.formats.find(
    one => one.format !== 'completions' && fitnessOf(one.format, 'completion', one.dialect) !== undefined,
  )
  if (format === undefined) return undefined
  const own = formatFor(format, { model: candidate.upstreamModel, native: false })
  return { ...attempt, candidate: { ...candidate, format: own, native: false } }
}

const IN_WORDS = /\bchat model\b|\bnot (?:a |supported\b).*\bcompletions?\b/i

/** Whether an upstream says that it has no completions, or none for this model. */
function hasNone(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false
  const { kind, message } = thrown.error
  return kind === 'not-found' || kind === 'method-not-allowed' || (kind === 'invalid-request' && IN_WORDS.test(message))
}

/** What cannot be said in a conversation was no use to try: then the first failure stands. */
async function tried(run: Run, attempt: Attempt, before: unknown): Promise<void> {
  try {
    await run(attempt)
  } catch (thrown) {
    throw thrown instanceof GatewayError && thrown.error.kind === 'cannot-express' ? before : thrown
  }
}

function remember(channel: Channel, model: string): void {
  const models = found.get(channel) ?? new Set<string>()
  if (models.size < MOST) models.add(model)
  found.set(channel, models)
}
