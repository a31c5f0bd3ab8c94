import type { JsonObject } from '../../src/canonical/node.ts'
import { created, type Script } from './upstream.ts'

/** A scripted session: frames the upstream sends, and `null` where it waits for the client's next event. */
export type Play = readonly (JsonObject | null)[]

const item = (id: string, more: JsonObject): JsonObject => ({
  id,
  object: 'realtime.item',
  status: 'completed',
  ...more,
})
const at = { response_id: 'resp_1', item_id: 'item_2', output_index: 0, content_index: 0 }
const message = (content: readonly JsonObject[]) => item('item_2', { type: 'message', role: 'assistant', content })

/** A turn with text and audio, including every kind of event. */
export const SPOKEN_TURN: Play = [
  null,
  {
    type: 'conversation.item.added',
    item: item('item_1', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }),
  },
  {
    type: 'conversation.item.done',
    item: item('item_1', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }),
  },
  null,
  {
    type: 'response.created',
    response: { id: 'resp_1', object: 'realtime.response', status: 'in_progress', output: [] },
  },
  {
    type: 'response.output_item.added',
    response_id: 'resp_1',
    output_index: 0,
    item: { ...message([]), status: 'in_progress' },
  },
  { type: 'conversation.item.added', item: { ...message([]), status: 'in_progress' } },
  { type: 'response.content_part.added', ...at, part: { type: 'audio', transcript: '' } },
  { type: 'response.output_audio_transcript.delta', ...at, delta: 'Hello ' },
  { type: 'response.output_audio.delta', ...at, delta: Buffer.alloc(480, 1).toString('base64') },
  { type: 'response.output_audio_transcript.delta', ...at, delta: 'there.' },
  { type: 'response.output_audio.done', ...at },
  { type: 'response.output_audio_transcript.done', ...at, transcript: 'Hello there.' },
  { type: 'response.content_part.done', ...at, part: { type: 'audio', transcript: 'Hello there.' } },
  { type: 'conversation.item.done', item: message([{ type: 'output_audio', transcript: 'Hello there.' }]) },
  {
    type: 'response.output_item.done',
    response_id: 'resp_1',
    output_index: 0,
    item: message([{ type: 'output_audio', transcript: 'Hello there.' }]),
  },
  {
    type: 'response.done',
    response: {
      ...{ id: 'resp_1', object: 'realtime.response', status: 'completed', status_details: null },
      output: [message([{ type: 'output_audio', transcript: 'Hello there.' }])],
      usage: { total_tokens: 30, input_tokens: 10, output_tokens: 20, input_token_details: { text_tokens: 10 } },
    },
  },
  { type: 'rate_limits.updated', rate_limits: [{ name: 'tokens', limit: 100, remaining: 70, reset_seconds: 1 }] },
]

export const CLIENT: readonly JsonObject[] = [
  {
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
  },
  { type: 'response.create' },
]

/** A turn with a function call. */
const call = (args: string, status: string): JsonObject => ({
  ...{ id: 'item_2', object: 'realtime.item', status, type: 'function_call' },
  ...{ name: 'get_weather', call_id: 'call_1', arguments: args },
})
const callAt = { response_id: 'resp_1', item_id: 'item_2', output_index: 0, call_id: 'call_1' }
export const FUNCTION_CALL: Play = [
  null,
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', response_id: 'resp_1', output_index: 0, item: call('', 'in_progress') },
  { type: 'response.function_call_arguments.delta', ...callAt, delta: '{"city":' },
  { type: 'response.function_call_arguments.delta', ...callAt, delta: '"Paris"}' },
  { type: 'response.function_call_arguments.done', ...callAt, name: 'get_weather', arguments: '{"city":"Paris"}' },
  {
    type: 'response.output_item.done',
    response_id: 'resp_1',
    output_index: 0,
    item: call('{"city":"Paris"}', 'completed'),
  },
  {
    type: 'response.done',
    response: { id: 'resp_1', status: 'completed', output: [call('{"city":"Paris"}', 'completed')], usage: null },
  },
]

/** Plays a session: creates it, acknowledges updates at once, and stops where `until` says. */
export const playing =
  (play: Play, stop?: { readonly at: number; readonly act: (socket: { terminate(): void }) => void }): Script =>
  async connection => {
    connection.send(created())
    let taken = 0
    const next = async (): Promise<void> => {
      for (;;) {
        await connection.until(taken + 1)
        const event = connection.received[taken++]!
        if (event['type'] !== 'session.update') return
        connection.send({ ...created(), type: 'session.updated' })
      }
    }
    for (const [index, frame] of play.entries()) {
      if (stop?.at === index) {
        stop.act(connection.socket)
        return
      }
      if (frame === null) await next()
      else connection.send({ event_id: `event_${index}`, ...frame })
    }
    for (;;) await next()
  }
