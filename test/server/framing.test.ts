import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ASK, helloWhole } from '../builders/chat.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED } from '../builders/time.ts'

/*
 * Requests whose end a proxy in front of the gateway might find in another place. Each is followed by a second request on
 * the same connection. The gateway either reads both as they were written, or refuses the first and closes.
 */

const { open } = opener()

const BODY = JSON.stringify(ASK)
const LENGTH = `content-length: ${BODY.length}`
const CHUNKED = 'transfer-encoding: chunked'
const HEX = BODY.length.toString(16)
const AS_CHUNK = `${HEX}\r\n${BODY}\r\n0\r\n\r\n`

/** Requests that are read as they were written: header lines, and the body. */
const READ: readonly (readonly [lines: readonly string[], body: string])[] = [
  [[LENGTH], BODY],
  [[CHUNKED], AS_CHUNK],
  [['transfer-encoding:\tchunked'], AS_CHUNK],
  [['transfer-encoding: gzip, chunked'], AS_CHUNK],
  [[CHUNKED], `${HEX};a=b;c="d"\r\n${BODY}\r\n0\r\nx: y\r\n\r\n`],
  [[CHUNKED], `1\r\n{\r\n${(BODY.length - 1).toString(16)}\r\n${BODY.slice(1)}\r\n0\r\n\r\n`],
  [[LENGTH, 'expect: 100-continue'], BODY],
]

/** Requests that are refused. */
const REFUSED: readonly (readonly [lines: readonly string[], body: string])[] = [
  [[LENGTH, CHUNKED], AS_CHUNK],
  [['content-length: 4', CHUNKED], AS_CHUNK],
  [[CHUNKED, 'content-length: 4'], AS_CHUNK],
  [[LENGTH, LENGTH], BODY],
  [[LENGTH, 'content-length: 3'], BODY],
  ...[`${BODY.length}, ${BODY.length}`, `+${BODY.length}`, '-1', '0x10', '', '99999999999999999999'].map(
    value => [[`content-length: ${value}`], BODY] as const,
  ),
  [[`content-length : ${BODY.length}`], BODY],
  ...['identity', 'xchunked', 'chunked, gzip', '\vchunked', 'chunked, chunked'].map(
    value => [[`transfer-encoding: ${value}`], AS_CHUNK] as const,
  ),
  [[CHUNKED, CHUNKED], AS_CHUNK],
  [[CHUNKED, 'transfer-encoding: identity'], AS_CHUNK],
  [['transfer-encoding:\r\n chunked'], AS_CHUNK],
  [[LENGTH, 'x: a\r\n b'], BODY],
  [[LENGTH, 'x: a\rb: c'], BODY],
  [[LENGTH, 'x: a\nb: c'], BODY],
  [[LENGTH, 'x: a\0b'], BODY],
  [[LENGTH, 'x\0: a'], BODY],
  [[LENGTH, 'x y: a'], BODY],
  [[CHUNKED], AS_CHUNK.replaceAll('\r\n', '\n')],
  [[CHUNKED], `${HEX};a=b\n\r\n${BODY}\r\n0\r\n\r\n`],
  [[CHUNKED], `${HEX} \r\n${BODY}\r\n0\r\n\r\n`],
  [[CHUNKED], `0x${AS_CHUNK}`],
  [[CHUNKED], `ffffffffffffffff1\r\n${BODY}\r\n0\r\n\r\n`],
  [[CHUNKED], `${(BODY.length - 1).toString(16)}\r\n${BODY}\r\n0\r\n\r\n`],
  [[CHUNKED], `${HEX}\r\n${BODY}\r\n0\r\ncontent-length: 5\r\n\r\n`],
  [[CHUNKED], `${HEX}\r\n${BODY}\r\n0\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
  [[CHUNKED], `${HEX};${'a=b;'.repeat(30_000)}\r\n${BODY}\r\n0\r\n\r\n`],
]

const written = ([lines, body]: (typeof READ)[number]): string =>
  `POST ${CHAT_PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n${lines.join('\r\n')}\r\n\r\n${body}`

/** The second request. Its answer is the last one of the connection. */
const SECOND = 'GET /second HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

describe('of two requests on one connection', TIMED, () => {
  async function scene() {
    const { testServer, upstream } = await open(helloWhole)
    const port = Number(new URL(testServer.server.address).port)
    /** Sends bytes, in pieces of a size, and returns the statuses of the answers until the connection closes. */
    const send = (text: string, size: number): Promise<number[]> =>
      new Promise(resolve => {
        let got = ''
        const socket = connect(port, '127.0.0.1').setNoDelay(true)
        socket.setTimeout(3000, () => socket.destroy())
        socket.on('data', chunk => (got += chunk.toString('latin1'))).on('error', () => {})
        socket.on('close', () => resolve([...got.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))))
        const bytes = Buffer.from(text, 'latin1')
        const write = (at: number): void => {
          if (at >= bytes.length || socket.destroyed) return
          socket.write(bytes.subarray(at, at + size))
          setImmediate(write, at + size)
        }
        write(0)
      })
    return { send, upstream }
  }

  test('both are read as they were written', async () => {
    const { send, upstream } = await scene()
    for (const request of READ)
      for (const size of [100_000, 50]) {
        const before = upstream.seen.length
        const statuses = await send(`${written(request)}${SECOND}`, size)
        expect([request[0], statuses.filter(status => status !== 100)]).toEqual([request[0], [200, 404]])
        expect(upstream.seen.length).toBe(before + 1)
      }
  })

  test('neither reaches an upstream or is answered if the first has no certain end', async () => {
    const { send, upstream } = await scene()
    const cases = REFUSED.flatMap(request => [200_000, 1000].map(size => ({ request, size })))
    const answers = await Promise.all(cases.map(({ request, size }) => send(`${written(request)}${SECOND}`, size)))
    for (const [index, statuses] of answers.entries()) {
      const { request } = cases[index]!
      expect([request[0], statuses.length]).toEqual([request[0], 1])
      expect([400, 413, 431]).toContain(statuses[0])
    }
    expect(upstream.seen).toEqual([])
  })
})
