import { encodeBase64 } from '../../../canonical/base64.ts'
import type { Part, ToolResultPart } from '../../../canonical/content.ts'
import { type Json, type JsonObject, parseObject } from '../../../canonical/node.ts'
import type { ConversationItem } from '../../../canonical/voice-session.ts'
import { AUDIO_TYPE, type Content, type FunctionResponse } from './wire.ts'

/**
 * Writers of frames for the upstream, without side effects. `losses.ts` lists everything that the frames cannot
 * express.
 */

export const ACTIVITY_START = '{"realtimeInput":{"activityStart":{}}}'
export const ACTIVITY_END = '{"realtimeInput":{"activityEnd":{}}}'
/** Frame that informs automatic activity detection that no more audio follows for now. */
export const STREAM_END = '{"realtimeInput":{"audioStreamEnd":true}}'

export const writeAudio = (audio: Uint8Array): string =>
  `{"realtimeInput":{"audio":{"mimeType":"${AUDIO_TYPE}","data":"${encodeBase64(audio)}"}}}`

/** Writes conversation turns. The model answers if `turnComplete` is set. */
export const writeTurns = (turns: readonly Content[], turnComplete: boolean): string =>
  JSON.stringify({ clientContent: turns.length === 0 ? { turnComplete } : { turns, turnComplete } })

export const writeToolResponse = (functionResponses: readonly FunctionResponse[]): string =>
  JSON.stringify({ toolResponse: { functionResponses } })

/** Writes a user turn as `realtimeInput` frames, which trigger an answer. Returns no frames for a model turn. */
export function writeRealtimeTurn({ role, parts }: Content): string[] {
  if (role === 'model') return []
  return parts.flatMap(({ text, inlineData }): string[] => {
    if (typeof text === 'string') return [JSON.stringify({ realtimeInput: { text } })]
    if (inlineData === undefined) return []
    const isAudio = String((inlineData as JsonObject)['mimeType']).startsWith('audio/')
    return [JSON.stringify({ realtimeInput: isAudio ? { audio: inlineData } : { video: inlineData } })]
  })
}

/** Converts a message or a call to a turn. Returns undefined if no part of the item can be sent. */
export function contentOf({ role, content }: ConversationItem): Content | undefined {
  const parts = content.flatMap(partOf)
  return parts.length === 0 ? undefined : { role: role === 'assistant' ? 'model' : 'user', parts }
}

function partOf(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'media':
      if (part.source.type === 'base64' && part.source.data !== '')
        return [{ inlineData: { mimeType: mediaTypeOf(part.source.mediaType), data: part.source.data } }]
      return part.transcript === undefined || part.transcript === '' ? [] : [{ text: part.transcript }]
    case 'tool-call':
      return [{ functionCall: { id: part.id, name: part.name, args: parseObject(part.arguments) ?? {} } }]
    default:
      return []
  }
}

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
export const clientCallResult = ({ id, name, response }: FunctionResponse): Content => ({
  role: 'user',
  parts: [{ functionResponse: { ...(id === undefined ? {} : { id }), name, response } }],
})
