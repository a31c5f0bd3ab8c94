import type { JsonObject } from '../canonical/node.ts'
import { number, texts } from './fields.ts'

/** How tokens are chosen, as far as chat completions and text completions say it alike (FORMATS §§2, 3). */
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
