import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { resultsOf } from '../../../../src/kit/conformance/report/results.ts'
import type { CellResult } from '../../../../src/kit/conformance/run-cells.ts'
import { runSessions } from '../../../../src/kit/conformance/sockets/run-sessions.ts'
import { readSession } from '../../../../src/kit/conformance/sockets/session-scenario.ts'
import { AFTER_ACCEPTING, accepting, HANDSHAKES } from '../raw-websocket.ts'

/* Faulty targets of sessions lead to verdicts within a bounded time. */

const KEY = 'sk-planted-4f9Zq-7xYw-secret'
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const addressOf = (server: { address(): unknown }): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function judged(url: string, session = 'text-turn'): Promise<CellResult> {
  const target = { name: 'hostile', bases: { realtime: url }, key: KEY, model: () => 'm', translates: true }
  const bounds = { handshake: 1500, frame: 1_000_000, bytes: 2_000_000, frames: 1000 }
  const wanted = { sessions: [readSession(session)], callers: ['realtime'] }
  const results = await runSessions({ target, bounds, frameTimeoutMs: 500, ...wanted })
  expect(results.length).toBe(1)
  const document = resultsOf(results, { kit: '1', started: new Date(0), target, command: 'a' })
  expect(JSON.stringify(document)).not.toContain(KEY.slice(3, 12))
  return results[0]!
}

const failures = ({ checks }: CellResult): string[] =>
  checks.filter(({ status }) => status === 'fail' || status === 'harness-error').map(({ rule }) => rule)

const CREATED = JSON.stringify({ type: 'session.created', event_id: KEY, session: {} })

/** Behaviours of a target that accepted the session, with a rule that must fail. */
const SESSIONS: { readonly [name: string]: readonly [(socket: WebSocket) => void, string] } = {
  'says nothing': [() => {}, 'answer.socket.awaited'],
  'closes at once': [socket => socket.close(1000), 'answer.socket.awaited'],
  'cuts the connection': [socket => socket.terminate(), 'stream.close'],
  'sends rubbish': [socket => socket.send(KEY), 'stream.event'],
  'sends binary rubbish': [socket => socket.send(Buffer.alloc(1000, 0xfe)), 'stream.event'],
  'sends deep JSON': [socket => socket.send('['.repeat(100_000)), 'stream.event'],
  'sends a frame that is too large': [socket => socket.send('x'.repeat(1_500_000)), 'answer.socket.open'],
  'floods with frames': [
    socket => {
      for (let count = 0; count < 5000; count++) socket.send(CREATED)
    },
    'answer.socket.bounds',
  ],
  'never closes': [socket => socket.pause(), 'answer.socket.awaited'],
}

describe('a target that', () => {
  test.each(Object.entries(SESSIONS))('%s gets a verdict', async (_, [behaviour, rule]) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await new Promise(resolve => server.once('listening', resolve))
    closing.push(() => {
      for (const client of server.clients) client.terminate()
      server.close()
    })
    server.on('connection', socket => {
      socket.on('error', () => {})
      behaviour(socket)
    })
    const before = performance.now()
    const found = failures(await judged(addressOf(server)))
    expect(found).toContain(rule)
    expect(found).not.toContain('harness')
    expect(performance.now() - before).toBeLessThan(12_000)
  })

  test.each<readonly [string, (socket: Socket) => void]>([
    ['never answers the handshake', () => {}],
    ['resets', socket => socket.resetAndDestroy()],
    ['answers rubbish', socket => void socket.end('rubbish\r\n\r\n')],
    [
      'accepts with a wrong key',
      socket =>
        void socket.write(
          'HTTP/1.1 101 A\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: a\r\n\r\n',
        ),
    ],
    [
      'redirects',
      socket => void socket.end('HTTP/1.1 302 A\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n'),
    ],
    ['refuses without end', socket => void socket.write('HTTP/1.1 401 A\r\ncontent-length: 999999999\r\n\r\na')],
  ])(
    '%s gets a verdict',
    async (_, behaviour) => {
      const server = createTcpServer(socket => {
        socket.on('error', () => {})
        socket.once('data', () => behaviour(socket))
        closing.push(() => socket.destroy())
      })
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      closing.push(() => server.close())
      expect(failures(await judged(addressOf(server)))).toEqual(['answer.socket.open'])
    },
    15_000,
  )

  /** Judges a session with a target that answers a handshake with these bytes. */
  async function judgedRaw(behaviour: (socket: Socket, request: Buffer | string) => void): Promise<string[]> {
    const server = createTcpServer(socket => {
      socket.on('error', () => {})
      socket.once('data', request => behaviour(socket, request))
      closing.push(() => socket.destroy())
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const before = performance.now()
    const found = failures(await judged(addressOf(server)))
    expect(performance.now() - before).toBeLessThan(12_000)
    expect(found).not.toContain('harness')
    return found
  }

  test.each(Object.entries(AFTER_ACCEPTING))(
    '%s gets a verdict',
    async (_, behaviour) => {
      const found = await judgedRaw((socket, request) => {
        socket.write(accepting(request))
        behaviour(socket)
      })
      expect(found).not.toEqual([])
    },
    15_000,
  )

  test.each(Object.entries(HANDSHAKES))(
    '%s gets a verdict',
    async (_, behaviour) => {
      expect(await judgedRaw(behaviour)).toEqual(['answer.socket.open'])
    },
    15_000,
  )

  test('has no such endpoint is unsupported', async () => {
    const server = createServer((_, reply) => reply.writeHead(404).end('no'))
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    expect((await judged(addressOf(server))).checks.map(({ status }) => status)).toEqual(['unsupported'])
  })
})

describe('a request for a client secret that', () => {
  const answers: readonly [string, string, string, (reply: ServerResponse) => void][] = [
    ['is never answered', 'fail', 'answer.secret.issued', () => {}],
    ['is reset', 'fail', 'answer.secret.issued', reply => reply.destroy()],
    ['is answered with rubbish', 'fail', 'answer.secret.issued', reply => reply.end(KEY)],
    ['is answered with a list', 'fail', 'answer.secret.issued', reply => reply.end('[1]')],
    ['is redirected', 'fail', 'answer.secret.issued', reply => reply.writeHead(302, { location: '/' }).end()],
    ['is flooded', 'fail', 'answer.secret.issued', reply => reply.write('x'.repeat(3_000_000))],
    ['gets a value with a line end', 'fail', 'answer.socket.open', reply => reply.end('{"value":"ek_a\\r\\nx: y"}')],
    [
      'gets a value of a megabyte',
      'fail',
      'answer.socket.open',
      reply => reply.end(`{"value":"ek_${'a'.repeat(1e6)}"}`),
    ],
    ['gets only a value', 'fail', 'answer.secret.expires', reply => reply.end('{"value":"ek_a"}')],
    ['has no endpoint', 'unsupported', 'answer.supported', reply => reply.writeHead(404).end()],
  ]
  test.each(answers)('%s gets a verdict', async (_, status, rule, behaviour) => {
    const server = createServer((_message, reply) => behaviour(reply))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const { checks } = await judged(addressOf(server), 'client-secret')
    expect(checks.filter(check => check.status === status).map(check => check.rule)).toContain(rule)
    expect(checks.map(check => check.status)).not.toContain('harness-error')
  })
})
