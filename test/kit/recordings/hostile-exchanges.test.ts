import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { recordCommand } from '../../../src/commands/record-command.ts'
import { differences, differenceText } from '../../../src/kit/recordings/difference.ts'
import { eventRanges } from '../../../src/kit/recordings/event-ranges.ts'
import { type FiledRecording, readFolder, stemOf, writeToFolder } from '../../../src/kit/recordings/folder.ts'
import { importFile } from '../../../src/kit/recordings/foreign/import-file.ts'
import { Library } from '../../../src/kit/recordings/library.ts'
import { matchKey } from '../../../src/kit/recordings/match-key.ts'
import { openRecordProxy } from '../../../src/kit/recordings/record-proxy.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import { type Recording, VERSION } from '../../../src/kit/recordings/recording.ts'
import { redactedEvents } from '../../../src/kit/recordings/redact-events.ts'
import { Redaction } from '../../../src/kit/recordings/redaction.ts'
import { refresh } from '../../../src/kit/recordings/refresh.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'
import { drift, shapeOf } from '../../../src/kit/recordings/shape.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { growthOf, LINEAR } from '../../builders/growth.ts'
import { cpuTimeOf, TIMED, until } from '../../builders/time.ts'
import { MIB } from '../../builders/units.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'

/*
 * Requests, answers and recordings that try to be more than texts: paths, hosts, headers and lines; texts that take
 * quadratic time to redact or compare; bodies and sessions without end; and clocks that are set back.
 */

const closing = closingAfterEach()
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-exchanges-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function recording(upstream: string, ignore: readonly string[] = []) {
  const folder = newFolder()
  const warnings: string[] = []
  const recorder = new Recorder({ folder, ignore, warn: message => warnings.push(message) })
  const proxy = await openRecordProxy({ upstream, recorder })
  closing.push(() => proxy.close())
  const recordings = async () => {
    await recorder.close()
    return readFolder(folder)
  }
  return { folder, warnings, recorder, recordings, url: proxy.url, port: Number(new URL(proxy.url).port) }
}

async function open(script: Script): Promise<FakeUpstream> {
  const upstream = await FakeUpstream.open(script)
  closing.push(() => upstream.close())
  return upstream
}

/** An upstream that writes raw bytes to each request. */
async function rawUpstream(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer(socket => {
    sockets.add(socket.on('error', () => {}))
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends raw bytes and returns everything that comes back until the connection closes. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    let got = ''
    socket.setEncoding('utf8')
    socket.on('data', chunk => (got += chunk)).on('error', () => {})
    socket.on('close', () => resolve(got))
    socket.write(text)
  })
}

const OK: Script = response => response.setHeader('content-type', 'application/json').end('{"a":1}')

const QUESTION = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const CHAT = '/v1/chat/completions'

const ask = (url: string, body: object | string = QUESTION, headers: Record<string, string> = {}) =>
  fetch(url + CHAT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const recordingOf = (request: Partial<Recording['request']>, answer: Partial<Recording['answer']> = {}): Recording => ({
  ...{ version: VERSION, program: 'test', recorded_at: '2026-11-28T00:00:00.000Z' },
  request: { method: 'POST', path: CHAT, headers: {}, body: { json: QUESTION }, ...request },
  answer: {
    status: 200,
    headers: { 'content-type': 'application/json' },
    ms: 1,
    body: { json: { a: 1 } },
    complete: true,
    ...answer,
  },
})

describe('a request to the recording proxy', () => {
  test.each([
    ['an asterisk', 'OPTIONS * HTTP/1.1'],
    ['a URL whose scheme continues the host', 'GET x://evil.invalid/ HTTP/1.1'],
    ['a URL without a path', 'GET http://evil.invalid HTTP/1.1'],
  ])('for %s is refused, and the proxy goes on', async (_, line) => {
    const upstream = await open(OK)
    const { url, port } = await recording(upstream.address)
    const answer = await sendRaw(port, `${line}\r\nhost: a\r\nconnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 (400|200) /)
    expect(upstream.seen.map(({ url }) => url)).toEqual(line.includes('x://') ? ['/'] : [])
    expect((await ask(url)).status).toBe(200)
  })

  test('for a URL, as clients of proxies send it, goes to the upstream', async () => {
    const upstream = await open(OK)
    const { port } = await recording(`${upstream.address}/v1`)
    const body = JSON.stringify(QUESTION)
    await sendRaw(
      port,
      `POST http://api.openai.com/v1/chat/completions?a=1 HTTP/1.1\r\nhost: api.openai.com\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/v1/chat/completions?a=1'])
  })

  test.each(['a, a', 'a b', 'a,,b', '"'])(
    'for a session with the subprotocols %j is refused, and the proxy goes on',
    async protocols => {
      const upstream = await open(OK)
      const { url, port } = await recording(upstream.address)
      const head = `GET /v1/realtime HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: ${protocols}\r\n\r\n`
      expect(await sendRaw(port, head)).toMatch(/^HTTP\/1\.1 400 /)
      expect((await ask(url)).status).toBe(200)
    },
  )

  test('for another upgrade than a WebSocket is answered over HTTP, as Java’s clients expect', async () => {
    const upstream = await open(OK)
    const { port, recordings } = await recording(upstream.address)
    const body = JSON.stringify(QUESTION)
    const text = `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const post = async (to: number): Promise<string> => {
      const socket = connect(to, '127.0.0.1')
      closing.push(() => socket.destroy())
      socket.write(text)
      let got = ''
      await new Promise<void>(resolve => {
        socket.on('data', chunk => {
          got += chunk
          if (got.includes('{"a":1}')) resolve()
        })
        socket.on('close', () => resolve()).on('error', () => {})
      })
      return got
    }
    expect(await post(port)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"a":1\}/)
    const replay = await openReplay({ recordings: await recordings() })
    closing.push(() => replay.close())
    expect(await post(Number(new URL(replay.url).port))).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"a":1\}/)
  })

  test('names a file in the folder, whatever its texts are', async () => {
    const folder = newFolder()
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          method: fc.oneof(fc.string(), fc.constantFrom('POST', '../x', 'GET\n/', '\0')),
          path: fc.oneof(fc.string(), fc.constantFrom(CHAT, '/../../etc/passwd', '/a\u001b[2J', '/%00')),
          content: fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.constantFrom('../..', 'CON', '.', '\ud800', 'a'.repeat(5000)),
          ),
          format: fc.option(fc.constantFrom('chat', '../chat', 'a/b', '')),
        }),
        async ({ method, path, content, format }) => {
          const body = { json: { ...QUESTION, messages: [{ role: 'user', content }] } }
          const one = { ...recordingOf({ method, path, body }), ...(format === null ? {} : { format }) }
          expect(stemOf(one)).toMatch(/^[a-z0-9-]{0,40}-[0-9a-f]{8}$/)
          const file = await writeToFolder(folder, one)
          expect(basename(file)).toBe(file)
          expect(readdirSync(folder)).toContain(file)
        },
      ),
      { numRuns: 25 },
    )
    expect(readdirSync(folder).filter(name => !/^[a-z0-9-]+\.json$/.test(name))).toEqual([])
  })
})

describe('an answer of the upstream', () => {
  test.each(['000', '099'])('with status %s is no answer, and the proxy goes on', async status => {
    const address = await rawUpstream(socket => socket.end(`HTTP/1.1 ${status} X\r\ncontent-length: 2\r\n\r\n{}`))
    const { url } = await recording(address)
    expect((await ask(url)).status).toBe(502)
    expect((await ask(url)).status).toBe(502)
  })

  test('that no recording can hold is passed on, and leaves the folder readable', async () => {
    const address = await rawUpstream(socket => socket.end('HTTP/1.1 999 X\r\ncontent-length: 2\r\n\r\n{}'))
    const { port, warnings, recorder, recordings } = await recording(address)
    const body = JSON.stringify(QUESTION)
    const head = `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`
    expect(await sendRaw(port, head + body)).toMatch(/^HTTP\/1\.1 999 /)
    await recorder.close()
    expect(warnings.join()).toMatch(/^cannot record POST \/v1\/chat\/completions: answer\.status /)
    expect(await recordings()).toEqual([])
  })

  test('whose file would be too large to read is passed on, and leaves the folder readable', async () => {
    const text = '\u0001'.repeat(12 * MIB)
    const upstream = await open(response => response.setHeader('content-type', 'text/plain').end(text))
    const { url, warnings, recorder, recordings } = await recording(upstream.address)
    expect((await (await ask(url)).text()).length).toBe(text.length)
    await recorder.close()
    expect(warnings.join()).toMatch(/too large/)
    expect(await recordings()).toEqual([])
  })

  test.each(['request', 'answer'])('a compressed %s that expands without end is not expanded', async side => {
    const bomb = gzipSync(Buffer.alloc(60 * MIB))
    const upstream = await open(response => {
      response.setHeader('content-type', 'application/json')
      if (side === 'answer') response.setHeader('content-encoding', 'gzip').end(bomb)
      else response.end('{}')
    })
    const { port, warnings, recorder } = await recording(upstream.address)
    const headers = side === 'request' ? { 'content-encoding': 'gzip' } : {}
    await new Promise<void>(resolve => {
      const out = httpRequest({ port, path: CHAT, method: 'POST', headers }, (answer: IncomingMessage) =>
        answer.resume().on('close', () => resolve()),
      )
      out.on('error', () => resolve())
      out.end(side === 'request' ? bomb : '{}')
    })
    await recorder.close()
    expect(warnings.join()).toMatch(/too large/)
  })
})

describe('a text of many megabytes without a break', () => {
  const LONG = randomBytes(7 * MIB).toString('base64')
  const LONG_TEXT = Buffer.from('a long text. '.repeat(MIB / 2)).toString('base64')
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value))
  const spaced = (value: object): Buffer => Buffer.from(JSON.stringify(value).replaceAll('":', '": '))
  const BODIES: readonly (readonly [string, string, Buffer])[] = [
    ['JSON', 'application/json', json({ ...QUESTION, image: `data:image/png;base64,${LONG}` })],
    ['spaced JSON', 'application/json', spaced({ ...QUESTION, image: LONG })],
    ['a text in base64', 'application/json', json({ ...QUESTION, file: LONG_TEXT })],
    ['bytes', 'application/octet-stream', Buffer.from(LONG, 'base64')],
    ['words', 'text/plain', Buffer.from('é'.repeat(8 * MIB))],
    ['a line', 'text/event-stream', Buffer.from(`data: {"b64_json": "${LONG}"}\n\n`)],
    ['a list', 'application/json', Buffer.from(`[{"data":"${LONG}"},\r\n{"data":"b"}]`)],
    ['a form', 'multipart/form-data; boundary=x', multipartOf(Buffer.from(LONG, 'base64'))],
  ]

  test.each(BODIES)('is recorded as %s, without the secret beside it, and found again', async (_, type, body) => {
    const folder = newFolder()
    const recorder = new Recorder({ folder, warn: message => expect.fail(message) })
    const headers = { authorization: 'Bearer sk-secret-1234567890', 'content-type': type }
    const secret = Buffer.from('\nsk-secret-1234567890')
    const request = { method: 'POST', url: type.includes('stream') ? '/v1/chat/completions' : '/other', headers, body }
    const chunks = [body, ...(type.includes('json') || type.includes('form') ? [] : [secret])].map(bytes => ({
      ms: 1,
      bytes,
    }))
    recorder.exchange(
      request,
      { status: 200, headers: { 'content-type': type }, ms: 1, chunks, isComplete: true },
      new Date(),
    )
    await recorder.close()
    const [one] = readFolder(folder)
    expect(JSON.stringify(one!.recording.answer).length).toBeGreaterThan(6 * MIB)
    expect(JSON.stringify(one)).not.toContain('sk-secret')
    const library = new Library([one!])
    expect(await library.find(request, { format: undefined, streams: false })).toMatchObject({ file: one!.file })
  })

  test('is recorded in a session', async () => {
    const folder = newFolder()
    const recorder = new Recorder({ folder, warn: message => expect.fail(message) })
    const frames = [`{"type": "x", "audio": "${LONG}"}`, LONG].map(text => ({
      ...({ ms: 1, from: 'caller', isBinary: false, bytes: Buffer.from(text) } as const),
    }))
    const request = {
      method: 'GET',
      url: '/v1/realtime',
      headers: { 'api-key': 'sk-secret-1234567890' },
      body: Buffer.alloc(0),
    }
    recorder.session(request, { frames }, new Date())
    await recorder.close()
    expect(readFolder(folder)[0]!.recording.session!.frames).toHaveLength(2)
  })
})

function multipartOf(bytes: Buffer): Buffer {
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\ncontent-type: audio/wav\r\n\r\n'
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--x--\r\n')])
}

describe('sessions without end', () => {
  async function sessions(onSession: (socket: WebSocket) => void) {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    server.on('connection', socket => onSession(socket.on('error', () => {}) as WebSocket))
    await new Promise<void>(resolve => server.once('listening', resolve))
    closing.push(() => {
      for (const client of server.clients) client.terminate()
      server.close()
    })
    return recording(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }

  const opened = (url: string): Promise<WebSocket> =>
    new Promise(resolve => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`)
      socket.on('error', () => {}).once('open', () => resolve(socket))
      closing.push(() => socket.terminate())
    })

  test('whose caller reads nothing slow down the upstream instead of filling the memory', async () => {
    let accepted = 0
    const { url } = await sessions(socket => {
      const piece = Buffer.alloc(MIB)
      const more = (): void => {
        if (socket.readyState !== socket.OPEN || accepted >= 150) return
        socket.send(piece, () => {
          accepted++
          more()
        })
      }
      for (let parallel = 0; parallel < 4; parallel++) more()
    })
    const caller = await opened(url)
    caller.pause()
    let last = -1
    for (let still = 0; still < 10; still = accepted === last ? still + 1 : 0) {
      last = accepted
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    expect(accepted).toBeLessThan(60)
    let received = 0
    caller.on('message', data => (received += (data as Buffer).length)).resume()
    await until(() => received > 120 * MIB)
  })

  test('of empty messages are passed on, but recorded up to a limit only', async () => {
    const count = 20_000
    const { url, warnings, recorder } = await sessions(socket => {
      socket.send(Buffer.alloc(47 * MIB))
      for (let sent = 0; sent < count; sent++) socket.send('')
      socket.close()
    })
    const caller = await opened(url)
    let received = 0
    caller.on('message', () => received++)
    await new Promise(resolve => caller.once('close', resolve))
    await recorder.close()
    expect(received).toBe(count + 1)
    expect(warnings.join()).toMatch(/too large/)
  })
})

describe('a session that the upstream does not answer', () => {
  const openedAt = (url: string): WebSocket => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`)
    closing.push(() => socket.terminate())
    return socket.on('error', () => {}) as WebSocket
  }

  test.each([
    ['breaks off', (caller: WebSocket) => caller.terminate()],
    ['says goodbye', (caller: WebSocket) => (caller as unknown as { _req: { socket: Socket } })._req.socket.end()],
  ])('is left when its caller %s', async (_, leave) => {
    let ended = 0
    let arrived = 0
    const address = await rawUpstream(socket => {
      arrived++
      socket.on('close', () => ended++).resume()
    })
    const { url } = await recording(address)
    const caller = openedAt(url)
    await until(() => arrived === 1)
    leave(caller)
    await until(() => ended === 1, 3000)
  })

  test('does not keep the proxy from ending', async () => {
    let arrived = 0
    const address = await rawUpstream(() => arrived++)
    const recorder = new Recorder({ folder: newFolder(), warn: message => expect.fail(message) })
    const proxy = await openRecordProxy({ upstream: address, recorder })
    openedAt(proxy.url)
    await until(() => arrived === 1)
    const ended = proxy.close().then(() => 'ended')
    expect(await Promise.race([ended, new Promise(resolve => setTimeout(resolve, 3000, 'waiting'))])).toBe('ended')
  })

  test('but refuses leaves no connection open', async () => {
    let ended = 0
    const address = await rawUpstream(socket => {
      socket.on('close', () => ended++).write('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')
    })
    const { url } = await recording(address)
    const caller = openedAt(url)
    await new Promise(resolve => caller.once('close', resolve))
    await until(() => ended === 1, 3000)
  })
})

describe('a replay server', () => {
  async function replaying(recordings: readonly FiledRecording[]) {
    const replay = await openReplay({ recordings })
    closing.push(() => replay.close())
    return replay
  }

  test('refuses a body without end', async () => {
    const { url } = await replaying([{ file: 'a.json', recording: recordingOf({}) }])
    let written = 0
    await new Promise<void>(resolve => {
      const out = httpRequest(url + CHAT, { method: 'POST' })
      const piece = Buffer.alloc(MIB, ' ')
      const more = (): void => {
        while (!out.destroyed && written < 500 * MIB) {
          written += piece.length
          if (!out.write(piece)) return void out.once('drain', more)
        }
        out.end()
      }
      out
        .on('response', answer => answer.resume())
        .on('error', () => {})
        .on('close', () => resolve())
      more()
    })
    expect(written).toBeLessThan(200 * MIB)
    expect((await ask(url)).status).toBe(200)
  })

  test('keeps a bounded number of misses, of bounded length', async () => {
    const replay = await replaying([{ file: 'a.json', recording: recordingOf({}) }])
    const long = { ...QUESTION, metadata: { ['k'.repeat(100_000)]: 'v'.repeat(100_000) }, user: 'x'.repeat(100_000) }
    expect((await ask(replay.url, long)).status).toBe(404)
    expect(replay.misses[0]!.length).toBeLessThan(20_000)
    const others = Array.from({ length: 1100 }, (_, seed) => ask(replay.url, { ...QUESTION, seed }))
    await Promise.all(others.map(async answer => (await answer).arrayBuffer()))
    expect(replay.misses.length).toBeLessThanOrEqual(1000)
  })

  test('answers a compressed request from its recording', async () => {
    const upstream = await open(OK)
    const { port, recordings } = await recording(upstream.address)
    const send = (to: number): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
        httpRequest({ port: to, path: CHAT, method: 'POST', headers }, answer => {
          answer.resume()
          resolve(answer.statusCode!)
        })
          .on('error', reject)
          .end(gzipSync(JSON.stringify(QUESTION)))
      })
    expect(await send(port)).toBe(200)
    const { url } = await replaying(await recordings())
    expect(await send(Number(new URL(url).port))).toBe(200)
  })

  test('sends no header of a connection, whatever a file states', async () => {
    const headers = {
      'content-type': 'text/plain',
      'Content-Length': '3',
      'transfer-encoding': 'chunked',
      connection: 'x',
    }
    const body = { text: 'abcHTTP/1.1 200 Evil\r\ncontent-length: 4\r\n\r\nevil' }
    const { url } = await replaying([{ file: 'a.json', recording: recordingOf({}, { headers, body }) }])
    const [first, second] = [await ask(url), await ask(url)]
    expect(await first.text()).toBe(body.text)
    expect(await second.text()).toBe(body.text)
  })

  test.each(['a\r\nx-evil: 1', 'a\u0000b', 'é\u0100'])(
    'with the header value %j in a file still answers',
    async value => {
      const { url } = await replaying([
        {
          file: 'a.json',
          recording: recordingOf({}, { headers: { 'content-type': 'application/json', 'x-request-id': value } }),
        },
      ])
      const answer = await ask(url)
      expect(answer.headers.get('x-evil')).toBeNull()
      await answer.arrayBuffer()
      expect((await fetch(`${url}/nothing`)).status).toBe(404)
    },
  )

  test('tells of a miss in lines of its own, whatever names and texts are', async () => {
    const evil = 'x\u001b[2J\r\n- forged: 1\u2028\u009b'
    const one = recordingOf({ body: { json: { ...QUESTION, metadata: { [evil]: evil } } } })
    const { url, misses } = await replaying([{ file: `a\u001b]0;evil\u0007\n.json`, recording: one }])
    await ask(url, { ...QUESTION, metadata: { [`${evil}2`]: `${evil}2` } })
    const lines = misses.join('\n').split('\n')
    expect(lines.filter(line => !/^(No recording|[-+] [\w.]*metadata|[-+] metadata)/.test(line))).toEqual([])
    expect(misses.join('')).not.toMatch(/[\p{Cc}\u2028](?<!\n)/u)
  })
})

describe('a refresh', () => {
  const written = (one: Recording, name = 'a.json', folder = newFolder()): string => {
    writeFileSync(join(folder, name), JSON.stringify(one))
    return folder
  }
  const all = (folder: string, upstream: string, key = 'sk-provider-12345') =>
    Array.fromAsync(refresh({ folder, upstream, key }))

  test.each(['@127.0.0.1:PORT/v1', '.evil.invalid/', ':80@127.0.0.1:PORT/', 'evil', '\\@127.0.0.1:PORT/'])(
    'sends the key to no host that the path %j of a recording names',
    async path => {
      const evil = await open(OK)
      const upstream = await open(OK)
      const port = new URL(evil.address).port
      const folder = written(recordingOf({ path: path.replace('PORT', port) }))
      const [one] = await all(folder, upstream.address.replace('127.0.0.1', 'localhost'))
      expect(one!.reasonKept).toMatch(/is not a path/)
      expect([...evil.seen, ...upstream.seen]).toEqual([])
    },
  )

  test('sends no host, length or encoding that a recording states', async () => {
    const upstream = await open(OK)
    const headers = { host: 'evil.invalid', 'Content-Length': '1', 'transfer-encoding': 'chunked', 'x-kept': '1' }
    await all(written(recordingOf({ headers })), upstream.address)
    expect(upstream.seen[0]).toMatchObject({ text: JSON.stringify(QUESTION), headers: { 'x-kept': '1' } })
    expect(upstream.seen[0]!.headers.host).toBe(new URL(upstream.address).host)
  })

  test('sends the parts of a form as parts, whatever their names and types are', async () => {
    const upstream = await open(OK)
    const evil = 'a"\r\nx-evil: 1\r\n\r\nevil\u0000'
    const form = [
      { field: evil, text: 'one' },
      { field: 'file', name: evil, media_type: 'text/plain\r\nx-evil: 1', text: 'two' },
    ]
    const headers = { 'content-type': 'multipart/form-data; boundary=abc' }
    await all(written(recordingOf({ path: '/v1/audio/transcriptions', headers, body: { form } })), upstream.address)
    const { text, headers: got } = upstream.seen[0]!
    expect(text.split('\r\n').filter(line => /^x-evil/i.test(line))).toEqual([])
    const parts = await new Response(text, { headers: { 'content-type': got['content-type']! } }).formData()
    expect([...parts.keys()]).toHaveLength(2)
  })

  test('ends when an answer does not, and keeps the recording', async () => {
    const piece = Buffer.alloc(MIB, ' ')
    const upstream = await open(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const folder = written(recordingOf({}))
    const before = readFileSync(join(folder, 'a.json'), 'utf8')
    expect((await all(folder, upstream.address))[0]!.reasonKept).toMatch(/too large/)
    expect(readFileSync(join(folder, 'a.json'), 'utf8')).toBe(before)
  })

  test('goes on after an answer that no recording can hold', async () => {
    const address = await rawUpstream(socket =>
      socket.end('HTTP/1.1 399 X\r\nconnection: close\r\ncontent-encoding: unknown\r\ncontent-length: 2\r\n\r\n{}'),
    )
    const folder = written(recordingOf({}))
    written(recordingOf({ body: { json: { ...QUESTION, seed: 1 } } }), 'b.json', folder)
    const results = await all(folder, address)
    expect(results.map(({ reasonKept }) => reasonKept)).toEqual(
      Array(2).fill(expect.stringMatching(/cannot be recorded/)),
    )
    expect(readdirSync(folder).sort()).toEqual(['a.json', 'b.json'])
  })

  test('prints no name of an answer that moves the cursor or forges a line', async () => {
    const upstream = await open(response =>
      response.setHeader('content-type', 'application/json').end('{"x\\u001b[2J\\n+ forged: string":1}'),
    )
    let out = ''
    const terminal = { out: (text: string) => void (out += `${text}\n`), fault: () => {} }
    const options = { upstream: upstream.address, host: '', port: 0, redact: [], ignore: [], refresh: true } as const
    await recordCommand(written(recordingOf({})), options, terminal).catch(() => {})
    expect(out).not.toContain('\u001b')
    expect(out.split('\n').filter(line => line.trim().startsWith('+ forged'))).toEqual([])
  })
})

describe('a clock that is set back', () => {
  test('between two equal requests does not exchange their answers', async () => {
    let count = 0
    const upstream = await open(response =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ answer: ++count })),
    )
    const { url, recordings } = await recording(upstream.address)
    const real = Date.now()
    for (const hours of [0, -1, -5, 3, -2]) {
      vi.useFakeTimers({ toFake: ['Date'], now: real + hours * 3_600_000 })
      await (await ask(url)).arrayBuffer()
    }
    vi.useRealTimers()
    const replay = await openReplay({ recordings: await recordings() })
    closing.push(() => replay.close())
    const answers = []
    for (let sent = 0; sent < 5; sent++)
      answers.push(((await (await ask(replay.url)).json()) as { answer: number }).answer)
    expect(answers).toEqual([1, 2, 3, 4, 5])
  })

  test.each<[string, number, readonly number[]]>([
    ['is kept', 2, [11, 2]],
    ['is replaced', 0, [11, 12]],
  ])('or a refresh in which a later answer %s keeps the order of equal requests', async (_, failing, expected) => {
    const folder = newFolder()
    for (const answer of [1, 2]) {
      const one = recordingOf({}, { body: { json: { answer } } })
      await writeToFolder(folder, { ...one, recorded_at: `2026-11-2${answer}T00:00:00.000Z` })
    }
    let count = 0
    const upstream = await open(response => {
      count++
      // The clock is set back between the two requests.
      if (failing === 0) vi.setSystemTime('2026-12-01')
      response.writeHead(count === failing ? 500 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ answer: 10 + count }))
    })
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2027-01-01') })
    await Array.fromAsync(refresh({ folder, upstream: upstream.address }))
    vi.useRealTimers()
    const answers = readFolder(folder).map(
      ({ recording }) => (recording.answer!.body!.json as { answer: number }).answer,
    )
    expect(answers).toEqual(expected)
  })
})

describe('what callers and upstreams send takes linear time', TIMED, () => {
  const secret = [/secret-key-12345/gi]

  test('to redact a megabyte of paths and names, each of which could be base64', () => {
    const redaction = new Redaction([], [/sk-secret-1234/g])
    const line = '/usr/lib/node_modules/some-package/dist/index.js: someFunctionName(argument_one, argumentTwo)\n'
    const text = line.repeat(2 ** 20 / line.length)
    const times = [1, 2, 3].map(() => cpuTimeOf(() => expect(redaction.text(text)).toBe(text)))
    expect(Math.min(...times)).toBeLessThan(400)
  })

  test('to redact base64 inside base64, which each level could multiply', async () => {
    /** Base64 that starts anew behind sixteen separators, inside base64 of the same kind. */
    const nested = (levels: number): string => {
      let text = 'x'.repeat(30)
      for (let level = 0; level < levels; level++) text = Buffer.from('ab?'.repeat(16) + text).toString('base64')
      return text
    }
    let calls = 0
    class Counting extends RegExp {
      override [Symbol.matchAll](text: string) {
        calls++
        return super[Symbol.matchAll](text)
      }
    }
    const callsFor = (levels: number): number => {
      calls = 0
      new Redaction([], [new Counting('secret-key-12345', 'g')]).text(nested(levels))
      return calls
    }
    const few = callsFor(2)
    expect(callsFor(3)).toBeLessThan(few * 5)
    // Each level multiplied the calls by seventeen.
    expect(callsFor(9)).toBeLessThan(few * 100)
  })

  test.each([1, 2, 3])('and still finds a secret %s levels deep, behind a separator', levels => {
    let text = 'my secret-key-12345 is here'
    for (let level = 0; level < levels; level++) text = Buffer.from(text).toString('base64')
    const redacted = new Redaction([], secret).text(`https://host/path/${text} and more`)
    let inner = redacted
    for (let level = 0; level < levels; level++)
      inner = Buffer.from(
        /[A-Za-z0-9+/=_-]{16,}$/.exec(inner.split(' ')[0]!)?.[0].replace(/^.*path\//, '') ?? '',
        'base64',
      ).toString()
    expect(inner).toContain('[redacted]')
    expect(redacted).not.toContain(text)
  })

  test.each<[string, readonly string[], (size: number) => string]>([
    ['beginnings of a rule', ['/^sk-/'], size => 'sk-'.repeat(size)],
    ['beginnings of lines', ['/^./m'], size => 'a\n'.repeat(size)],
    ['words of base64', [], size => 'abcdefgh/ijklmnop/'.repeat(size)],
    ['blanks', ['/\\s+$/'], size => ' '.repeat(size / 4)],
  ])('to redact %s', async (_, rules, textOf) => {
    const redaction = new Redaction(rules, secret)
    expect(await growthOf(size => redaction.text(textOf(size)), 2000)).toBeLessThan(LINEAR)
  })

  const deep = (levels: number, name: string, inner: string): string =>
    `${`{"${name}":`.repeat(levels)}${inner}${'}'.repeat(levels)}`
  const leaves = (count: number): string => `[${Array(count).fill('"a"').join()}]`

  test.each<[string, readonly string[], (size: number) => string]>([
    ['many texts below a long name', [], size => `{"${'n'.repeat(size * 200)}":${leaves(size)}}`],
    ['many texts below a long type', [], size => `{"type":"${'t'.repeat(size * 200)}","a":${leaves(size)}}`],
    ['many texts below objects as types', [], size => deep(300, 'type', leaves(size))],
    ['many texts that are nested', [], size => deep(300, 'a', leaves(size))],
    ['nested texts and a rule', ['**.secret', '**.a.**.b.**.c'], size => deep(Math.min(size / 4, 1000), 'a', '"x"')],
  ])('to redact events with %s', async (_, rules, payload) => {
    const redaction = new Redaction(rules, secret)
    expect(await growthOf(size => redactedEvents([payload(size), payload(size)], redaction), 500)).toBeLessThan(LINEAR)
  })

  test('to redact nested bodies by rules for any depth', async () => {
    const redaction = new Redaction(['**.secret', '**.a.**.b.**.c'], secret)
    const nest = (levels: number) => JSON.parse(deep(levels, 'a', '"x"'))
    expect(await growthOf(size => redaction.json(redaction.without(nest(size))), 200)).toBeLessThan(LINEAR)
  })

  test('to read a form with very many fields of one name', async () => {
    const form = (count: number) => Array.from({ length: count }, () => ({ field: 'model', text: 'm' }))
    const requestWith = (count: number) => ({
      ...{ method: 'POST', path: '/v1/images/edits', headers: {} },
      body: { form: form(count) },
    })
    expect(await growthOf(count => matchKey(requestWith(count)), 8000)).toBeLessThan(LINEAR)
  }, 60_000)

  test('to read very many turns of one role, and very many calls with their results', async () => {
    const requestWith = (messages: readonly object[]) => ({
      ...{ method: 'POST', path: '/v1/chat/completions', headers: {} },
      body: { json: { model: 'm', messages } },
    })
    const turns = (count: number) => Array.from({ length: count }, (_, at) => ({ role: 'user', content: `turn ${at}` }))
    const calls = (count: number) => {
      const ids = Array.from({ length: count }, (_, at) => `call_${at}`)
      const made = ids.map(id => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } }))
      const results = ids.map(id => ({ role: 'tool', tool_call_id: id, content: id }))
      return [{ role: 'assistant', tool_calls: made }, ...results]
    }
    for (const messages of [turns, calls])
      expect(await growthOf(count => matchKey(requestWith(messages(count))), 5000)).toBeLessThan(LINEAR)
  }, 60_000)

  test('to compare requests', async () => {
    const wide = (size: number, text: string) => ({ ['n'.repeat(size * 200)]: Array(size).fill(text) })
    expect(await growthOf(size => differenceText(differences(wide(size, 'a'), wide(size, 'b'))), 1000)).toBeLessThan(
      LINEAR,
    )
  })

  test.each<[string, (size: number) => string]>([
    ['a string without an end', size => `["${'\\"a'.repeat(size)}`],
    ['backslashes at the end', size => `["${'\\'.repeat(size * 2 + 1)}`],
    ['brackets', size => '[{'.repeat(size)],
    ['items', size => `[${'{"a":1},'.repeat(size)}`],
  ])('to split a JSON stream with %s', async (_, textOf) => {
    expect(await growthOf(size => eventRanges(textOf(size), 'application/json'), 4000)).toBeLessThan(LINEAR)
  })

  test('to compare the shapes of answers with very many empty lists', async () => {
    const shape = (size: number, more: object = {}) => {
      const json = { ...Object.fromEntries(Array.from({ length: size }, (_, at) => [`k${at}`, []])), ...more }
      return shapeOf(recordingOf({}, { body: { json } }).answer!)
    }
    expect(await growthOf(size => drift(shape(size), shape(size, { more: 1 })), 1500)).toBeLessThan(LINEAR)
    expect(drift(shape(2), shapeOf(recordingOf({}, { body: { json: { k0: [{ a: 1 }], k1: [] } } }).answer!))).toEqual(
      [],
    )
  })

  test('to write very many recordings of one request, also from another tool’s file', async () => {
    const folder = newFolder()
    const file = join(newFolder(), 'a.har')
    const entry = {
      startedDateTime: '2026-11-28T00:00:00.000Z',
      request: { method: 'GET', url: 'https://h/v1/videos/1' },
      response: { status: 200, content: { mimeType: 'application/json', text: '{}' } },
    }
    writeFileSync(file, JSON.stringify({ log: { entries: Array(400).fill(entry) } }))
    await importFile(file, { folder })
    const numbers = new Map<string, number>()
    const one = readFolder(folder)[0]!.recording
    const start = performance.now()
    await writeToFolder(folder, one, { numbers })
    const first = performance.now() - start
    const many = performance.now()
    for (let count = 0; count < 20; count++) await writeToFolder(folder, one, { numbers })
    // The first one tries the names of all others; those after it know the next one.
    expect(performance.now() - many).toBeLessThan(Math.max(first * 20, 400) / 2)
    expect(readdirSync(folder)).toHaveLength(421)
  })
})
