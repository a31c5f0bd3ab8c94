import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket as TcpSocket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { resultsOf } from '../../../src/kit/conformance/report/results.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { AFTER_ACCEPTING, accepting, HANDSHAKES } from './raw-websocket.ts'

/* Faulty targets of Responses over a WebSocket lead to verdicts within a bounded time. */

const KEY = 'sk-planted-4f9Zq-7xYw-secret'
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Opens a server whose connections behave so after the handshake's request. */
async function serving(behaviour: (socket: TcpSocket, request: Buffer | string) => void): Promise<Server> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', request => behaviour(socket, request))
    closing.push(() => socket.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return server
}

async function judged(server: Server | WebSocketServer) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bases = { 'responses.socket': url }
  const target = { name: 'hostile', bases, key: KEY, model: () => 'm', translates: true }
  const bounds = { total: 1500, idle: 500, bytes: 2_000_000 }
  const began = performance.now()
  const scenarios = [readScenario('text')]
  const [result, ...more] = await run({ target, scenarios, callers: ['responses.socket'], bounds })
  expect(more).toEqual([])
  expect(performance.now() - began).toBeLessThan(10_000)
  const document = resultsOf([result!], { kit: '1', started: new Date(0), target, command: 'a' })
  expect(JSON.stringify(document)).not.toContain(KEY.slice(3, 12))
  return result!.checks
}

const failures = async (server: Server | WebSocketServer): Promise<string[]> =>
  (await judged(server)).filter(({ status }) => status === 'fail' || status === 'harness-error').map(({ rule }) => rule)

const event = (type: string): string => JSON.stringify({ type, response: { id: KEY } })

/** Behaviours of a target after the request, with a rule that must fail. */
const TURNS: { readonly [name: string]: readonly [(socket: WebSocket) => void, string] } = {
  'says nothing': [() => {}, 'answer.http.deadline'],
  'closes normally': [socket => socket.close(1000), 'answer.http.closed'],
  'cuts the connection': [socket => socket.terminate(), 'answer.http.closed'],
  'begins and falls silent': [socket => socket.send(event('response.created')), 'answer.http.deadline'],
  'sends rubbish, and the end': [
    socket => {
      socket.send(`${KEY}\r\ndata: a`)
      socket.send(event('response.completed'))
    },
    'stream.frame',
  ],
  'sends binary rubbish': [socket => socket.send(Buffer.alloc(1000, 0xfe)), 'answer.http.deadline'],
  'sends deep JSON': [socket => socket.send('['.repeat(100_000)), 'answer.http.deadline'],
  'sends a frame that is too large': [socket => socket.send('x'.repeat(17_000_000)), 'answer.http.too-large'],
  'floods with frames': [
    socket => {
      const padded = JSON.stringify({ type: 'response.in_progress', padding: 'x'.repeat(100_000) })
      for (let count = 0; count < 100; count++) socket.send(padded)
    },
    'answer.http.too-large',
  ],
  'sends an error without anything': [socket => socket.send('{"type":"error"}'), 'answer.http.status'],
  'answers twice': [
    socket => {
      for (const type of ['response.created', 'response.completed', 'response.created']) socket.send(event(type))
    },
    'stream.final-last',
  ],
  'sends an error with a status that is none': [
    socket => socket.send('{"type":"error","status":-7e300,"error":{"headers":{"retry-after":{}}}}'),
    'answer.http.status',
  ],
  'names an event with line ends': [
    socket => {
      socket.send(JSON.stringify({ type: 'response.created\n\ndata: [DONE]\n', response: { id: KEY } }))
      socket.send(event('response.completed'))
    },
    'stream.created-first',
  ],
  'never reads': [socket => socket.pause(), 'answer.http.deadline'],
}

test.each(Object.entries(TURNS))('a target that %s gets a verdict', async (_, [behaviour, rule]) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise(resolve => server.once('listening', resolve))
  closing.push(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  server.on('connection', socket => {
    socket.on('error', () => {})
    socket.once('message', () => behaviour(socket))
  })
  const found = await failures(server)
  expect(found).toContain(rule)
  expect(found).not.toContain('harness')
})

test.each(Object.entries(AFTER_ACCEPTING))('a target that %s gets a verdict', async (_, behaviour) => {
  const found = await failures(
    await serving((socket, request) => {
      socket.write(accepting(request))
      behaviour(socket)
    }),
  )
  expect(found).not.toEqual([])
  expect(found).not.toContain('harness')
})

test.each(Object.entries(HANDSHAKES))('a target that %s gets a verdict', async (_, behaviour) => {
  const found = await failures(await serving(behaviour))
  expect(found).not.toContain('harness')
  expect(found.every(rule => rule === 'answer.http.connect' || rule === 'answer.http.status')).toBe(true)
  expect(found).not.toEqual([])
})

describe('a handshake', () => {
  test.each<readonly [string, string, (socket: TcpSocket) => void]>([
    ['is never answered', 'answer.http.connect', () => {}],
    ['is reset', 'answer.http.connect', socket => socket.resetAndDestroy()],
    ['is answered with rubbish', 'answer.http.connect', socket => void socket.end('rubbish\r\n\r\n')],
    [
      'is redirected',
      'answer.http.status',
      socket => void socket.end('HTTP/1.1 302 A\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n'),
    ],
    ['is refused', 'answer.http.status', socket => void socket.end('HTTP/1.1 401 A\r\ncontent-length: 1\r\n\r\na')],
  ])('%s', async (_, rule, behaviour) => {
    expect(await failures(await serving(behaviour))).toContain(rule)
  })

  test.each([404, 405, 501])('is unsupported with status %s', async status => {
    const server = await serving(socket => socket.end(`HTTP/1.1 ${status} A\r\ncontent-length: 0\r\n\r\n`))
    expect((await judged(server)).map(check => check.status)).toEqual(['unsupported'])
  })
})
