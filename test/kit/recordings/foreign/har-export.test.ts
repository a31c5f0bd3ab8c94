import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFolder } from '../../../../src/kit/recordings/folder.ts'
import { harText } from '../../../../src/kit/recordings/foreign/har-export.ts'
import { importFile } from '../../../../src/kit/recordings/foreign/import-file.ts'
import { Recorder } from '../../../../src/kit/recordings/recorder.ts'

const folderOf = (name: string): string => mkdtempSync(join(tmpdir(), name))
const tenth = fc.integer({ min: 0, max: 50_000 }).map(one => one / 10)
const bytes = fc.oneof(
  fc.string({ unit: 'binary' }).map(text => Buffer.from(text)),
  fc.uint8Array({ maxLength: 40 }).map(one => Buffer.from(one)),
  fc.json().map(text => Buffer.from(text)),
  fc
    .json()
    .map(text => Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }, null, 2))),
)
const type = fc.constantFrom('application/json', 'text/event-stream', 'audio/mpeg', undefined)

const form = fc.array(fc.tuple(fc.string(), fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array())), { minLength: 1 })

/** An exchange as it arrives at a recorder. */
const exchange = fc.record({
  url: fc.constantFrom(
    '/v1/chat/completions?stream=true',
    '/v1/messages',
    '/v1/models/a:generateContent?alt=sse',
    '/other?beta=a%26b',
  ),
  body: fc.oneof(bytes, form),
  isPacked: fc.boolean(),
  status: fc.constantFrom(200, 404, 529),
  type,
  isComplete: fc.boolean(),
  ms: tenth,
  chunks: fc.array(fc.record({ wait: tenth, bytes }), { maxLength: 4 }),
})

type Exchange = typeof exchange extends fc.Arbitrary<infer T> ? T : never

async function record(recorder: Recorder, one: Exchange): Promise<void> {
  const isForm = Array.isArray(one.body)
  const sent = isForm
    ? await formOf(one.body as [string, string | Uint8Array][])
    : { body: one.body as Buffer, type: 'application/json' }
  let at = one.ms
  const chunks = one.chunks.map(({ wait, bytes: content }) => ({
    ms: (at = Math.round((at + wait) * 10) / 10),
    bytes: content,
  }))
  const packed = one.isPacked ? [{ ms: at, bytes: gzipSync(Buffer.concat(chunks.map(chunk => chunk.bytes))) }] : chunks
  const headers = {
    ...(one.type && { 'content-type': one.type }),
    ...(one.isPacked && { 'content-encoding': 'gzip' }),
    'set-cookie': ['a'],
  }
  recorder.exchange(
    {
      method: 'POST',
      url: one.url,
      headers: {
        'content-type': sent.type,
        ...{ authorization: 'Bearer sk-1234-abcd', 'anthropic-version': '2023-06-01' },
      },
      body: sent.body,
    },
    { status: one.status, headers, ms: one.ms, chunks: packed, isComplete: one.isComplete },
    new Date('2026-11-28T10:00:00.000Z'),
  )
  await recorder.close()
}

async function formOf(parts: readonly [string, string | Uint8Array][]): Promise<{ body: Buffer; type: string }> {
  const data = new FormData()
  for (const [field, value] of parts)
    if (typeof value === 'string') data.append(field, value)
    else data.append(field, new Blob([value as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'a "file".png')
  const response = new Response(data)
  return { body: Buffer.from(await response.arrayBuffer()), type: response.headers.get('content-type')! }
}

test('a HAR export that is imported gives the same recordings, with their rules, chunks and times', async () => {
  const rules = { redact: ['/[z~]+/', 'metadata.user'], ignore: ['**.temperature'] }
  await fc.assert(
    fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 4 }), fc.boolean(), async (exchanges, hasRules) => {
      const [from, to] = [folderOf('export-'), folderOf('import-')]
      const recorder = new Recorder({ folder: from, ...(hasRules ? rules : {}), warn: message => expect.fail(message) })
      for (const one of exchanges) await record(recorder, one)
      const file = join(folderOf('har-'), 'a.har')
      writeFileSync(file, harText(readFolder(from)))
      await importFile(file, { folder: to })
      expect(readFolder(to)).toEqual(readFolder(from))
    }),
    { numRuns: 60 },
  )
})

test('a HAR export holds WebSocket sessions', async () => {
  const [from, to] = [folderOf('export-'), folderOf('import-')]
  const recorder = new Recorder({ folder: from, warn: message => expect.fail(message) })
  recorder.session(
    { method: 'GET', url: '/v1/realtime?model=m', headers: {}, body: Buffer.alloc(0) },
    {
      protocol: 'realtime',
      frames: [
        { ms: 0.3, from: 'caller', bytes: Buffer.from('{"type":"a"}'), isBinary: false },
        { ms: 9, from: 'upstream', bytes: Buffer.from('{}'), isBinary: true },
        { ms: 17.9, from: 'upstream', bytes: Buffer.from([255, 0]), isBinary: true },
      ],
      closed: { ms: 20, from: 'upstream', code: 1000, reason: 'bye' },
    },
    new Date('2026-11-28T10:00:00.123Z'),
  )
  await recorder.close()
  const file = join(folderOf('har-'), 'a.har')
  writeFileSync(file, harText(readFolder(from)))
  await importFile(file, { folder: to })
  expect(readFolder(to)).toEqual(readFolder(from))
  const { log } = JSON.parse(harText(readFolder(from))) as { log: { entries: { request: object }[] } }
  expect(log.entries[0]!.request).toMatchObject({ url: 'http://upstream.invalid/v1/realtime?model=m' })
})
