import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { PCM_24K } from '../../src/canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../../src/canonical/voice-session-event.ts'
import { dial } from '../../src/voice/dial.ts'
import type { Protocol } from '../../src/voice/protocol.ts'
import { WebSocketUpstream } from '../../src/voice/websocket-upstream.ts'
import { until } from '../builders/time.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Sends each event as a frame and reconnects after a lost connection. */
const protocol = (): Protocol => ({
  audio: { input: PCM_24K, output: PCM_24K },
  address: { path: '/', query: {} },
  losses: () => [],
  opened: () => ({ events: [{ type: 'session-created', settings: {} }] }),
  client: event => ({ send: [JSON.stringify(event)] }),
  server: () => ({}),
  closed: () => ({ reconnect: true }),
})

it('what waits for another connection counts as not taken yet', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  closing.push(() => server.close())
  const connections: WebSocket[] = []
  const frames: string[] = []
  server.on('connection', connection => {
    connections.push(connection)
    connection.on('message', data => frames.push(String(data)))
  })
  const { port } = server.address() as AddressInfo
  const gate = Promise.withResolvers<void>()
  let dialed = 0
  const events: ServerEvent[] = []
  const upstream = await WebSocketUpstream.open(
    {
      ...{ protocol: protocol(), firstEvent: 5000 },
      listener: { event: event => events.push(event), onDrain: () => {}, ended: () => {} },
      dial: async signal => {
        if (++dialed > 1) await gate.promise
        const url = `http://127.0.0.1:${port}`
        return dial({ url, headers: {}, timeout: 5000, maxPayload: 1e6, heartbeat: 5000, signal })
      },
    },
    new AbortController().signal,
  )
  closing.push(() => upstream.close(1000, ''))
  await until(() => connections.length === 1)
  connections[0]!.close()
  await until(() => dialed === 2)
  const audio: ClientEvent = { type: 'audio-append', audio: new Uint8Array(100_000) }
  const text = 'x'.repeat(50_000)
  const item: ClientEvent = { type: 'item-create', item: { role: 'user', content: [{ type: 'text', text }] } }
  for (const event of [audio, item, audio]) upstream.send(event)
  expect(upstream.buffered).toBeGreaterThanOrEqual(250_000)
  gate.resolve()
  await until(() => frames.length === 3)
  await until(() => upstream.buffered === 0)
})
