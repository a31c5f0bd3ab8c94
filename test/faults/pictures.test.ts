import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { TIMED } from '../builders/time.ts'
import { FakeUpstream } from '../builders/upstream.ts'

const HEARTBEAT = 30
/** More bytes than the buffers of a connection hold. */
const LARGE = 16 * 1024 * 1024

test('who asks for a large picture and takes none of it is gone after eight heartbeats', TIMED, async () => {
  const data = [{ b64_json: Buffer.alloc(LARGE, 'a picture').toString('base64') }]
  const upstream = await FakeUpstream.open(response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ created: 1, data })),
  )
  const testServer = await TestServer.open([channelAt(upstream.address, { format: 'images' })], {
    heartbeat: HEARTBEAT,
  })
  const made = await testServer.ask('/v1/images/generations', { model: 'm', prompt: 'a', response_format: 'url' })
  const { hostname, port, pathname } = new URL(made.json.data[0].url)

  const socket = connect(Number(port), hostname)
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
  await new Promise(resolve => socket.once('readable', resolve))
  await new Promise(resolve => setTimeout(resolve, HEARTBEAT * 8 * 3))
  let taken = 0
  const over = new Promise(resolve => socket.once('close', resolve))
  socket.on('error', () => {}).on('data', piece => (taken += piece.length))
  await Promise.race([over, new Promise(resolve => setTimeout(resolve, 3000))])
  expect(taken).toBeLessThan(LARGE)

  socket.destroy()
  await testServer.server.close(0)
  await upstream.close()
})
