import { mkdtempSync, rmSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { openRecordProxy, type RecordProxy } from '../../../src/kit/recordings/record-proxy.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { RUNS } from '../../laws/support.ts'

/* A recorded answer is replayed byte for byte, with its status and its headers, to the request that it belongs to. */

interface Answer {
  readonly status: number
  readonly type: string | undefined
  readonly headers: { readonly [name: string]: string }
  readonly pieces: readonly Buffer[]
}

interface Request {
  readonly method: string
  readonly path: string
  readonly type: string | undefined
  readonly body: Buffer
}

const bytes = fc.uint8Array({ maxLength: 60 }).map(one => Buffer.from(one))

/** JSON as servers write it: spaces, escapes, and numbers that no double holds. Repeated fields are left out: they could hide secrets. */
const jsonText = fc.oneof(
  fc.json(),
  fc.constantFrom('{"n":12345678901234567890}', '{"x":1e400}', ' {"é":"\\u0000"}\n', '\uFEFF{"a":1}', 'null'),
)

const stream = fc
  .array(
    fc.record({
      name: fc.option(fc.constantFrom('message_start', 'ping')),
      data: jsonText,
      end: fc.constantFrom('\n', '\r\n'),
    }),
  )
  .map(list =>
    list
      .map(
        ({ name, data, end }) =>
          `${name === null ? '' : `event: ${name}${end}`}data: ${data.replace(/[\r\n]/g, ' ')}${end}${end}`,
      )
      .join(''),
  )

const body = fc.oneof(
  fc.record({ type: fc.constantFrom('application/json', 'application/json; charset=utf-8'), text: jsonText }),
  fc.record({ type: fc.constantFrom('text/event-stream', 'text/event-stream; charset=utf-8'), text: stream }),
  fc.record({
    type: fc.constantFrom('text/plain', undefined, 'application/x-other'),
    text: fc.string({ unit: 'binary' }),
  }),
  fc.record({ type: fc.constantFrom('audio/mpeg', 'video/mp4', 'application/json', 'text/event-stream'), text: bytes }),
)

/** Splits bytes at any places. */
const piecesOf = (whole: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [0, ...cuts.map(cut => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return places.slice(1).map((place, index) => whole.subarray(places[index], place))
}

const answer: fc.Arbitrary<Answer> = fc
  .record({
    status: fc.constantFrom(200, 200, 200, 201, 202, 204, 301, 304, 400, 401, 404, 418, 429, 500, 503, 529),
    body,
    cuts: fc.array(fc.nat(), { maxLength: 3 }),
    headers: fc.dictionary(
      fc.constantFrom('x-request-id', 'retry-after', 'openai-processing-ms', 'etag'),
      fc.constantFrom('1', 'a b', '"q"'),
    ),
  })
  .map(({ status, body: { type, text }, cuts, headers }) => {
    const whole = status === 204 || status === 304 ? Buffer.alloc(0) : Buffer.from(text as string)
    return { status, type, headers, pieces: piecesOf(whole, cuts) }
  })

const request: fc.Arbitrary<Request> = fc.oneof(
  fc.record({
    method: fc.constant('POST'),
    path: fc.constantFrom(
      ...[
        '/v1/chat/completions',
        '/v1/messages',
        '/v1/responses',
        '/v1/embeddings',
        '/v1/images/generations',
        '/v1/unknown',
      ],
      ...[
        '/v1beta/models/m:generateContent',
        '/v1beta/models/m:streamGenerateContent?alt=sse',
        '/v1/audio/speech',
        '/v1/rerank',
      ],
    ),
    type: fc.constantFrom('application/json', undefined),
    body: jsonText.map(text => Buffer.from(text)),
  }),
  fc.record({
    method: fc.constantFrom('GET', 'DELETE'),
    path: fc.constantFrom('/v1/models', '/v1/videos/a/content', '/v1/videos?after=a', '/v1/x?a=1&a=2'),
    type: fc.constant(undefined),
    body: fc.constant(Buffer.alloc(0)),
  }),
  fc.record({
    method: fc.constant('POST'),
    path: fc.constantFrom('/v1/files', '/v1/audio/transcriptions'),
    type: fc.constantFrom('application/octet-stream', 'multipart/form-data; boundary=b'),
    body: bytes,
  }),
)

interface Got {
  readonly status: number | undefined
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
}

const send = (base: string, { method, path, type, body }: Request): Promise<Got> =>
  new Promise((resolve, reject) => {
    const headers = { ...(type === undefined ? {} : { 'content-type': type }), 'content-length': body.length }
    const message = requestHttp(`${base}${path}`, { method, headers, agent: false }, async reply => {
      const pieces = await reply.toArray().catch(reject)
      const { 'content-type': contentType, etag, 'retry-after': retry } = reply.headers
      resolve({
        status: reply.statusCode,
        headers: { contentType, etag, retry },
        body: Buffer.concat(pieces ?? []).toString('latin1'),
      })
    })
    message.on('error', reject).end(body)
  })

let upstream: FakeUpstream
let current: Answer
beforeAll(async () => {
  upstream = await FakeUpstream.open(async reply => {
    const { status, type, headers, pieces } = current
    reply.writeHead(status, { ...headers, ...(type === undefined ? {} : { 'content-type': type }) })
    for (const piece of pieces) if (piece.length > 0) await new Promise(resolve => reply.write(piece, resolve))
    reply.end()
  })
})
afterAll(() => upstream.close())

async function recorded(folder: string, exchanges: readonly (readonly [Request, Answer])[]) {
  const warnings: string[] = []
  const recorder = new Recorder({ folder, redact: [], warn: message => warnings.push(message) })
  const proxy: RecordProxy = await openRecordProxy({ upstream: upstream.address, recorder })
  const got: Got[] = []
  for (const [request, answer] of exchanges) {
    current = answer
    got.push(await send(proxy.url, request))
  }
  await proxy.close()
  await recorder.close()
  return { got, warnings }
}

test('any exchanges, in the order of equal requests', async () => {
  const exchanges = fc.array(fc.tuple(request, answer), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(exchanges, async list => {
      const folder = mkdtempSync(join(tmpdir(), 'any-exchanges-'))
      try {
        const { got, warnings } = await recorded(folder, list)
        expect(got.map(({ status, body }) => [status, body])).toEqual(
          list.map(([, { status, pieces }]) => [status, Buffer.concat(pieces).toString('latin1')]),
        )
        expect(warnings).toEqual([])
        const replay = await openReplay({ recordings: readFolder(folder) })
        const again: Got[] = []
        for (const [one] of list) again.push(await send(replay.url, one))
        expect(replay.misses).toEqual([])
        expect(replay.unused).toEqual([])
        await replay.close()
        expect(again).toEqual(got)
      } finally {
        rmSync(folder, { recursive: true })
      }
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  )
})
