import type { JsonObject } from '../canonical/node.ts'
import { number, texts } from './fields.ts'

/** Sampling parameters that chat completions and text completions have in common (FORMATS §§2, 3). */
export function readSharedSampling(body: JsonObject) {
  const stop = body['stop']
  return {
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    frequencyPenalty: number(body['frequency_penalty']),
    presencePenalty: number(body['presence_penalty']),
    seed: number(body['seed']),
    stop: typeof stop === 'string' ? [stop] : texts(stop),
  }
}
