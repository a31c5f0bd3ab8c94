import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { Bounds } from '../../../src/kit/conformance/client.ts'
import { html } from '../../../src/kit/conformance/report/html.ts'
import { junit } from '../../../src/kit/conformance/report/junit.ts'
import { markdown } from '../../../src/kit/conformance/report/markdown.ts'
import { resultsOf } from '../../../src/kit/conformance/report/results.ts'
import { summary } from '../../../src/kit/conformance/report/summary.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import type { CellResult, Target } from '../../../src/kit/conformance/run-cells.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* Faulty targets and peers lead to verdicts within a bounded time and memory, and no report contains the key. */

const BOUNDS: Bounds = { total: 3000, idle: 600, bytes: 32 * 1024 * 1024 }
/** Limits for a target that does not hang. A busy machine reaches no deadline. */
const PATIENT: Bounds = { ...BOUNDS, total: 15_000, idle: 5000 }
const KEY = 'sk-planted-4f9Zq+7/xYw==/secret'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs one live cell on a target. */
async function judged(
  url: string,
  mode = 'stream',
  format = 'chat',
  bounds = BOUNDS,
  id = 'text',
): Promise<CellResult> {
  const target: Target = { name: 'hostile', bases: { [format]: url }, key: KEY, model: () => 'm', translates: true }
  const scenarios = [readScenario(id)]
  const results = await run({ target, scenarios, callers: [format], only: `${format}/${id}/${mode}`, bounds })
  expect(results.length).toBe(1)
  return results[0]!
}

const failures = ({ checks }: CellResult): string[] =>
  checks.filter(({ status }) => status === 'fail' || status === 'harness-error').map(({ rule }) => rule)

const STREAM = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }

type Behaviour = (reply: ServerResponse, message: IncomingMessage) => void

/** Writes a chunk repeatedly until the connection is closed. */
const flood = (reply: ServerResponse, chunk: string): void => {
  const more = (): void => {
    while (!reply.destroyed && reply.write(chunk));
    if (!reply.destroyed) reply.once('drain', more)
  }
  more()
}

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000)
const chunkWith = (content: string): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

const BOMB = gzipSync(Buffer.alloc(100_000_000))

/** Behaviours of a target by name, with a rule that must fail. */
const TARGETS: { readonly [name: string]: readonly [Behaviour, string] } = {
  'hangs before its headers': [() => {}, 'answer.http.deadline'],
  'hangs within its body': [reply => reply.writeHead(200, STREAM).write(chunkWith('a')), 'answer.http.deadline'],
  'answers rubbish': [reply => reply.writeHead(200, STREAM).end(Buffer.alloc(5000, 0xfe)), 'stream.sse.utf8'],
  'floods with bytes': [reply => flood(reply.writeHead(200, STREAM), 'x'.repeat(65_536)), 'answer.http.too-large'],
  'floods with events': [reply => flood(reply.writeHead(200, STREAM), 'data: {}\n\n'.repeat(5000)), 'stream.sse.count'],
  'floods with lines': [reply => flood(reply.writeHead(200, STREAM), 'x\n'.repeat(30_000)), 'stream.sse.field'],
  'never ends': [
    reply => {
      reply.writeHead(200, STREAM)
      const timer = setInterval(() => reply.write(chunkWith('a')), 100)
      reply.once('close', () => clearInterval(timer))
    },
    'answer.http.deadline',
  ],
  'promises more bytes than it sends': [
    reply => {
      reply.writeHead(200, { ...JSON_TYPE, 'content-length': 1000 })
      reply.write('{}', () => reply.destroy())
    },
    'answer.http.closed',
  ],
  'is nested 100,000 deep': [reply => reply.writeHead(200, STREAM).end(`data: ${DEEP}\n\n`), 'stream.json'],
  'sends one event of 30 MB': [
    reply => reply.writeHead(200, STREAM).end(chunkWith('a'.repeat(30_000_000))),
    'stream.done',
  ],
  'sends a list of a million choices': [
    reply => reply.writeHead(200, STREAM).end(`data: {"choices":[${'{"index":0},'.repeat(1_000_000)}0]}\n\n`),
    'stream.json',
  ],
  'sends a list of 100,000 choices': [
    reply =>
      reply
        .writeHead(200, STREAM)
        .end(`data: {"choices":[${'{"index":0,"delta":{"content":"a"}},'.repeat(100_000)}0]}\n\n`),
    'stream.schema',
  ],
  'sends a compressed bomb': [
    reply => reply.writeHead(200, { ...STREAM, 'content-encoding': 'gzip' }).end(BOMB),
    'answer.http.too-large',
  ],
  'names a coding that its bytes do not have': [
    reply =>
      reply.writeHead(200, { ...STREAM, 'content-encoding': 'gzip' }).end(readScenario('text').wires['chat']!.stream),
    'answer.http.coding',
  ],
  'sends gigantic headers': [
    reply => reply.writeHead(200, { ...STREAM, 'x-big': 'a'.repeat(1_000_000) }).end(),
    'answer.http.connect',
  ],
}

describe('a live target that limits its rate', () => {
  const answering = (limited: number) => {
    let count = 0
    return listening(
      createServer((message, reply) => {
        message.resume()
        if (++count <= limited) reply.writeHead(429, { ...JSON_TYPE, 'retry-after': '0' }).end('{}')
        else reply.writeHead(200, STREAM).end(readScenario('text').wires['chat']!.stream)
      }),
    )
  }

  test('is asked again', async () => expect(failures(await judged(await answering(3)))).toEqual([]))
  test('fails if it never answers', async () =>
    expect(failures(await judged(await answering(9)))).toContain('answer.http.status'))
})

describe('a target that', () => {
  test.each(Object.entries(TARGETS))(
    '%s gets a verdict',
    async (_, [behaviour, rule]) => {
      const url = await listening(
        createServer((message, reply) => {
          message.resume()
          message.once('end', () => behaviour(reply, message))
        }),
      )
      const before = performance.now()
      const result = await judged(url, 'stream', 'chat', rule === 'answer.http.deadline' ? BOUNDS : PATIENT)
      expect(failures(result)).toContain(rule)
      expect(failures(result)).not.toContain('harness')
      // The time of the exchange is bounded. Judging 32 MB takes some more.
      expect(performance.now() - before).toBeLessThan(20_000)
      expect(JSON.stringify(reportOf(result)).length).toBeLessThan(2_000_000)
    },
    40_000,
  )

  test.each([
    ['closes at once', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['speaks no HTTP', (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.0\r\n')],
    [
      'sends two lengths',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na'),
    ],
    ['sends headers without end', (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10)}`)],
  ])('%s gets a verdict', async (_, behaviour) => {
    const url = await listening(
      createTcpServer(socket => {
        socket.on('error', () => {})
        socket.once('data', () => behaviour(socket))
      }),
    )
    const found = failures(await judged(url))
    expect(found.filter(rule => /^answer\.http\.(connect|closed|deadline)$/.test(rule)).length).toBe(1)
    expect(found).not.toContain('harness')
  })

  test('switches to another protocol, and gets its verdict at once', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
    const url = await listening(
      createTcpServer(socket => {
        socket.on('error', () => {})
        socket.once('data', () => socket.write(head))
      }),
    )
    expect(failures(await judged(url, 'stream', 'chat', PATIENT))).toEqual([
      'answer.http.status',
      'answer.http.content-type',
    ])
  })

  test('redirects is not followed', async () => {
    let count = 0
    const other = await listening(
      createServer((_, reply) => {
        count++
        reply.end()
      }),
    )
    const url = await listening(createServer((_, reply) => reply.writeHead(307, { location: `${other}/v1` }).end()))
    expect(failures(await judged(url))).toContain('answer.http.status')
    expect(count).toBe(0)
  })

  test.each(['whole', 'stream'])('is deep or endless where JSON is expected (%s)', async mode => {
    const url = await listening(
      createServer((_, reply) => reply.writeHead(200, mode === 'whole' ? JSON_TYPE : STREAM).end(DEEP)),
    )
    expect(failures(await judged(url, mode))).not.toContain('harness')
    for (const format of ['messages', 'responses', 'contents'])
      expect(failures(await judged(url, mode, format))).not.toContain('harness')
  })
})

/** A scenario of each work beside conversations, in a format of it. */
const OTHERS = [
  ['completions', 'completion-text'],
  ['embeddings', 'embeddings-text'],
  ['contents.embeddings', 'embeddings-inputs'],
  ['cohere.embeddings', 'embeddings-text'],
  ['rerank', 'rerank-text'],
  ['messages.tokens', 'tokens-text'],
  ['chat.models', 'models-one'],
] as const

describe.each(OTHERS)('%s, %s', (format, id) => {
  test.each([
    ['nesting', DEEP],
    ['a list of a million', `[${'0,'.repeat(1_000_000)}0]`],
    ['a million vectors', `{"data":[${'{"embedding":[0]},'.repeat(200_000)}0]}`],
    ['a vector of a million', `{"data":[{"embedding":[${'0,'.repeat(400_000)}0]}],"results":[],"choices":[{}]}`],
    ['no JSON', 'x'.repeat(1_000_000)],
  ])('an answer of %s gets a verdict', async (_, body) => {
    const url = await listening(createServer((_, reply) => reply.writeHead(200, JSON_TYPE).end(body)))
    const found = failures(await judged(url, 'whole', format, PATIENT, id))
    expect(found).not.toEqual([])
    expect(found).not.toContain('harness')
  })
})

/** All reports of a result. */
function reportOf(result: CellResult): string[] {
  const target = { name: 'hostile', bases: {}, key: KEY, model: () => 'm', translates: true }
  const document = resultsOf([result], { kit: '1', started: new Date(0), target, command: 'interlingua conformance' })
  return [JSON.stringify(document), html(document), junit(document), markdown(document), summary(document)]
}

/** Ways in which a target may return the key. */
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const PLANTED: { readonly [name: string]: (key: string) => string } = {
  'as it is': key => key,
  'in base64': base64,
  'in base64 behind one byte': key => base64(`:${key}`),
  'in base64 between others': key => base64(`a:${key}:b`),
  'in base64url': key => Buffer.from(`u:${key}`).toString('base64url'),
  'in a URL': encodeURIComponent,
  'with every character encoded': key => key.replace(/./g, one => `%${one.charCodeAt(0).toString(16)}`),
  'in hexadecimal': key => Buffer.from(key).toString('hex'),
}

const PLACES: { readonly [name: string]: (reply: ServerResponse, planted: string) => void } = {
  'an error’s text': (reply, planted) =>
    reply.writeHead(401, JSON_TYPE).end(JSON.stringify({ error: { message: `Wrong key ${planted}`, type: planted } })),
  'a header': (reply, planted) =>
    reply.writeHead(500, { 'x-echo': planted, [`x-${base64(planted).slice(0, 20).replace(/\W/g, '')}`]: 'a' }).end(),
  'a delta': (reply, planted) => reply.writeHead(200, STREAM).end(chunkWith(planted)),
  'two deltas': (reply, planted) => {
    const half = Math.ceil(planted.length / 2)
    reply.writeHead(200, STREAM).end(chunkWith(planted.slice(0, half)) + chunkWith(planted.slice(half)))
  },
  'a field’s name': (reply, planted) => reply.writeHead(200, STREAM).end(`data: {${JSON.stringify(planted)}:1}\n\n`),
  rubbish: (reply, planted) => reply.writeHead(200, STREAM).end(`${planted}\nevent: ${planted}\n\n`),
}

/** Returns the longest piece of the key, in any of its forms, that a text contains. */
function leaked(text: string, forms: readonly string[]): string | undefined {
  const LENGTH = 8
  for (const form of forms)
    for (let at = 0; at + LENGTH <= form.length; at++)
      if (text.includes(form.slice(at, at + LENGTH))) return form.slice(at, at + LENGTH)
  return undefined
}

describe.each(Object.keys(PLACES))('a key in %s', place => {
  test.each(Object.keys(PLANTED))('%s is in no report', async form => {
    const planted = PLANTED[form]!(KEY)
    const url = await listening(createServer((_, reply) => PLACES[place]!(reply, planted)))
    const result = await judged(url)
    // The characters at the edges of base64 depend on their neighbours.
    const secret = form.includes('base64') ? planted.slice(4, -6) : planted
    for (const text of reportOf(result)) expect(leaked(text, [KEY, secret])).toBeUndefined()
  })
})

describe('the upstream of the kit', () => {
  async function attacked(attack: (upstream: Upstream) => Promise<void> | void): Promise<number> {
    const upstream = await Upstream.open()
    // An answer larger than the buffers of a connection, which breaks off. Its end waits for its reader.
    const text = readScenario('text')
    const chat = { ...text.wires['chat']!, stream: Buffer.from(chunkWith('a'.repeat(1000)).repeat(20_000)) }
    upstream.play({ ...text, upstream: { cut_at: 0.9 }, wires: { chat } })
    await attack(upstream)
    const before = performance.now()
    await upstream.settled(2000)
    await upstream.close()
    return performance.now() - before
  }

  const raw = (upstream: Upstream): Promise<Socket> =>
    new Promise(resolve => {
      const socket = connect(Number(new URL(upstream.root).port), '127.0.0.1', () => resolve(socket))
      socket.on('error', () => {})
      closing.push(() => socket.destroy())
    })

  const HEAD = 'POST /chat/v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'

  test.each<readonly [string, (upstream: Upstream) => Promise<void>]>([
    [
      'headers that never end',
      async upstream => void (await raw(upstream)).write('POST /chat/v1/chat HTTP/1.1\r\na: b\r\n'),
    ],
    [
      'a body that never ends',
      async upstream => void (await raw(upstream)).write(`${HEAD}content-length: 9000\r\n\r\n{`),
    ],
    [
      'a reader that never reads',
      async upstream => {
        const socket = await raw(upstream)
        socket.pause()
        const body = JSON.stringify({ model: 'm', stream: true, messages: [] })
        socket.write(`${HEAD}content-length: ${body.length}\r\n\r\n${body}`)
        await new Promise(resolve => setTimeout(resolve, 200))
      },
    ],
    [
      'a body of 80 MB',
      async upstream => {
        const sent = fetch(`${upstream.base('chat')}/chat/completions`, {
          method: 'POST',
          body: 'x'.repeat(80_000_000),
        })
        await expect(sent).rejects.toThrow()
      },
    ],
    ['rubbish', async upstream => void (await raw(upstream)).write(Buffer.alloc(10_000, 0xff))],
  ])('closes within its time after %s', async (_, attack) => {
    expect(await attacked(attack)).toBeLessThan(6000)
  })

  test('keeps a bounded number of requests', async () => {
    const upstream = await Upstream.open()
    upstream.play(readScenario('text'))
    const body = JSON.stringify({ model: 'm', messages: [] })
    const statuses = []
    for (let count = 0; count < 130; count++)
      statuses.push((await fetch(`${upstream.base('chat')}/chat/completions`, { method: 'POST', body })).status)
    expect(upstream.arrived.length).toBe(100)
    expect(statuses.at(-1)).toBe(404)
    await upstream.close()
  })
})
