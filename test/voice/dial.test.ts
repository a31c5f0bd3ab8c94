import { createServer, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import { dial } from '../../src/voice/dial.ts'
import { closingAfterEach } from '../builders/closing.ts'

const closing = closingAfterEach()

/** Dials a server that refuses every handshake, and returns the error. */
async function refusal(headers: OutgoingHttpHeaders): Promise<GatewayError> {
  const server = createServer().on('upgrade', (_, socket) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 429 No\r\nconnection: close\r\ncontent-length: 0\r\n${lines.join('')}\r\n`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const options = { url, headers: {}, maxPayload: 1000, timeout: 5000, signal: new AbortController().signal }
  return dial({ ...options, proxy: undefined, tls: undefined } as Parameters<typeof dial>[0]).then(
    () => expect.unreachable(),
    thrown => thrown as GatewayError,
  )
}

test.each([
  ['seconds', { 'retry-after': '7' }, 7],
  ['milliseconds', { 'retry-after-ms': '1500' }, 1.5],
  ['decades', { 'retry-after': '1764460800' }, 86_400],
  ['nonsense', { 'retry-after': 'soon' }, undefined],
  ['a past date', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
])('the delay of a refused session is read like that of a request: %s (trap 78)', async (_, headers, seconds) => {
  expect((await refusal(headers)).error.retryAfterSeconds).toBe(seconds)
})
