import { type Format, isObject, type JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, left, someOf } from '../fields.ts'
import { anyCount, settled } from './counts.ts'

const BY_MODALITY = {
  text_tokens: 'text',
  audio_tokens: 'audio',
  image_tokens: 'image',
  video_tokens: 'video',
} as const
const MODALITIES = Object.keys(BY_MODALITY)

/** How a format names its counts, and the details of them that are read. */
export interface CountNames {
  readonly input: string
  readonly output: string
  readonly inputDetails: ReadonlySet<string>
  readonly outputDetails: ReadonlySet<string>
}

const NAMES: CountNames = {
  input: 'prompt_tokens',
  output: 'completion_tokens',
  inputDetails: new Set([...MODALITIES, 'cached_tokens', 'cache_write_tokens']),
  outputDetails: new Set([...MODALITIES, 'reasoning_tokens']),
}

/**
 * Tokens as chat completions and text completions count them, by modality as well, or as a format under other names;
 * most upstreams include cached and reasoning tokens already (FORMATS §16.3).
 */
export function readUsage(format: Format, wire: JsonObject, names = NAMES): Usage {
  const input = anyObject(wire[`${names.input}_details`])
  const output = anyObject(wire[`${names.output}_details`])
  const cacheRead = anyCount(input?.['cached_tokens'])
  const cacheWrite = anyCount(input?.['cache_write_tokens'])
  const reasoning = anyCount(output?.['reasoning_tokens'])
  const reported = {
    input: anyCount(wire[names.input]),
    output: anyCount(wire[names.output]),
    total: anyCount(wire['total_tokens']),
  }
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const byKind = names === NAMES ? { inputBy: byModality(input), outputBy: byModality(output) } : {}
  return defined({
    ...settled({ ...reported, cached, reasoning }),
    ...{ cacheRead, cacheWrite, reasoning },
    ...byKind,
    extras: extrasOf(format, wire, names),
  })
}

function byModality(details: JsonObject | undefined): { [M in Modality]?: number } | undefined {
  if (details === undefined) return undefined
  const counts: { [M in Modality]?: number } = {}
  let some = false
  for (const field in BY_MODALITY) {
    const count = anyCount(details[field])
    if (count === undefined) continue
    counts[BY_MODALITY[field as keyof typeof BY_MODALITY]] = count
    some = true
  }
  return some ? counts : undefined
}

/** Fields of the usage and its two objects of details that canonical has no field for, and known ones of a wrong type. */
function extrasOf(format: Format, wire: JsonObject, { input, output, inputDetails, outputDetails }: CountNames) {
  const counts = [input, output, 'total_tokens']
  const details = [
    [`${input}_details`, inputDetails],
    [`${output}_details`, outputDetails],
  ] as const
  const taken = new Set<string>(counts.filter(field => typeof wire[field] === 'number'))
  const inside: { [field: string]: JsonObject | undefined } = {}
  for (const [field, known] of details) {
    const value = wire[field]
    if (!isObject(value)) continue
    taken.add(field)
    inside[field] = left(format, value, known).extras?.[format]
  }
  const extras = someOf({ ...left(format, wire, taken).extras?.[format], ...inside })
  return extras && { [format]: extras as JsonObject }
}
