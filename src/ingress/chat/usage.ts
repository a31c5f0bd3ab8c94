import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, rest, spelling } from '../fields.ts'
import { readCounts } from '../openai-answer.ts'

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

/** Tokens as chat counts them, those of each kind of media as well. */
export function readUsage(wire: JsonObject): Usage {
  const prompt = anyObject(wire['prompt_tokens_details'])
  const completion = anyObject(wire['completion_tokens_details'])
  return defined({
    ...readCounts(wire),
    inputBy: byModality(prompt),
    outputBy: byModality(completion),
    ...detailed(wire, prompt, completion),
  })
}

function byModality(details: JsonObject | undefined): { [M in Modality]?: number } | undefined {
  if (details === undefined) return undefined
  const counts: { [M in Modality]?: number } = {}
  let some = false
  for (const field in BY_MODALITY) {
    const count = details[field]
    if (typeof count !== 'number') continue
    counts[BY_MODALITY[field as keyof typeof BY_MODALITY]] = count
    some = true
  }
  return some ? counts : undefined
}

/** What the count and its two lists of details say beyond canonical; which lists were there is spelling. */
function detailed(wire: JsonObject, prompt: JsonObject | undefined, completion: JsonObject | undefined) {
  const outer = rest(FORMAT, wire, TAKEN)
  const inPrompt = prompt && rest(FORMAT, prompt, PROMPT)
  const inCompletion = completion && rest(FORMAT, completion, COMPLETION)
  const extras = defined({
    ...outer.extras?.[FORMAT],
    prompt_tokens_details: inPrompt?.extras?.[FORMAT],
    completion_tokens_details: inCompletion?.extras?.[FORMAT],
  }) as JsonObject
  const spelt = spelling({
    nulls: outer.spelling?.[FORMAT]?.['nulls'],
    prompt: inPrompt && (inPrompt.spelling?.[FORMAT] ?? {}),
    completion: inCompletion && (inCompletion.spelling?.[FORMAT] ?? {}),
    counted: isObject(wire) && wire['total_tokens'] === undefined ? 'apart' : undefined,
  })
  return {
    extras: Object.keys(extras).length === 0 ? undefined : { [FORMAT]: extras },
    spelling: spelt === undefined ? undefined : { [FORMAT]: spelt },
  }
}
