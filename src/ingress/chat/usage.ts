import type { JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, rest } from '../fields.ts'
import { readCounts } from '../openai-answer.ts'
import { anyCount } from '../usage/counts.ts'

const FORMAT = 'chat'

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

/** Tokens as chat counts them, by modality as well; how they were written is kept whole. */
export function readUsage(wire: JsonObject): Usage {
  const prompt = anyObject(wire['prompt_tokens_details'])
  const completion = anyObject(wire['completion_tokens_details'])
  return defined({
    ...readCounts(wire),
    inputBy: byModality(prompt),
    outputBy: byModality(completion),
    extras: extrasOf(wire, prompt, completion),
    spelling: { [FORMAT]: { whole: wire } },
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
function extrasOf(wire: JsonObject, prompt: JsonObject | undefined, completion: JsonObject | undefined) {
  const extras = defined({
    ...rest(FORMAT, wire, TAKEN).extras?.[FORMAT],
    prompt_tokens_details: prompt && rest(FORMAT, prompt, PROMPT).extras?.[FORMAT],
    completion_tokens_details: completion && rest(FORMAT, completion, COMPLETION).extras?.[FORMAT],
  }) as JsonObject
  return Object.keys(extras).length === 0 ? undefined : { [FORMAT]: extras }
}
