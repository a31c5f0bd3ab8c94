import { readdirSync, readlinkSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { Spool } from '../../../src/ingress/transport/spool.ts'
import { ALONE, type ChannelFields, channelAt, LIMITS, SOCKETS, type TestServerOptions } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { TRANSCRIPTIONS_PATH } from '../../builders/paths.ts'
import { TIMED, until } from '../../builders/time.ts'
import { MIB } from '../../builders/units.ts'
import { deadAddress } from '../../builders/upstream.ts'
import { json, Stub } from '../../transcriptions/stub.ts'
import { hashOf, type Piece, upload } from '../../transcriptions/upload.ts'
import { channelOf, TEXT, UPSTREAMS } from '../../transcriptions/upstreams.ts'

const { closing, openGateway } = opener()

async function openStub(...script: Parameters<typeof Stub.open>): Promise<Stub> {
  const stub = await Stub.open(...script)
  closing.push(() => stub.close())
  return stub
}

const good = json({ text: 'so it was said' })

const channel = (address: string, fields: ChannelFields = {}): ChannelConfig =>
  channelAt(address, { format: 'transcriptions', ...fields })

async function open(options: TestServerOptions = {}, fields: Partial<ChannelConfig> = {}) {
  const stub = await openStub(good)
  const testServer = await openGateway([channel(stub.address, fields)], options)
  return {
    stub,
    testServer,
    send: (pieces: readonly Piece[], more = {}) => upload(testServer.server.address, TRANSCRIPTIONS_PATH, pieces, more),
  }
}

const model: Piece = { name: 'model', value: 'm' }
const file = (size: number): Piece => ({ name: 'file', file: 'talk.mp3', size })
const sized = (size: number) => ({ field: 'file', name: 'talk.mp3', mediaType: 'audio/mpeg', size, hash: hashOf(size) })

/** The gateway's open files that are unlinked. */
const spooled = (): string[] =>
  readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return /interlingua-.*\(deleted\)/.test(path) ? [path] : []
    } catch {
      return []
    }
  })

test.each([
  ['talk.mp3', 1000, 'audio/mpeg'],
  ['talk.mp3', 9 * MIB, 'audio/mpeg'],
  ['talk', 1000, 'application/octet-stream'],
])('a file %s of %d bytes that declares no type does not become text', async (name, size, mediaType) => {
  const { stub, send } = await open()
  const { status } = await send([model, { name: 'file', file: name, size, mediaType: null }])
  expect(status).toBe(200)
  expect(stub.seen[0]!.files).toEqual([{ field: 'file', name, mediaType, size, hash: hashOf(size) }])
})

describe('a form reaches the upstream byte for byte', () => {
  test.each([
    ['small', 1000],
    ['as large as the buffer', 4 * MIB],
    ['large', 9 * MIB + 17],
  ])('%s, model first', async (_, size) => {
    const { stub, send } = await open()
    const { status, json } = await send([model, file(size)])
    expect({ status, json }).toEqual({ status: 200, json: { text: 'so it was said' } })
    expect(stub.seen[0]!.files).toEqual([sized(size)])
    expect(stub.seen[0]!.fields).toEqual([['model', 'm']])
  })

  test.each([
    ['small', 1000],
    ['large', 9 * MIB + 17],
  ])('%s, file first', async (_, size) => {
    const { stub, send } = await open()
    expect((await send([file(size), model])).status).toBe(200)
    expect(stub.seen[0]!.files).toEqual([sized(size)])
    expect(Number(stub.seen[0]!.headers['content-length'])).toBeGreaterThan(size)
    await until(() => spooled().length === 0)
  })

  test('fields after a streamed file count: more of a list, and the shape of the answer', async () => {
    const { stub, send } = await open()
    stub.answer = json({ text: 'so it was said', segments: [{ id: 0, start: 0, end: 1, text: 'so it was said' }] })
    const answer = await send([
      model,
      { name: 'keywords[]', value: 'first' },
      file(9 * MIB),
      { name: 'keywords[]', value: 'second' },
      { name: 'language', value: 'en' },
      { name: 'response_format', value: 'srt' },
    ])
    expect(answer.text).toBe('1\n00:00:00,000 --> 00:00:01,000\nso it was said\n\n')
    expect(stub.seen[0]!.fields).toEqual([
      ['model', 'm'],
      ['keywords[]', 'first'],
      ['keywords[]', 'second'],
      ['language', 'en'],
      ['response_format', 'srt'],
    ])
    expect(stub.seen[0]!.headers['transfer-encoding']).toBe('chunked')
  })

  test('the upstream receives a large file before its end has arrived', async () => {
    const { stub, send } = await open()
    let began = false
    stub.early = () => {
      began = true
      return false
    }
    const seenAt: boolean[] = []
    await send([model, file(24 * MIB)], {
      between: async (sent: number) => {
        if (sent > 12 * MIB && seenAt.length === 0) {
          await until(() => began)
          seenAt.push(began)
        }
      },
    })
    expect(seenAt).toEqual([true])
  })

  test('a slow caller gets a longer timeout than a slow upstream', TIMED, async () => {
    const { send } = await open({}, { timeout: { connect: 10_000, firstByte: 500, idle: 20_000 } })
    const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 700))
    let paused = false
    const { status } = await send([model, file(6 * MIB)], {
      between: (sent: number) => {
        if (paused || sent < 5 * MIB) return undefined
        paused = true
        return pause()
      },
    })
    expect(status).toBe(200)
  })

  test('an upstream that stops reading the form times out', async () => {
    const { stub, send } = await open({}, { timeout: { connect: 10_000, firstByte: 20_000, idle: 300 } })
    stub.early = () => true
    expect((await send([model, file(64 * MIB)])).status).toBe(504)
  })

  test('an upstream that has the whole form and does not answer times out', async () => {
    const { stub, send } = await open({}, { timeout: { connect: 10_000, firstByte: 200, idle: 20_000 } })
    stub.answer = () => {}
    expect((await send([model, file(6 * MIB)])).status).toBe(504)
  })
})

test('an upstream that takes only the recording gets all of it, from memory, disk or stream', async () => {
  const stub = await openStub((response, seen) => UPSTREAMS['deepgram']!.answer(response, seen))
  const testServer = await openGateway([channelOf(UPSTREAMS['deepgram']!, stub.address)])
  for (const size of [1000, 9 * MIB])
    expect((await upload(testServer.server.address, TRANSCRIPTIONS_PATH, [model, file(size)])).json).toEqual({
      text: TEXT,
      duration: 3.5,
    })
  expect(stub.seen.map(({ raw: { size, hash } }) => ({ size, hash }))).toEqual(
    [1000, 9 * MIB].map(size => ({ size, hash: hashOf(size) })),
  )
  expect(stub.seen[1]!.headers).toMatchObject({ 'content-type': 'audio/mpeg', 'content-length': String(9 * MIB) })
})

describe('when one channel fails', () => {
  test.each([
    ['a small form goes to the next channel', [model, file(1000)]],
    ['a form on disk goes to the next channel', [file(9 * MIB), model]],
  ])('%s', async (_, pieces) => {
    const bad = await openStub(json({ error: { message: 'no' } }, 503))
    const stub = await openStub(good)
    const testServer = await openGateway([
      channel(bad.address, { name: 'first', priority: 0 }),
      channel(stub.address, { name: 'second', priority: 1 }),
    ])
    expect((await upload(testServer.server.address, TRANSCRIPTIONS_PATH, pieces)).status).toBe(200)
    expect(bad.seen).toHaveLength(1)
    expect(stub.seen[0]!.files[0]).toMatchObject({ hash: bad.seen[0]!.files[0]!.hash })
  })

  test('a streamed file goes to the next channel unless some of it was read', async () => {
    const bad = await openStub(json({ error: { message: 'no' } }, 503))
    const stub = await openStub(good)
    const testServer = await openGateway([
      channel(await deadAddress(), { name: 'first', priority: 0 }),
      channel(stub.address, { name: 'second', priority: 1 }),
    ])
    const other = await openGateway([
      channel(bad.address, { name: 'first', priority: 0 }),
      channel(stub.address, { name: 'second', priority: 1 }),
    ])
    expect((await upload(testServer.server.address, TRANSCRIPTIONS_PATH, [model, file(9 * MIB)])).status).toBe(200)
    expect(stub.seen[0]!.files).toEqual([sized(9 * MIB)])
    expect((await upload(other.server.address, TRANSCRIPTIONS_PATH, [model, file(9 * MIB)])).status).toBe(503)
    expect(stub.seen).toHaveLength(1)
  })

  test('a file is not streamed if another format may have to answer', async () => {
    const stub = await openStub(good)
    const testServer = await openGateway([
      channel(stub.address, { name: 'first', priority: 0 }),
      channel(stub.address, { name: 'second', priority: 1, format: 'chat' }),
    ])
    expect((await upload(testServer.server.address, TRANSCRIPTIONS_PATH, [model, file(9 * MIB)])).status).toBe(200)
    expect(stub.seen[0]!.headers['content-length']).toBeDefined()
  })

  test('an answer that arrives while the file is streamed reaches the caller', async () => {
    const { stub, send } = await open()
    stub.early = (message, response) => {
      message.resume()
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: 'Not this recording.', type: 'invalid_request_error' } }))
      return true
    }
    const { status, json } = await send([model, file(64 * MIB)])
    expect(status).toBe(400)
    expect(json.error.message).toBe('Not this recording.')
    expect(stub.seen).toHaveLength(0)
  })

  test('an upstream that disconnects while the file is streamed is a bad gateway', async () => {
    const { stub, send } = await open()
    stub.early = message => {
      message.once('data', () => message.socket.destroy())
      return true
    }
    expect((await send([model, file(64 * MIB)])).status).toBe(502)
  })
})

describe('faults of a caller', () => {
  test.each<[string, readonly Piece[], number, string | undefined]>([
    ['no model', [file(100)], 400, 'model'],
    ['no file', [model], 400, 'file'],
    ['a model twice', [model, model, file(10)], 400, 'model'],
    [
      'a temperature that is not a number',
      [model, { name: 'temperature', value: 'warm' }, file(10)],
      400,
      'temperature',
    ],
    ['a stream that is neither true nor false', [model, { name: 'stream', value: 'perhaps' }, file(10)], 400, 'stream'],
    ['an unknown model', [{ name: 'model', value: 'nobody' }, file(10)], 404, 'model'],
    ['too many fields', [...Array.from({ length: 250 }, () => model), file(10)], 400, undefined],
  ])('%s', async (_, pieces, status, param) => {
    const { stub, send } = await open()
    const answer = await send(pieces)
    expect(answer.status).toBe(status)
    expect(answer.json.error.message).toEqual(expect.any(String))
    if (param !== undefined) expect(answer.json.error.param).toBe(param)
    expect(stub.seen).toHaveLength(0)
  })

  test('an unknown model is reported before a large file is read', async () => {
    const { send } = await open()
    let most = 0
    const { status } = await send([{ name: 'model', value: 'nobody' }, file(200 * MIB)], {
      between: (sent: number) => void (most = sent),
    })
    expect(status).toBe(404)
    expect(most).toBeLessThan(100 * MIB)
  })

  test.each([
    ['JSON', { 'content-type': 'application/json' }],
    ['a form without a boundary', { 'content-type': 'multipart/form-data' }],
    ['a compressed form', { 'content-encoding': 'gzip' }],
  ])('%s', async (_, headers) => {
    const { send } = await open()
    expect((await send([model, file(10)], { headers })).status).toBe(400)
  })

  test.each([
    ['small', [model, file(1000)]],
    ['on disk', [file(9 * MIB), model]],
    ['streamed', [model, file(9 * MIB)]],
  ])('a form without an end: %s', async (_, pieces) => {
    const { stub, send } = await open()
    const { status, json } = await send(pieces, { closed: false })
    expect(status).toBe(400)
    expect(json.error.type).toBe('invalid_request_error')
    expect(stub.seen).toHaveLength(0)
    await until(() => spooled().length === 0)
  })

  test('an invalid field after a streamed file', async () => {
    const { stub, send } = await open()
    const { status, json } = await send([model, file(9 * MIB), { name: 'temperature', value: 'warm' }])
    expect({ status, param: json.error.param }).toEqual({ status: 400, param: 'temperature' })
    await until(() => stub.broken === 1)
    expect(stub.seen).toHaveLength(0)
  })

  test.each([
    ['announced', { 'content-length': String(40 * MIB) }],
    ['detected while it arrives', {}],
  ])('a form that is too large: %s', async (_, headers) => {
    const limits = { ...LIMITS, body: MIB, byFormat: new Map([['transcriptions', 5 * MIB]]) }
    const { stub, send } = await open({
      config: {
        server: {
          host: '127.0.0.1',
          port: 0,
          heartbeat: 15_000,
          earlyHead: true,
          drain: 0,
          grace: 2000,
          ...ALONE,
          limits,
          sockets: SOCKETS,
        },
      },
    })
    const { status, json } = await send([model, file(39 * MIB)], { headers })
    expect(status).toBe(413)
    expect(json.error.code).toBe('request_too_large')
    expect(stub.seen).toHaveLength(0)
  })

  const text = (count: number, size: number): Piece[] =>
    Array.from({ length: count }, () => ({ name: 'prompt', value: 'é'.repeat(size / 2) }))
  test.each([
    ['a large field', text(1, 9 * MIB), 'A text field of the form is larger than 8388608 bytes.'],
    ['large fields', text(5, 7 * MIB), 'The text fields of the form are larger than 33554432 bytes in total.'],
  ] as const)('names the limit that is exceeded: %s', async (_, pieces, message) => {
    const { send } = await open()
    const { status, json } = await send([model, ...pieces, file(10)])
    expect([status, json.error.message]).toEqual([413, message])
  })

  test('a form without an end, which arrives before its file on disk is opened', async () => {
    const { send } = await open()
    const openSpool = Spool.open.bind(Spool)
    const released = Promise.withResolvers<void>()
    const opening = vi.spyOn(Spool, 'open').mockImplementation(async () => {
      const spool = await openSpool()
      await released.promise
      return spool
    })
    try {
      const { status } = await send([file(4 * MIB + 20_000), model], { closed: false })
      expect(status).toBe(400)
      await until(() => spooled().length === 1, 3000)
      released.resolve()
      await until(() => spooled().length === 0, 3000)
    } finally {
      released.resolve()
      opening.mockRestore()
    }
  })

  test.each([
    ['on disk', [file(40 * MIB), model]],
    ['streamed', [model, file(40 * MIB)]],
  ])('a disconnect in the middle: %s', async (_, pieces) => {
    const { stub, testServer, send } = await open()
    const gone = send(pieces, {
      between: async (sent: number, out: { destroy(): void }) => {
        if (sent > 12 * MIB) out.destroy()
      },
    })
    await expect(gone).rejects.toThrow()
    await until(() => testServer.lines.some(({ fields }) => fields['status'] === 499))
    await until(() => spooled().length === 0)
    expect(stub.seen).toHaveLength(0)
    await until(() => stub.sockets.size === 0)
  })
})
