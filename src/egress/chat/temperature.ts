import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Sampling } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { type BodyChanges, withFields } from '../native.ts'
import type { WriteContext } from './content.ts'

/*
 * MiniMax refuses a temperature of 0 and any above 1, Z.ai any above 1 (docs/wire/chat.md#temperatures). OpenAI takes 0
 * to 2, and most clients let their users choose any of these.
 */

type Field = 'temperature' | 'topP'
type Range = { readonly [F in Field]: readonly [min: number, max: number] }

/** The smallest value that stands for 0. */
const LEAST = 0.01

const RANGES: { readonly [T in NonNullable<ChatDialect['temperatures']>]?: Range } = {
  to_1: { temperature: [0, 1], topP: [LEAST, 1] },
  above_0: { temperature: [LEAST, 1], topP: [LEAST, 1] },
}

/** Returns the values that the upstream takes in place of others, and reports them. */
function nearestValues(sampling: Sampling, { temperatures = 'any' }: ChatDialect, losses: Losses) {
  const changed: { [F in Field]?: number } = {}
  const range = RANGES[temperatures]
  for (const field of ['temperature', 'topP'] as const) {
    const value = sampling[field]
    if (range === undefined || value === undefined) continue
    const [min, max] = range[field]
    const nearest = Math.min(Math.max(value, min), max)
    if (nearest === value) continue
    changed[field] = nearest
    losses.change(['sampling', field], nearest, 'nearest-allowed-value')
  }
  return changed
}

/** Returns the request with a temperature that the upstream takes. */
export function withLegalTemperature(request: CanonicalRequest, { dialect, losses }: WriteContext): CanonicalRequest {
  const changed = nearestValues(request.sampling, dialect, losses)
  return Object.keys(changed).length === 0 ? request : { ...request, sampling: { ...request.sampling, ...changed } }
}

/** Returns the body of a native caller with a temperature that the upstream takes. */
export function withNativeTemperature(
  { sampling }: CanonicalRequest,
  body: JsonObject,
  { dialect, losses }: WriteContext,
): JsonObject {
  const taken = {
    temperature: body['temperature'] == null ? undefined : sampling.temperature,
    topP: body['top_p'] == null ? undefined : sampling.topP,
  }
  const { temperature, topP } = nearestValues(taken as Sampling, dialect, losses)
  const changes: BodyChanges = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  }
  return withFields(body, changes)
}
