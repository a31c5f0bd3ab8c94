import { encodeBase64 } from '../../../canonical/base64.ts'
import type { Part, ToolCallPart, ToolResultPart } from '../../../canonical/content.ts'
import { append } from '../../../canonical/lists.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../../canonical/node.ts'
import { type ConversationItem, PCM_16K, type TurnDetection } from '../../../canonical/voice-session.ts'
import type { LiveDialect } from './dialect.ts'
import type { LiveModel } from './models.ts'
import { AUDIO_TYPE, type Content, type FunctionResponse } from './wire.ts'

/**
 * Writers of frames for the upstream, without side effects. `losses.ts` lists everything that the frames cannot
 * express.
 */

export const ACTIVITY_START = '{"realtimeInput":{"activityStart":{}}}'
export const ACTIVITY_END = '{"realtimeInput":{"activityEnd":{}}}'
/** Frame that informs automatic activity detection that no more audio follows for now. */
const STREAM_END = '{"realtimeInput":{"audioStreamEnd":true}}'

/** Silence that ends speech at Google Cloud, beyond the silence that detection waits for, in milliseconds. */
const EXTRA_SILENCE = 500
/** Silence that detection waits for by default, in milliseconds. */
const DEFAULT_SILENCE = 1000

/** Writes the end of the audio for automatic activity detection. Google Cloud has no frame for it, so it gets silence. */
export function writeStreamEnd({ vertex }: LiveDialect, detection: TurnDetection | null | undefined): string {
  if (!vertex) return STREAM_END
  const silence = detection?.type === 'silence' ? (detection.silenceMs ?? DEFAULT_SILENCE) : DEFAULT_SILENCE
  return writeAudio(new Uint8Array(2 * Math.ceil(((silence + EXTRA_SILENCE) * PCM_16K.rate) / 1000)))
}

export const writeAudio = (audio: Uint8Array): string =>
  `{"realtimeInput":{"audio":{"mimeType":"${AUDIO_TYPE}","data":"${encodeBase64(audio)}"}}}`

/** Writes conversation turns. The model answers if `turnComplete` is set. */
export const writeTurns = (turns: readonly Content[], turnComplete: boolean): string =>
  JSON.stringify({ clientContent: turns.length === 0 ? { turnComplete } : { turns, turnComplete } })

export const writeToolResponse = (functionResponses: readonly FunctionResponse[]): string =>
  JSON.stringify({ toolResponse: { functionResponses } })

/**
 * Writes user turns as `realtimeInput` frames. Turns of the model have no frames. Each text triggers an answer, and the
 * next text interrupts it, so that all texts are one frame, after the pictures (livekit/agents pull request 5238,
 * 2026-03-27).
 *
 * @param speech writes the frames of a turn's audio, which triggers an answer, too.
 */
export function writeRealtimeTurns(turns: readonly Content[], speech: (audio: JsonObject) => string[]): string[] {
  const frames: string[] = []
  let texts: string[] = []
  const flush = (): void => {
    if (texts.length > 0) frames.push(JSON.stringify({ realtimeInput: { text: texts.join('\n') } }))
    texts = []
  }
  for (const part of turns.flatMap(({ role, parts }) => (role === 'model' ? [] : parts))) {
    const { text, inlineData } = part
    if (typeof text === 'string') texts.push(text)
    else if (isAudio(part)) {
      flush()
      append(frames, speech(inlineData as JsonObject))
    } else if (inlineData !== undefined) frames.push(JSON.stringify({ realtimeInput: { video: inlineData } }))
  }
  flush()
  return frames
}

/** Returns true for a part with audio. */
export const isAudio = ({ inlineData }: JsonObject): boolean =>
  isObject(inlineData) && String(inlineData['mimeType']).startsWith('audio/')

export const writeRealtimeAudio = (audio: JsonObject): string => JSON.stringify({ realtimeInput: { audio } })

/** Converts a message or a call to a turn. Returns undefined if no part of the item can be sent. */
export function contentOf({ role, content }: ConversationItem, model: LiveModel): Content | undefined {
  const parts = content.flatMap(part => partOf(part, model))
  return parts.length === 0 ? undefined : { role: role === 'assistant' ? 'model' : 'user', parts }
}

function partOf(part: Part, model: LiveModel): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'media': {
      const hasText = part.transcript !== undefined && part.transcript !== ''
      const isTaken = part.kind !== 'audio' || model.audioInTurns || !hasText
      if (part.source.type === 'base64' && part.source.data !== '' && isTaken)
        return [{ inlineData: { mimeType: mediaTypeOf(part.source.mediaType), data: part.source.data } }]
      return hasText ? [{ text: part.transcript! }] : []
    }
    case 'tool-call':
      return model.callsInTurns
        ? [{ functionCall: { id: part.id, name: part.name, args: parseObject(part.arguments) ?? {} } }]
        : [{ text: callText(part) }]
    default:
      return []
  }
}

/** Returns a call of an earlier session as text. */
export const callText = ({ name, arguments: args }: ToolCallPart): string =>
  `[Called the function ${name} with ${args === '' ? '{}' : args}]`

/** Returns the result of such a call as text. */
export const resultText = (name: string, response: JsonObject): string =>
  `[The function ${name} returned ${JSON.stringify(response)}]`

/** Returns the media type to send. Audio in items has already been converted to the upstream's format. */
const mediaTypeOf = (mediaType: string): string => (mediaType.startsWith('audio/') ? AUDIO_TYPE : mediaType)

/**
 * Returns the response to a call of the upstream. A JSON object is sent unchanged. Other text is sent in `output`, or
 * in `error` if the call failed.
 */
export function resultOf(part: ToolResultPart, call: { readonly id?: string; readonly name: string }) {
  const text = part.content.map(one => (one.type === 'text' ? one.text : '')).join('')
  const object = part.failed === true ? undefined : parseObject(text)
  const response: Json = object ?? (part.failed === true ? { error: text } : { output: text })
  return { ...call, response } satisfies FunctionResponse
}

/** Returns a turn with the result of a call that the client itself added to the history. */
export const clientCallResult = ({ id, name, response }: FunctionResponse, { callsInTurns }: LiveModel): Content => ({
  role: 'user',
  parts: [
    callsInTurns
      ? { functionResponse: { ...(id === undefined ? {} : { id }), name, response } }
      : { text: resultText(name, response) },
  ],
})
