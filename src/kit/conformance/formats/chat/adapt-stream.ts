import type { Format } from '../../format.ts'
import { listOf, objectOf, parseJson } from '../../json.ts'
import { readSse } from '../../sse.ts'

/**
 * Leaves out the chunk with usage if the request does not ask for it, as OpenAI does. Source:
 * https://platform.openai.com/docs/api-reference/chat/create#chat_create-stream_options
 */
export const adaptStream: NonNullable<Format['adaptStream']> = (stream, { body }) => {
  const type = 'text/event-stream; charset=utf-8'
  if (objectOf(body['stream_options'])['include_usage'] === true) return { type, bytes: stream }
  const kept = readSse(stream).events.flatMap(({ data, start, end }) => {
    const chunk = objectOf(parseJson(data))
    const isUsage = chunk['usage'] != null && listOf(chunk['choices']).length === 0
    return isUsage ? [] : [stream.subarray(start, end)]
  })
  return { type, bytes: Buffer.concat(kept) }
}
