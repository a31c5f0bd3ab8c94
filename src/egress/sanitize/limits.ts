import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { sha256 } from './sha256.ts'

interface WriteContext {
  readonly native: boolean
  readonly losses: Losses
}

/** Returns the service tier if the format has a tier with this name. A native caller's value is always passed on. */
export function supportedTier(
  tier: string | undefined,
  names: ReadonlySet<string>,
  { native, losses }: WriteContext,
): string | undefined {
  if (native || tier === undefined || names.has(tier)) return tier
  return losses.drop(['serviceTier'], 'no-such-tier')
}

/** OpenAI's maximum length of a user id and of a cache key, in characters. */
const MAX_KEY_LENGTH = 64

/** Returns the user id. An id that is too long is replaced with its SHA-256, which is the same in every request. */
export function endUserOf(endUser: string | undefined, losses: Losses): string | undefined {
  if (endUser === undefined || endUser.length <= MAX_KEY_LENGTH) return endUser
  const hash = sha256(endUser)
  losses.change(['endUser'], hash, 'hashed')
  return hash
}

/**
 * Returns the fields with a cache key that OpenAI takes. A key that is too long is replaced with its SHA-256: "Invalid
 * 'prompt_cache_key': string too long. Expected a string with maximum length 64" (theopenco/llmgateway#3110, read on
 * 2026-12-01).
 */
export function withLegalCacheKey<B extends JsonObject>(body: B, losses: Losses): B {
  const cacheKey = body['prompt_cache_key']
  if (typeof cacheKey !== 'string' || cacheKey.length <= MAX_KEY_LENGTH) return body
  const hash = sha256(cacheKey)
  losses.change(['cacheKey'], hash, 'hashed')
  return { ...body, prompt_cache_key: hash }
}

/**
 * Reports `toolChoice` and `parallelToolCalls` of a request that is sent without tools. The fields are omitted, because
 * OpenAI would answer with 400. Only a required tool call is a real loss.
 */
export function reportNoChoice({ toolChoice, parallelToolCalls }: CanonicalRequest, losses: Losses): void {
  if (toolChoice?.mode === 'required') losses.drop(['toolChoice'], 'no-tools')
  else if (toolChoice !== undefined) losses.dropRestored(['toolChoice'], 'no-tools')
  if (parallelToolCalls !== undefined) losses.dropRestored(['parallelToolCalls'], 'no-tools')
}

/** Returns as many of the first stop sequences as the format allows (docs/wire/mapping.md#request-fields). */
export function limitedStops(
  stop: readonly string[] | undefined,
  limit: number,
  losses: Losses,
): readonly string[] | undefined {
  if (stop === undefined || stop.length <= limit) return stop
  for (let index = limit; index < stop.length; index++) losses.drop(['sampling', 'stop', index], `${limit}-stops-only`)
  return stop.slice(0, limit)
}
