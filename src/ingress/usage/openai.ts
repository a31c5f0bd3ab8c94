import { type Format, isObject, type JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, extrasOf } from '../fields.ts'
import { anyCount, reconcileCounts } from './counts.ts'

/** Modalities by the wire field with their token count. */
const BY_MODALITY = {
  text_tokens: 'text',
  audio_tokens: 'audio',
  image_tokens: 'image',
  video_tokens: 'video',
} as const
/** A format's field names for counts, for detail objects, and for the details that are read. */
export interface CountNames {
  readonly input: string
  readonly output: string
  readonly inputDetails: string
  readonly outputDetails: string
  readonly fields: ReadonlySet<string>
  readonly inputFields: ReadonlySet<string>
  readonly outputFields: ReadonlySet<string>
}

/**
 * Derives the names of the detail objects from those of the counts.
 *
 * @param modalities the fields of both detail objects that count tokens by modality.
 */
export function countNames(input: string, output: string, modalities: readonly string[] = []): CountNames {
  const [inputDetails, outputDetails] = [`${input}_details`, `${output}_details`]
  return {
    ...{ input, output, inputDetails, outputDetails },
    fields: new Set([input, output, 'total_tokens', inputDetails, outputDetails]),
    inputFields: new Set([...modalities, 'cached_tokens', 'cache_write_tokens']),
    outputFields: new Set([...modalities, 'reasoning_tokens']),
  }
}

/**
 * Fields of DeepSeek, Kimi, Mistral and Databricks for cached tokens, beside the prompt's tokens
 * (docs/wire/chat.md#usage). They may accompany or replace the detail objects.
 */
const CACHE_HITS = ['prompt_cache_hit_tokens', 'cached_tokens', 'num_cached_tokens', 'cache_read_input_tokens'] as const

/**
 * Fields for tokens written to a cache: OpenAI's among the details of the prompt, then those of Model Studio, LiteLLM and
 * new-api, which may also state the first of them beside the prompt's tokens (docs/wire/chat.md#usage).
 */
const CACHE_WRITES = ['cache_creation_input_tokens', 'cache_creation_tokens', 'cached_creation_tokens'] as const

const CHAT_NAMES = countNames('prompt_tokens', 'completion_tokens', Object.keys(BY_MODALITY))
const DEFAULT_NAMES: CountNames = {
  ...CHAT_NAMES,
  fields: new Set([...CHAT_NAMES.fields, ...CACHE_HITS, CACHE_WRITES[0]]),
  inputFields: new Set([...CHAT_NAMES.inputFields, ...CACHE_WRITES]),
}

/**
 * Reads usage in the form of chat and text completions. Other formats pass their own `names` and have no counts by
 * modality. Most upstreams include cached and reasoning tokens in the counts (docs/wire/mapping.md#usage).
 */
export function readUsage(format: Format, wire: JsonObject, names = DEFAULT_NAMES): Usage {
  const input = anyObject(wire[names.inputDetails])
  const output = anyObject(wire[names.outputDetails])
  const cacheRead = anyCount(input?.['cached_tokens']) ?? (names === DEFAULT_NAMES ? cacheHits(wire) : undefined)
  const cacheWrite =
    anyCount(input?.['cache_write_tokens']) ?? (names === DEFAULT_NAMES ? cacheWrites(wire, input) : undefined)
  const reasoning = anyCount(output?.['reasoning_tokens'])
  const reported = {
    input: anyCount(wire[names.input]),
    output: anyCount(wire[names.output]),
    total: anyCount(wire['total_tokens']),
  }
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const byKind = names === DEFAULT_NAMES ? { inputBy: byModality(input), outputBy: byModality(output) } : {}
  return defined({
    ...reconcileCounts({ ...reported, cached, reasoning, audio: byKind.inputBy?.audio }),
    ...{ cacheRead, cacheWrite, reasoning },
    ...byKind,
    extras: usageExtras(format, wire, names, input, output),
  })
}

function cacheHits(wire: JsonObject): number | undefined {
  for (const field of CACHE_HITS) {
    const count = anyCount(wire[field])
    if (count !== undefined) return count
  }
  return undefined
}

const cacheWrites = (wire: JsonObject, details: JsonObject | undefined): number | undefined =>
  anyCount(details?.[CACHE_WRITES[0]]) ??
  anyCount(details?.[CACHE_WRITES[1]]) ??
  anyCount(details?.[CACHE_WRITES[2]]) ??
  anyCount(wire[CACHE_WRITES[0]])

function byModality(details: JsonObject | undefined): { [M in Modality]?: number } | undefined {
  if (details === undefined) return undefined
  const counts: { [M in Modality]?: number } = {}
  let hasCount = false
  for (const field in BY_MODALITY) {
    const count = anyCount(details[field])
    if (count === undefined) continue
    counts[BY_MODALITY[field as keyof typeof BY_MODALITY]] = count
    hasCount = true
  }
  return hasCount ? counts : undefined
}

/**
 * Collects fields of the usage and its two detail objects that have no canonical field. If the format has its own
 * names, known fields with the wrong type are included. The chat format instead rewrites them from the valid counts.
 */
function usageExtras(
  format: Format,
  wire: JsonObject,
  names: CountNames,
  input: JsonObject | undefined,
  output: JsonObject | undefined,
) {
  const wrong = names === DEFAULT_NAMES ? undefined : unreadableFields(wire, names)
  const outer = extrasOf(format, wire, names.fields, wrong).extras?.[format]
  const inputExtras = input && extrasOf(format, input, names.inputFields).extras?.[format]
  const outputExtras = output && extrasOf(format, output, names.outputFields).extras?.[format]
  if (outer === undefined && inputExtras === undefined && outputExtras === undefined) return undefined
  const inside = defined({ [names.inputDetails]: inputExtras, [names.outputDetails]: outputExtras })
  return { [format]: { ...outer, ...inside } as JsonObject }
}

function unreadableFields(
  wire: JsonObject,
  { fields: taken, inputDetails, outputDetails }: CountNames,
): string[] | undefined {
  let fields: string[] | undefined
  for (const field of taken) {
    const value = wire[field]
    const isObjects = field === inputDetails || field === outputDetails
    if (value != null && (isObjects ? !isObject(value) : typeof value !== 'number')) (fields ??= []).push(field)
  }
  return fields
}
