import type { Format, JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, left } from '../fields.ts'
import { anyCount, settled } from './counts.ts'

const TAKEN = new Set([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
])
const BY_MODALITY = {
  text_tokens: 'text',
  audio_tokens: 'audio',
  image_tokens: 'image',
  video_tokens: 'video',
} as const
const PROMPT = new Set([...Object.keys(BY_MODALITY), 'cached_tokens', 'cache_write_tokens'])
const COMPLETION = new Set([...Object.keys(BY_MODALITY), 'reasoning_tokens'])

/**
 * Tokens as chat completions and text completions count them, by modality as well; most upstreams include cached and
 * reasoning tokens already (formatS §16.3).
 */
export function readUsage(format: Format, wire: JsonObject): Usage {
  const prompt = anyObject(wire['prompt_tokens_details'])
  const completion = anyObject(wire['completion_tokens_details'])
  const cacheRead = anyCount(prompt?.['cached_tokens'])
  const cacheWrite = anyCount(prompt?.['cache_write_tokens'])
  const reasoning = anyCount(completion?.['reasoning_tokens'])
  const reported = {
    input: anyCount(wire['prompt_tokens']),
    output: anyCount(wire['completion_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  return defined({
    ...settled({ ...reported, cached, reasoning }),
    ...{ cacheRead, cacheWrite, reasoning },
    inputBy: byModality(prompt),
    outputBy: byModality(completion),
    extras: extrasOf(format, wire, prompt, completion),
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

/** Fields of the usage and its two objects of details that canonical has no field for. */
function extrasOf(
  format: Format,
  wire: JsonObject,
  prompt: JsonObject | undefined,
  completion: JsonObject | undefined,
) {
  const extras = defined({
    ...left(format, wire, TAKEN).extras?.[format],
    prompt_tokens_details: prompt && left(format, prompt, PROMPT).extras?.[format],
    completion_tokens_details: completion && left(format, completion, COMPLETION).extras?.[format],
  }) as JsonObject
  return Object.keys(extras).length === 0 ? undefined : { [format]: extras }
}
