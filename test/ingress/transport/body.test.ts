import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import { readJson } from '../../../src/ingress/transport/body.ts'
import { pause, SOON } from '../../builders/time.ts'

const LIMIT = 1000
interface Outcome {
  body: object
  kind?: string
}

let server: Server
let leaver: Promise<unknown> | undefined

beforeAll(async () => {
  server = createServer(async (message, response) => {
    const reading = outcome(message)
    leaver = reading
    response.setHeader('connection', 'close').end(JSON.stringify(await reading))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function outcome(message: IncomingMessage): Promise<unknown> {
  try {
    return { body: await readJson(message, LIMIT) }
  } catch (thrown) {
    return thrown instanceof GatewayError ? { kind: thrown.error.kind, message: thrown.error.message } : String(thrown)
  }
}

const open = (headers: Record<string, string>) =>
  request({ port: (server.address() as AddressInfo).port, method: 'POST', agent: false, headers })

function send(pieces: readonly (string | Uint8Array)[], headers: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const out = open(headers)
    out.on('error', reject)
    out.on('response', answer => {
      let text = ''
      answer.on('data', chunk => (text += chunk)).on('end', () => resolve(JSON.parse(text)))
    })
    for (const piece of pieces) out.write(piece)
    out.end()
  })
}

/** Reads a body that arrives in these pieces over its own connection. `meters` counts the meters opened. */
function metered(pieces: readonly string[]): Promise<{ body: object; meters: number }> {
  return new Promise((resolve, reject) => {
    let meters = 0
    const meter = { take: () => {}, give: () => {}, close: () => {} }
    const own = createServer((message, response) => {
      const body = readJson(message, LIMIT, () => {
        meters++
        return meter
      })
      body.then(body => resolve({ body, meters }), reject).finally(() => response.end())
    })
    own.listen(0, '127.0.0.1', async () => {
      const out = connect((own.address() as AddressInfo).port, '127.0.0.1')
      out.on('close', () => own.close()).resume()
      for (const piece of pieces) {
        out.write(piece)
        await new Promise(next => setTimeout(next, 30))
      }
    })
  })
}

describe('JSON bodies', () => {
  test('are metered unless they arrive with their head', async () => {
    const head = 'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 7\r\n\r\n'
    expect(await metered([`${head}{"a":1}`])).toEqual({ body: { a: 1 }, meters: 0 })
    expect(await metered([head, '{"a":1}'])).toEqual({ body: { a: 1 }, meters: 1 })
    expect(await metered([`${head}{"a"`, ':1}'])).toEqual({ body: { a: 1 }, meters: 1 })
  })

  test('are read from chunks split anywhere', async () => {
    const bytes = Buffer.from('{"text":"grüße 🌍"}')
    const pieces = Array.from(bytes, byte => Buffer.from([byte]))
    expect(await send(pieces)).toEqual({ body: { text: 'grüße 🌍' } })
  })

  test('may have a key named __proto__', async () => {
    const answer = await send(['{"__proto__":{"a":1}}'])
    expect(Object.keys(answer.body)).toEqual(['__proto__'])
  })

  test('may start with a byte order mark', async () => {
    expect(await send(['\uFEFF{"a":1}'])).toEqual({ body: { a: 1 } })
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('are unpacked from %s', async (encoding, pack) => {
    expect(await send([pack('{"a":1}')], { 'content-encoding': encoding })).toEqual({ body: { a: 1 } })
  })

  test('are refused over the limit: announced, arriving or decompressed', async () => {
    const large = JSON.stringify({ text: 'x'.repeat(LIMIT) })
    expect((await send([large], { 'content-length': String(large.length) })).kind).toBe('too-large')
    expect((await send([large.slice(0, 500), large.slice(500)])).kind).toBe('too-large')
    expect((await send([gzipSync(large)], { 'content-encoding': 'gzip' })).kind).toBe('too-large')
  })

  test.each([
    ['text that is not JSON', '{"a":', {}],
    ['a list', '[]', {}],
    ['null', 'null', {}],
    ['nothing', '', {}],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }],
    ['an unknown encoding', '{}', { 'content-encoding': 'compress' }],
    ['an encoding named like an object method', '{}', { 'content-encoding': 'constructor' }],
    ['gzip that is not gzip', '{}', { 'content-encoding': 'gzip' }],
  ])('%s is an invalid request', async (_, body, headers) => {
    expect((await send([body], headers)).kind).toBe('invalid-request')
  })

  test('reading ends when the caller disconnects', async () => {
    leaver = undefined
    const out = open({ 'content-length': '500' })
    out.on('error', () => {})
    out.write('{"a":')
    while (leaver === undefined) await new Promise(resolve => setTimeout(resolve, 5))
    out.destroy()
    expect(await leaver).toMatchObject({ kind: 'cancelled' })
  })
})

test.each(['{"a":1}', '{"a"', ''])(
  'a body whose caller disconnected before reading is not waited for: %j',
  async sent => {
    const outcomes: unknown[] = []
    const late = createServer(message => {
      message.once('close', () => void outcome(message).then(one => outcomes.push(one)))
    })
    await new Promise<void>(resolve => late.listen(0, '127.0.0.1', resolve))
    const out = request({
      ...{ port: (late.address() as AddressInfo).port, method: 'POST', agent: false },
      headers: { 'content-length': 7 },
    })
    out.on('error', () => {})
    out.flushHeaders()
    if (sent !== '') out.write(sent)
    setTimeout(() => out.destroy(), 50)
    await vi.waitFor(() => expect(outcomes).toMatchObject([{ kind: 'cancelled' }]), SOON)
    late.close()
  },
)

test('a compressed body counts as decompressed, also if all of it arrived while its key was looked up', async () => {
  const counted: number[] = []
  let isClosed = false
  const meter = {
    take: (bytes: number) => void counted.push(bytes),
    give: () => {},
    close: () => void (isClosed = true),
  }
  const late = createServer(async (message, response) => {
    await pause(20)
    await readJson(message, 2_000_000, () => meter)
    response.end()
  })
  await new Promise<void>(resolve => late.listen(0, '127.0.0.1', resolve))
  const body = brotliCompressSync(`{"a":"${' '.repeat(1_000_000)}"}`)
  const { port } = late.address() as AddressInfo
  const answered = await new Promise<number | undefined>(resolve =>
    request({ port, method: 'POST', headers: { 'content-encoding': 'br' }, agent: false }, answer =>
      resolve(answer.resume().statusCode),
    ).end(body),
  )
  late.close()
  expect(answered).toBe(200)
  expect(counted.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThanOrEqual(1_000_000)
  expect(isClosed).toBe(true)
})
