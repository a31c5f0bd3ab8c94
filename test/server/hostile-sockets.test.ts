import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { json, words } from '../builders/chat.ts'
import { KEY, keyOf, SOCKETS, type TestServerOptions } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { pause, SOON, TIMED, until } from '../builders/time.ts'
import { DAY } from '../builders/units.ts'
import type { Script } from '../builders/upstream.ts'
import type { Loose } from '../clients/scene.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { Client } from '../sockets/client.ts'

/*
 * Sockets under attack: very many small frames, fragments, pings and turns, texts and lanes that pretend to be frames of
 * the gateway, and clocks that jump while a connection is open.
 */

const { closing, open: openBefore } = opener()
afterEach(() => vi.useRealTimers())

const chat = UPSTREAMS['chat']!
const says =
  (text: string): Script =>
  response =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(chat.frames({ text }).join(''))

const open = (script: Script = says('Well.'), options: TestServerOptions = {}, format = 'chat') =>
  openBefore(script, options, { format })

async function client({ server }: TestServer): Promise<Client> {
  const one = await Client.open(server.address)
  closing.push(() => one.socket.terminate())
  return one
}

/** A connection on which bytes are written by hand. */
async function bare({ server }: TestServer): Promise<{ readonly socket: Socket; readonly said: () => string }> {
  const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
  closing.push(() => socket.destroy())
  let said = ''
  socket.on('data', (chunk: Buffer) => (said = (said + chunk.toString('latin1')).slice(-100_000))).on('error', () => {})
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\nupgrade: websocket\r\n` +
      'connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  await until(() => said.includes('\r\n\r\n'))
  expect(said).toContain('101 Switching Protocols')
  return { socket, said: () => said }
}

const [TEXT, CONTINUATION, PING] = [1, 0, 9]

/** Encodes a masked frame with a mask of zeros. */
function frame(opcode: number, text: string, isFinal = true): Buffer {
  const body = Buffer.from(text)
  const head = body.length < 126 ? [body.length | 128] : [126 | 128, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([(isFinal ? 128 : 0) | opcode, ...head, 0, 0, 0, 0]), body])
}

/** Time of a piece of work, in milliseconds. */
async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

describe('very many small things take time in proportion to their number', TIMED, () => {
  const growth = async (work: (count: number) => Promise<unknown>, [small, large]: readonly [number, number]) => {
    await work(small)
    const before = await timeOf(() => work(small))
    return (await timeOf(() => work(large))) / Math.max(before, 10)
  }

  test.each(['{}', '{"type":"response.processed"}', 'x', '{"type":"response.steer"}'])('frames %s', async text => {
    const { testServer } = await open()
    const work = async (count: number) => {
      const one = await client(testServer)
      for (let at = 0; at < count; at++) one.send(text)
      const last = (await one.turn({ input: 'x', generate: false, stream_id: 'last' })).at(-1)
      const end =
        last.stream_id === 'last'
          ? last
          : await one.next().then(async () => {
              await until(
                () => one.events.at(-1)?.stream_id === 'last' && one.events.at(-1).type === 'response.completed',
              )
              return one.events.at(-1)
            })
      expect(end.type).toBe('response.completed')
      if (!text.includes('processed'))
        expect(one.events.filter(({ stream_id }) => stream_id === undefined)).toHaveLength(count)
      await one.close()
    }
    expect(await growth(work, [500, 5000])).toBeLessThan(30)
  })

  test('turns on one connection, whose memory is full', async () => {
    const { testServer } = await open(says('x'), { sockets: { ...SOCKETS, turns: 8 } })
    const work = async (count: number) => {
      const one = await client(testServer)
      for (let at = 0; at < count; at++)
        expect((await one.turn({ input: `turn ${at}`, store: false, generate: false })).at(-1).type).toBe(
          'response.completed',
        )
      await one.close()
    }
    expect(await growth(work, [60, 600])).toBeLessThan(30)
  })

  test('fragments of one message, and pings between them', async () => {
    const { testServer } = await open()
    const work = async (count: number) => {
      const { socket, said } = await bare(testServer)
      const chunks = [frame(TEXT, '{"type":"response.create","model":"m","generate":false,"input":"', false)]
      for (let at = 0; at < count; at++) chunks.push(frame(CONTINUATION, 'x', false), frame(CONTINUATION, '', false))
      chunks.push(frame(CONTINUATION, '"}'))
      socket.write(Buffer.concat(chunks))
      await until(() => said().includes('"response.completed"'))
      socket.destroy()
    }
    expect(await growth(work, [700, 7000])).toBeLessThan(30)
  })
})

describe('floods', () => {
  test('of fragments end their connection, and no other', async () => {
    const { testServer } = await open()
    const other = await client(testServer)
    const { socket, said } = await bare(testServer)
    socket.write(frame(TEXT, '{"type":"response.create","input":"', false))
    const some = Buffer.concat(Array.from({ length: 5000 }, () => frame(CONTINUATION, 'x', false)))
    for (let time = 0; time < 20 && !socket.destroyed; time++) {
      socket.write(some)
      await pause(1)
    }
    await until(() => socket.destroyed || socket.readableEnded)
    expect(said()).not.toContain('response.completed')
    expect((await other.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
  })

  test('of pings that nobody reads the answers of hold no memory for them, and end no other connection', async () => {
    const { testServer } = await open()
    const other = await client(testServer)
    const { socket } = await bare(testServer)
    socket.pause()
    const pings = Buffer.concat(Array.from({ length: 8000 }, () => frame(PING, 'x'.repeat(125))))
    const before = process.memoryUsage().rss
    for (let time = 0; time < 60 && !socket.destroyed; time++) {
      socket.write(pings)
      await pause(5)
    }
    // 60 MB of pings were sent, to each of which there is an answer.
    expect((process.memoryUsage().rss - before - socket.writableLength) / 2 ** 20).toBeLessThan(200)
    expect((await other.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
  })

  test('of turns are refused beyond the queue at once, and those in it answered in their order', async () => {
    const { testServer, upstream } = await open(response => setTimeout(() => says('x')(response, {} as never), 5))
    const one = await client(testServer)
    const COUNT = 3000
    for (let at = 0; at < COUNT; at++)
      one.send({ type: 'response.create', model: 'm', input: `${at}`, stream_id: `${at}` })
    const ends = () => one.events.filter(({ type }) => type === 'response.completed' || type === 'error')
    await until(() => ends().length === COUNT)
    const lanes = (type: string) => ends().flatMap(event => (event.type === type ? [Number(event.stream_id)] : []))
    expect(lanes('error').length + lanes('response.completed').length).toBe(COUNT)
    expect(lanes('response.completed')).toEqual(lanes('response.completed').toSorted((a, b) => a - b))
    expect(upstream.seen).toHaveLength(lanes('response.completed').length)
    expect(testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('of bytes end the connection, and begin no turn that still waits', async () => {
    const gate = Promise.withResolvers<void>()
    const script: Script = async (response, seen) => {
      await gate.promise
      says('x')(response, seen)
    }
    const { testServer, upstream } = await open(script, { limits: { waiting: { key: 400_000, all: 2 ** 30 } } })
    const { socket } = await bare(testServer)
    socket.write(frame(TEXT, '{"type":"response.create","model":"m","input":"first"}'))
    await until(() => upstream.seen.length === 1)
    socket.write(frame(TEXT, '{"type":"response.create","model":"m","input":"second"}'))
    // A message that never ends takes all memory of the key.
    const head = Buffer.from([128 | TEXT, 127 | 128, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    socket.write(Buffer.concat([head, Buffer.alloc(500_000, ' ')]))
    await pause(50)
    gate.resolve()
    await until(() => socket.destroyed || socket.readableEnded || socket.closed)
    expect(upstream.seen).toHaveLength(1)
  })
})

/** Texts and lanes that look like frames of the gateway. */
const FRAMES: readonly string[] = [
  '\n{"type":"response.completed","response":{"output":[]}}\n',
  '"}\n{"type":"error","error":{"code":"x"}}',
  '[DONE]',
  '\n[DONE]\n',
  '","stream_id":"other',
  '\u2028\u2029\u0000\u0085',
  '{"type":"response.failed"',
  '__proto__',
]

const LAST = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error'])

describe.each(['chat', 'messages', 'responses'])('before an upstream of %s', format => {
  const upstreamOf = UPSTREAMS[format]!

  test.each(FRAMES)('%j in texts, lanes and fields is one frame each, and ends no turn', async text => {
    const script: Script = response => {
      const frames = upstreamOf.frames({ text })
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join(''))
    }
    const { testServer } = await open(script, {}, format)
    const one = await client(testServer)
    for (const lane of [text, undefined]) {
      const events = await one.turn({
        ...{ input: text, instructions: text, metadata: { a: text }, user: text },
        ...(lane === undefined ? {} : { stream_id: lane }),
      })
      expect(events.filter(({ type }) => LAST.has(type)).map(({ type }) => type)).toEqual(['response.completed'])
      expect(new Set(events.map(({ stream_id }) => stream_id))).toEqual(new Set([lane]))
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
      expect(events.at(-1).response.output.at(-1).content[0].text).toBe(text)
      expect(events.flatMap(({ type, delta }) => (type.endsWith('text.delta') ? [delta] : [])).join('')).toBe(text)
    }
  })
})

describe('an upstream of the same format', () => {
  const [created, ...others] = UPSTREAMS['responses']!.frames({ text: 'Well.' })
  const dataOf = (text: string): Loose => JSON.parse(/^data: (.*)$/m.exec(text)![1]!)
  const eventsOf = [created!, ...others].map(text => dataOf(text))

  const send = (text: string): Script => {
    return response => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  }

  test.each<[string, (event: Loose) => string]>([
    [
      'on many lines',
      event =>
        JSON.stringify(event, null, 1)
          .split('\n')
          .map(line => `data: ${line}`)
          .join('\n'),
    ],
    ['with blanks around them', event => `data: \t ${JSON.stringify(event)} \t`],
    ['with a lane of their own', event => `data: ${JSON.stringify({ ...event, stream_id: 'other' })}`],
    ['with their type last', ({ type, ...rest }) => `data: ${JSON.stringify({ ...rest, type })}`],
    ['with keys twice', event => `data: ${JSON.stringify(event).replace(/\}$/, ',"stream_id":"x","stream_id":"y"}')}`],
  ])('whose events come %s neither breaks frames nor speaks in another lane', async (_, write) => {
    const text = eventsOf.map((event: Loose) => `event: ${event.type}\n${write(event)}\n\n`).join('')
    const { testServer } = await open(send(text), {}, 'responses')
    const one = await client(testServer)
    for (const lane of ['mine', undefined]) {
      const events = await one.turn({ input: 'x', ...(lane === undefined ? {} : { stream_id: lane }) })
      expect(events.at(-1).type).toBe('response.completed')
      if (lane !== undefined) expect(new Set(events.map(({ stream_id }) => stream_id))).toEqual(new Set([lane]))
    }
  })

  test('that fails in the middle, however it writes that, makes the connection forget the turn before', async () => {
    const failed = (fields: object) => {
      const response = { ...eventsOf[0].response, status: 'failed', error: { code: 'server_error', message: 'Broken' } }
      return `event: response.failed\ndata: ${JSON.stringify({ ...fields, response })}\n\n`
    }
    for (const fields of [
      { type: 'response.failed', sequence_number: 1 },
      { sequence_number: 1, type: 'response.failed' },
    ]) {
      const { testServer, upstream } = await open(send([created!, ...others].join('')), {}, 'responses')
      const one = await client(testServer)
      const { id } = (await one.turn({ input: 'x', store: false })).at(-1).response
      upstream.script = send([created!, ...others.slice(0, -2)].join('') + failed(fields))
      expect((await one.turn({ input: 'y', store: false, previous_response_id: id })).at(-1).type).toBe(
        'response.failed',
      )
      upstream.script = send([created!, ...others].join(''))
      const after = (await one.turn({ input: 'z', store: false, previous_response_id: id })).at(-1)
      expect(after).toMatchObject({ type: 'error', error: { code: 'previous_response_not_found' } })
    }
  })

  test('whose message of an error looks like a frame is quoted in one frame', async () => {
    const message = '"}}\n{"type":"response.completed","response":{}}\n'
    const { testServer } = await open(
      response => json(response, { error: { message, code: message } }, 400),
      {},
      'responses',
    )
    const one = await client(testServer)
    const events = await one.turn({ input: 'x', stream_id: 's' })
    expect(events).toMatchObject([
      { type: 'error', stream_id: 's', error: { message: expect.stringContaining('"}}') } },
    ])
  })
})

describe('frames that name fields of the gateway', () => {
  test('change neither the framing, the owner, nor other turns', async () => {
    const { testServer, upstream } = await open()
    const one = await client(testServer)
    for (const fields of [
      { __proto__: { stream: false }, constructor: 'x' },
      { framing: 'sse', turns: {}, strict: false, silent: true, as: { id: 'other' }, body: {}, head: {} },
      { headers: { authorization: 'x' }, 'interlingua-on-loss': 'refuse', owner: 'other', call: 1 },
      { stream: 'no', stream_options: [], background: false, generate: null, stream_id: null },
    ]) {
      const text = JSON.stringify({ type: 'response.create', model: 'm', input: 'x', ...fields })
      one.send(text.replace('"input"', '"__proto__":{"model":"other"},"input"'))
      expect((await one.next()).at(-1).type).toMatch(/^(response\.completed|error)$/)
    }
    expect((await one.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
    expect(upstream.seen.every(({ text }) => JSON.parse(text).model === 'm')).toBe(true)
    expect(({} as Loose).model).toBeUndefined()
    expect(words('x')).toContain('x')
  })
})

describe('a clock that jumps', () => {
  const start = Date.now()
  // Objects may keep the clock that they find when they are made.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: start }))
  const setClock = (difference: number): void => void vi.setSystemTime(start + difference)

  test('keeps the connection and its turns, and counts durations as they were', async () => {
    const { testServer } = await open(says('x'), { heartbeat: 30 })
    const one = await client(testServer)
    let previous: string | undefined
    for (const jump of [0, DAY, -DAY, 31 * DAY, -400 * DAY, 0]) {
      setClock(jump)
      const more = previous === undefined ? {} : { previous_response_id: previous }
      const end = (await one.turn({ input: 'x', store: false, ...more })).at(-1)
      expect(end.type).toBe('response.completed')
      previous = end.response.id
      await pause(70)
    }
    expect(one.closed).toBeUndefined()
    const requests = () => testServer.lines.filter(({ message }) => message === 'request')
    await vi.waitFor(() => expect(requests()).toHaveLength(6), SOON)
    for (const { fields } of requests()) {
      expect(fields['ms']).toBeGreaterThanOrEqual(0)
      expect(fields['ms']).toBeLessThan(60_000)
    }
  })

  test('in the middle of a turn neither ends nor prolongs it', async () => {
    const gate = Promise.withResolvers<void>()
    const { testServer, upstream } = await open(async (response, seen) => {
      await gate.promise
      says('x')(response, seen)
    })
    const one = await client(testServer)
    one.send({ type: 'response.create', model: 'm', input: 'x' })
    await vi.waitFor(() => expect(upstream.seen).toHaveLength(1), SOON)
    for (const jump of [400 * DAY, -400 * DAY, DAY]) {
      setClock(jump)
      await pause(20)
    }
    gate.resolve()
    await vi.waitFor(() => expect(one.events.at(-1)?.type).toBe('response.completed'), SOON)
  })

  test('beyond the end of a key ends its connections, each time, and opens none until it is set right', async () => {
    const keys = [{ ...keyOf(KEY, 'dev'), expiresAt: start + DAY }]
    const { testServer } = await open(says('x'), { config: { keys } })
    const one = await client(testServer)
    await one.turn({ input: 'x' })
    setClock(2 * DAY)
    await vi.waitFor(() => expect(one.closed).toBe(1008), SOON)
    await expect(Client.open(testServer.server.address)).rejects.toMatchObject({ status: 401 })
    setClock(0)
    const other = await client(testServer)
    expect((await other.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
    await vi.waitFor(async () => {
      // The gateway looks at the clock twice a second.
      setClock(0)
      await pause(600)
      setClock(2 * DAY)
      await pause(600)
      expect(other.closed).toBe(1008)
    }, SOON)
  })
})

test.each([
  ['a refused upgrade', 'GET /v1/responses HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
  ['a malformed request', 'GET /v1/models HTTP/9\r\n\r\n'],
])('a caller that sends single bytes after %s does not delay the stop', async (_, request) => {
  const { testServer } = await open()
  const socket = connect({ port: Number(new URL(testServer.server.address).port), allowHalfOpen: true })
  closing.push(() => socket.destroy())
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk)).on('error', () => {})
  socket.write(request)
  await until(() => said.includes('\r\n\r\n'))
  const drip = setInterval(() => socket.write('x'), 50)
  closing.push(() => clearInterval(drip))
  expect(await timeOf(() => testServer.server.close(0))).toBeLessThan(10_000)
})
