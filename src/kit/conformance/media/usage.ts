import type { UsageFacts } from '../facts.ts'
import { compact, type Json, type JsonObject, numberOf, objectOf } from '../json.ts'

/** Token counts of an answer about media, including counts per modality. */
export interface MediaUsage extends UsageFacts {
  readonly inputText?: number
  readonly inputImage?: number
  readonly inputAudio?: number
  readonly outputText?: number
  readonly outputImage?: number
  /** Seconds of audio, where audio is billed by time. */
  readonly seconds?: number
}

/**
 * Returns the count of a modality, or undefined if it is zero or equals the total and therefore adds no information.
 */
export const partOf = (count: number | undefined, sum: Json | undefined): number | undefined =>
  count === sum ? undefined : count || undefined

/**
 * Returns the facts of the `usage` object of OpenAI's media endpoints. A count of 0 means that the modality is absent.
 */
export function mediaUsage(usage: JsonObject): MediaUsage {
  const input = objectOf(usage['input_tokens_details'] ?? usage['input_token_details'])
  const output = objectOf(usage['output_tokens_details'])
  return compact({
    input: numberOf(usage['input_tokens']),
    output: numberOf(usage['output_tokens']),
    inputText: partOf(numberOf(input['text_tokens']), usage['input_tokens']),
    inputImage: numberOf(input['image_tokens']) || undefined,
    inputAudio: numberOf(input['audio_tokens']) || undefined,
    outputText: numberOf(output['text_tokens']) || undefined,
    outputImage: numberOf(output['image_tokens']) || undefined,
    seconds: numberOf(usage['seconds']),
  }) as MediaUsage
}

/** Describes the fault if the total is not the sum of its parts. */
export function totalFault(usage: JsonObject): string | undefined {
  const [input = 0, output = 0, total] = ['input_tokens', 'output_tokens', 'total_tokens'].map(one =>
    numberOf(usage[one]),
  )
  return total === undefined || input + output === total
    ? undefined
    : `The total is ${total} instead of ${input} + ${output}.`
}
