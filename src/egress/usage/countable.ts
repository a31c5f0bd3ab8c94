import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'

/** What says how to answer, and no token more of what is asked. */
const SETTINGS = ['sampling', 'endUser', 'metadata', 'serviceTier', 'cacheKey'] as const
const OUTPUT = ['modalities', 'candidates', 'verbosity', 'image', 'audio', 'video', 'completion'] as const

/**
 * A request whose tokens are to be counted, without what no upstream counts; `beside` names fields that the format's
 * call for counting has no room for. Nobody misses any of it, so the losses are not told to the caller.
 */
export function countable(
  asked: CanonicalRequest,
  losses: Losses,
  beside: readonly ('cache' | 'parallelToolCalls' | 'state')[],
): CanonicalRequest {
  const request: { -readonly [K in keyof CanonicalRequest]: CanonicalRequest[K] } = { ...asked, sampling: {} }
  const output: { -readonly [K in keyof CanonicalRequest['output']]: CanonicalRequest['output'][K] } = {
    ...asked.output,
  }
  for (const field of [...SETTINGS, ...beside]) {
    if (asked[field] === undefined) continue
    losses.hide([field], 'not-counted')
    if (field !== 'sampling') delete request[field]
  }
  for (const field of OUTPUT) {
    if (asked.output[field] === undefined) continue
    losses.hide(['output', field], 'not-counted')
    delete output[field]
  }
  return { ...request, output }
}

/** How many tokens a request has, by a result that tells nothing else; for formats that tell one number. */
export function countedTokens({ usage }: CanonicalResult, losses: Losses): number {
  if (usage?.input === undefined) losses.add(['usage'], { input: 0 }, 'count-required')
  else losses.dropFields(usage, ['usage'], { cacheRead: 'one-count-only', inputBy: 'one-count-only' })
  return usage?.input ?? 0
}
