import { readFileSync } from 'node:fs'
import type { JsonObject } from '../../src/canonical/node.ts'
import { converseFrame, frames } from '../builders/frames.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { ScriptedUpstream } from '../voice/upstream.ts'

/* Upstreams of formats that the demo does not have. */

const fixture = (name: string): string => readFileSync(`fixtures/converse/${name}`, 'utf8')

const bodyOf = (name: string): JsonObject => {
  const value = JSON.parse(fixture(name)) as JsonObject
  return 'status' in value ? (value['body'] as JsonObject) : value
}

/** Opens an upstream of Converse that answers with a greeting, whole and as binary frames, and counts tokens. */
export const openConverse = () =>
  FakeUpstream.open((response, { url }) => {
    if (url.endsWith('/converse-stream')) {
      const events = [...fixture('hello.events.sse').matchAll(/^event: ?(.*)\r?\ndata: ?(.*)$/gm)]
      frames(response)
      for (const [, name, data] of events) response.write(converseFrame(name!, JSON.parse(data!)))
      return response.end()
    }
    const name = url.endsWith('/count-tokens') ? 'count' : 'hello'
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(JSON.stringify(bodyOf(`${name}.result.json`)))
  })

/** Opens an upstream of OpenAI's voice sessions. Every response is the same text. */
export const openRealtime = () =>
  ScriptedUpstream.open(async connection => {
    let events = 0
    const send = (type: string, fields: JsonObject): void =>
      connection.send({ type, event_id: `event_${++events}`, ...fields })
    const session = { type: 'realtime', object: 'realtime.session', id: 'sess_1', model: 'theirs' }
    send('session.created', { session })
    for (let count = 1; ; count++) {
      await connection.until(count)
      const { type, item } = connection.received[count - 1]!
      if (type === 'session.update') send('session.updated', { session })
      if (type === 'conversation.item.create')
        send('conversation.item.added', { item: { id: 'item_1', ...(item as object) } })
      if (type === 'response.create') {
        const head = { id: 'resp_1', object: 'realtime.response', status: 'in_progress', output: [], usage: null }
        const content = [{ type: 'output_text', text: 'Hello there.' }]
        const message = { id: 'item_2', object: 'realtime.item', type: 'message', role: 'assistant', content }
        send('response.created', { response: head })
        send('response.done', { response: { ...head, status: 'completed', output: [message] } })
      }
    }
  })
