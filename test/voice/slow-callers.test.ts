import { expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { TestServer } from '../builders/gateway.ts'
import { pause } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { channelTo, created, ScriptedUpstream } from './upstream.ts'

/* A caller that reads slowly hears in sum exactly what the upstream said, once and in order. */

const closing = closingAfterEach()

/** Audio whose samples count on, so that a lost, repeated or swapped piece shows. */
function counting(size: number): Buffer {
  const audio = Buffer.alloc(size)
  for (let at = 0; at < size; at += 4) audio.writeUInt32LE(at / 4, at)
  return audio
}

const at = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 }
const SIZE = 6 * 2 ** 20
const CHUNK = 30_000

test.each([
  ['relayed', {}],
  ['translated', { 'openai-beta': 'realtime=v1' }],
] as const)(
  'of a session that is %s, although the upstream says it all at once and ends the session',
  async (_, headers) => {
    const audio = counting(SIZE)
    const upstream = await ScriptedUpstream.open(async connection => {
      connection.send(created())
      if ('openai-beta' in headers) {
        await connection.until(1)
        connection.send({ ...created(), type: 'session.updated' })
      }
      connection.send({ type: 'response.created', response: { id: 'r' } })
      const item = { id: 'i', type: 'message', role: 'assistant', content: [] }
      connection.send({ type: 'response.output_item.added', ...at, item })
      connection.send({ type: 'response.content_part.added', ...at, part: { type: 'audio' } })
      for (let from = 0; from < SIZE; from += CHUNK)
        connection.send({
          type: 'response.output_audio.delta',
          ...at,
          delta: audio.toString('base64', from, Math.min(SIZE, from + CHUNK)),
        })
      connection.send({ type: 'response.done', response: { id: 'r', status: 'completed', output: [], usage: null } })
      connection.socket.close(1000)
    })
    closing.push(() => upstream.close())
    const testServer = await TestServer.open([channelTo(upstream)])
    closing.push(() => testServer.server.close(0))
    const caller = await Client.open(testServer.server.address, headers, '/v1/realtime?model=voice')
    while (caller.closed === undefined) {
      caller.socket.pause()
      await pause(2)
      caller.socket.resume()
      await pause(1)
    }
    const deltas = caller.events.filter(({ type }) => /^response\.(output_)?audio\.delta$/.test(type))
    const heard = Buffer.concat(deltas.map(({ delta }) => Buffer.from(delta, 'base64')))
    expect(heard.equals(audio)).toBe(true)
    expect(caller.events.filter(({ type }) => type === 'response.done')).toHaveLength(1)
    expect(caller.closed).toBe(1000)
  },
)
