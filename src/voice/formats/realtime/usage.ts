import { defined, isObject, type Json, type JsonObject } from '../../../canonical/node.ts'
import type { Usage } from '../../../canonical/result.ts'
import { REALTIME } from './wire.ts'

/**
 * Reads the usage of a response, or of a transcription billed by tokens. Returns undefined if it has no token counts.
 */
export function readUsage(value: Json | undefined): Usage | undefined {
  if (!isObject(value) || (value['input_tokens'] === undefined && value['output_tokens'] === undefined))
    return undefined
  const input = object(value['input_token_details'])
  const output = object(value['output_token_details'])
  return defined({
    input: count(value['input_tokens']),
    output: count(value['output_tokens']),
    cacheRead: count(input['cached_tokens']),
    inputBy: modalities(input),
    outputBy: modalities(output),
    extras: isObject(input['cached_tokens_details'])
      ? { [REALTIME]: { cached_tokens_details: input['cached_tokens_details'] } }
      : undefined,
  }) as Usage
}

const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const count = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && value >= 0 ? value : undefined

function modalities(details: JsonObject): Usage['inputBy'] {
  const by = defined({
    text: count(details['text_tokens']),
    audio: count(details['audio_tokens']),
    image: count(details['image_tokens']),
  })
  return Object.keys(by).length === 0 ? undefined : by
}

export function writeUsage({ input = 0, output = 0, cacheRead = 0, inputBy, outputBy, extras }: Usage): JsonObject {
  return {
    /** Writes the usage of a response. Tokens without a stated modality count as text tokens. */
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_token_details: {
      text_tokens: inputBy?.text ?? (inputBy === undefined ? input : 0),
      audio_tokens: inputBy?.audio ?? 0,
      image_tokens: inputBy?.image ?? 0,
      cached_tokens: cacheRead,
      ...extras?.[REALTIME],
    },
    output_token_details: {
      text_tokens: outputBy?.text ?? (outputBy === undefined ? output : 0),
      audio_tokens: outputBy?.audio ?? 0,
    },
  }
}

/** Writes the usage of a transcription billed by tokens. */
export const writeTranscriptUsage = ({ input = 0, output = 0, inputBy }: Usage): JsonObject => ({
  type: 'tokens',
  total_tokens: input + output,
  input_tokens: input,
  output_tokens: output,
  input_token_details: { text_tokens: inputBy?.text ?? 0, audio_tokens: inputBy?.audio ?? 0 },
})
