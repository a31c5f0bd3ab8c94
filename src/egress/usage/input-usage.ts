import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { type Format, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Usage } from '../../canonical/result.ts'
import { extrasFor } from '../fields.ts'

const INPUT_USAGE_LOSSES: Unwritten<Usage, 'input'> = {
  searches: 'no-count-of-searches',
  cacheRead: 'input-only',
  cacheWrite: 'input-only',
  output: 'input-only',
  reasoning: 'input-only',
  outputBy: 'input-only',
  inputBy: 'no-counts-by-kind',
  hostedCalls: 'no-count-of-hosted-calls',
}

/** Writes usage that consists only of input counts. `fields` are required, and 0 if the count is unknown. */
export function writeInputUsage(
  usage: Usage | undefined,
  format: Format,
  fields: readonly string[],
  losses: Losses,
): JsonObject {
  const nativeUsage = nativeCounts(usage, format, fields)
  if (nativeUsage !== undefined) return nativeUsage
  losses.dropFields(usage, ['usage'], INPUT_USAGE_LOSSES)
  if (usage === undefined) losses.add(['usage'], { input: 0 }, 'usage-required')
  else if (usage.input === undefined) losses.add(['usage', 'input'], 0, 'count-required')
  return { ...Object.fromEntries(fields.map(field => [field, usage?.input ?? 0])), ...extrasFor(usage, format) }
}

/**
 * Returns the upstream's own usage with required counts added: Voyage only reports the total, but OpenAI's clients read
 * `prompt_tokens`. Returns undefined if the usage was received in another format.
 */
export function nativeCounts(
  usage: Usage | undefined,
  format: Format,
  fields: readonly string[],
): JsonObject | undefined {
  const reported = usage && unchangedWire<JsonObject>(usage, format)
  const missing = usage?.input === undefined ? [] : fields.filter(field => reported?.[field] == null)
  return reported && { ...reported, ...Object.fromEntries(missing.map(field => [field, usage!.input!])) }
}

/** Settings that affect the answer but add no input tokens. */
const UNCOUNTED_SETTINGS = ['sampling', 'endUser', 'metadata', 'serviceTier', 'cacheKey'] as const
const UNCOUNTED_OUTPUT = ['modalities', 'candidates', 'verbosity', 'image', 'audio', 'video', 'completion'] as const

/**
 * Removes two kinds of fields from a token count request: fields that no upstream counts, and fields in `otherFields`,
 * which the format's counting endpoint lacks. None of them affects the count, so the losses are hidden from the caller.
 */
export function countable(
  original: CanonicalRequest,
  losses: Losses,
  otherFields: readonly ('cache' | 'parallelToolCalls' | 'state')[],
): CanonicalRequest {
  const request: { -readonly [K in keyof CanonicalRequest]: CanonicalRequest[K] } = { ...original, sampling: {} }
  const output: { -readonly [K in keyof CanonicalRequest['output']]: CanonicalRequest['output'][K] } = {
    ...original.output,
  }
  for (const field of [...UNCOUNTED_SETTINGS, ...otherFields]) {
    if (original[field] === undefined) continue
    losses.dropRestored([field], 'not-counted')
    if (field !== 'sampling') delete request[field]
  }
  for (const field of UNCOUNTED_OUTPUT) {
    if (original.output[field] === undefined) continue
    losses.dropRestored(['output', field], 'not-counted')
    delete output[field]
  }
  return { ...request, output }
}
const USAGE_LOSSES: Unwritten<
  Usage,
  'input' | 'cacheWrite' | 'output' | 'reasoning' | 'outputBy' | 'searches' | 'hostedCalls'
> = { cacheRead: 'one-count-only', inputBy: 'one-count-only' }

/** Returns the input tokens of a token count, for formats that report a single number. */
export function countedTokens({ usage }: CanonicalResult, losses: Losses): number {
  if (usage?.input === undefined) losses.add(['usage'], { input: 0 }, 'count-required')
  else losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  return usage?.input ?? 0
}
