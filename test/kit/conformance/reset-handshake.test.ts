import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProxy, type RunningProxy } from '../../../src/kit/conformance/proxy/index.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* A connection that is reset during the handshake of a socket. Its error, without a listener, ends the process. */

const HANDSHAKE = [
  'GET /realtime/v1/realtime HTTP/1.1',
  ...['host: localhost', 'connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
  ...['sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
].join('\r\n')

const silent = createServer(connection => connection.on('error', () => {}))
let proxy: RunningProxy
let upstream: Upstream

beforeAll(async () => {
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  proxy = await openProxy({ upstream: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` })
  upstream = await Upstream.open()
})
afterAll(async () => {
  silent.close()
  await proxy.close()
  await upstream.close()
})

/** Sends a handshake, resets the connection when the server has read it, and waits until the server has seen the reset. */
async function resetHandshake(root: string): Promise<void> {
  const connection = connect(Number(new URL(root).port), '127.0.0.1')
  connection.on('error', () => {})
  connection.write(HANDSHAKE)
  await new Promise(resolve => setTimeout(resolve, 100))
  connection.resetAndDestroy()
  await new Promise(resolve => setTimeout(resolve, 100))
}

test('plain proxy stays up while its upstream has not answered the handshake', async () => {
  await resetHandshake(proxy.root)
  const answer = connect(Number(new URL(proxy.root).port), '127.0.0.1')
  await once(answer, 'connect')
  answer.destroy()
})

test('upstream of the kit stays up while no session has taken the handshake', async () => {
  upstream.onUpgrade(() => {})
  await resetHandshake(upstream.root)
  expect((await fetch(`${upstream.root}/health`)).status).toBeGreaterThan(0)
})
