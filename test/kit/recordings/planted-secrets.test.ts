import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { endpointPath } from '../../../src/formats/routes.ts'
import { writeRecording } from '../../../src/kit/recordings/file.ts'
import { type ArrivedAnswer, type ArrivedSession, Recorder } from '../../../src/kit/recordings/recorder.ts'
import { converseFrame } from '../../builders/frames.ts'
import { formatsWith } from '../../laws/support.ts'
import { WIRES } from '../../laws/wires.ts'

/* No secret is in a recording, wherever a request, an answer or a session holds it. */

const folder = mkdtempSync(join(tmpdir(), 'planted-'))
const secret = fc.stringMatching(/^sk-[A-Za-z0-9]{20,30}$/)
const RULE = '/sk-[A-Za-z0-9]{20,30}/'

/** Ways in which a text holds a secret. */
const WAYS: readonly ((secret: string, salt: number) => string)[] = [
  s => s,
  s => `before ${s} after`,
  (s, salt) => Buffer.from(`${'x'.repeat(salt % 3)}${s} and more`).toString('base64'),
  (s, salt) => Buffer.from(`${'x'.repeat(salt % 3)}?${s}?`).toString('base64url'),
  s => `https://example.com/v1?key=${s}&alt=sse`,
  s => JSON.stringify({ inner: JSON.stringify({ token: s }) }),
  s => `data:text/plain;base64,${Buffer.from(`key ${s}`).toString('base64')}`,
]

/** Whether a text holds a secret: as it is, or in base64 at any offset, also of base64. */
function holds(text: string, hidden: string, depth = 2): boolean {
  if (text.includes(hidden)) return true
  if (depth === 0) return false
  return [...text.matchAll(/[A-Za-z0-9+/_-]{16,}/g)].some(([run]) =>
    [0, 1, 2, 3].some(offset => holds(Buffer.from(run.slice(offset), 'base64').toString('latin1'), hidden, depth - 1)),
  )
}

/** Replaces one text of a value, or adds one. */
function planted(value: unknown, text: string, place: number): unknown {
  const paths: (readonly string[])[] = []
  const visit = (one: unknown, path: readonly string[]): void => {
    if (typeof one === 'string') paths.push(path)
    else if (typeof one === 'object' && one !== null && Object.getPrototypeOf(one) === Object.prototype)
      for (const [name, item] of Object.entries(one)) visit(item, [...path, name])
    else if (Array.isArray(one)) for (const [index, item] of one.entries()) visit(item, [...path, String(index)])
  }
  visit(value, [])
  if (paths.length === 0 || place % 5 === 0) return { ...(value as object), [`field ${place} ${text}`]: text }
  const replace = (one: unknown, [step, ...rest]: readonly string[]): unknown => {
    if (step === undefined) return text
    if (Array.isArray(one)) return one.map((item, index) => (String(index) === step ? replace(item, rest) : item))
    return { ...(one as object), [step]: replace((one as JsonObject)[step], rest) }
  }
  return replace(value, paths[place % paths.length]!)
}

/** Where a request carries the credential that a body repeats. */
const CARRIERS: readonly ((s: string) => { headers?: Record<string, string>; query?: string })[] = [
  s => ({ headers: { authorization: `Bearer ${s}` } }),
  s => ({ headers: { 'x-api-key': s } }),
  s => ({ headers: { 'api-key': s } }),
  s => ({ headers: { 'x-goog-api-key': s } }),
  s => ({ headers: { authorization: `Basic ${Buffer.from(`user:${s}`).toString('base64')}` } }),
  s => ({ headers: { cookie: `theme=dark; session=${s}` } }),
  s => ({ headers: { 'proxy-authorization': `Bearer ${s}` } }),
  s => ({ headers: { 'sec-websocket-protocol': `realtime, openai-insecure-api-key.${s}` } }),
  s => ({ query: `key=${s}` }),
  s => ({ query: `alt=sse&access_token=${s}` }),
]

interface Written {
  readonly request: { url: string; headers: Record<string, string>; body: Buffer }
  readonly answer?: Partial<ArrivedAnswer>
  readonly session?: ArrivedSession
}

/** Records an exchange or a session, and returns the text of its file. */
async function written({ request, answer, session }: Written, redact: readonly string[]): Promise<string> {
  let text: string | undefined
  const warnings: string[] = []
  const recorder = new Recorder({
    ...{ folder, redact, warn: message => warnings.push(message) },
    onWritten: (file, recording) => {
      text = `${file}\n${writeRecording(recording)}`
    },
  })
  const arrived = { method: session === undefined ? 'POST' : 'GET', ...request }
  const whole = { status: 200, headers: {}, ms: 1, chunks: [], isComplete: true }
  if (session === undefined) recorder.exchange(arrived, { ...whole, ...answer }, new Date())
  else recorder.session(arrived, session, new Date())
  await recorder.close()
  expect(warnings).toEqual([])
  return text!
}

const cutAt = (bytes: Buffer, cuts: readonly number[]): { ms: number; bytes: Buffer }[] => {
  const offsets = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return offsets.slice(1).map((end, index) => ({ ms: index, bytes: bytes.subarray(offsets[index]!, end) }))
}

async function encoded({ body, files }: WireRequest): Promise<{ type: string; bytes: Buffer }> {
  if (files === undefined) return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) }
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) for (const one of [value].flat()) form.append(name, String(one))
  for (const { field, name, mediaType, bytes } of files)
    form.append(field, new Blob([(bytes as BufferedBytes).bytes as Uint8Array<ArrayBuffer>], { type: mediaType }), name)
  const response = new Response(form)
  return { type: response.headers.get('content-type')!, bytes: Buffer.from(await response.bytes()) }
}

const place = fc.record({
  secret,
  way: fc.constantFrom(...WAYS),
  carrier: fc.constantFrom(...CARRIERS),
  byRule: fc.boolean(),
  place: fc.nat(1000),
  cuts: fc.array(fc.nat(5000), { maxLength: 6 }),
})
type Place = typeof place extends fc.Arbitrary<infer T> ? T : never

/** The head of a request whose secret a rule names, or that carries it as a credential. */
function headOf({ secret: hidden, carrier, byRule }: Place, path: string) {
  const { headers = {}, query = '' } = byRule ? {} : carrier(hidden)
  return { url: query === '' ? path : `${path}?${query}`, headers, redact: byRule ? [RULE] : [] }
}

const RUNS = { numRuns: 40 }

describe.each(formatsWith('request'))('a request of %s', format => {
  test('with a secret in any field, header, file or parameter', async () => {
    await fc.assert(
      fc.asyncProperty(WIRES[format]!.request, place, async (wire, at) => {
        const text = at.way(at.secret, at.place)
        const head = headOf(at, endpointPath(format, wire.path))
        const body = planted(wire.body, text, at.place) as JsonObject
        const { type, bytes } = await encoded({ ...wire, body })
        const headers = { 'content-type': type, 'x-title': text, 'x-other': text, ...wire.headers, ...head.headers }
        const answer = {
          headers: { 'content-type': 'application/json', 'x-request-id': at.secret },
          chunks: cutAt(Buffer.from(JSON.stringify({ echo: [{ text }] })), at.cuts),
        }
        const file = await written({ request: { url: head.url, headers, body: bytes }, answer }, head.redact)
        expect(holds(file, at.secret)).toBe(false)
      }),
      RUNS,
    )
  })
})

test('a secret in the first of two fields of one name, which parsers drop', async () => {
  const hidden = 'sk-AAAABBBBCCCCDDDDEEEE1'
  const twice = `{ "text": "${hidden}", "text": "harmless", "inner": { "private": { "a": "${hidden}" }, "private": 1 } }`
  const headers = { authorization: `Bearer ${hidden}`, 'content-type': 'application/json' }
  for (const redact of [[], ['text', 'inner.private']]) {
    const head = { url: '/v1/chat/completions', headers: redact.length === 0 ? headers : {} }
    const request = { ...head, body: Buffer.from(twice) }
    for (const [type, body] of [
      ['application/json', twice],
      ['text/event-stream', `data: ${twice}\n\ndata: ${twice}\n\n`],
    ] as const) {
      const answer = { headers: { 'content-type': type }, chunks: cutAt(Buffer.from(body), []) }
      expect(holds(await written({ request, answer }, redact), hidden)).toBe(false)
    }
    const frames = (['caller', 'upstream'] as const).map(from => ({
      ...{ ms: 1, from, isBinary: false, bytes: Buffer.from(twice) },
    }))
    expect(
      holds(await written({ request: { ...head, body: Buffer.alloc(0) }, session: { frames } }, redact), hidden),
    ).toBe(false)
  }
})

test('a form with a secret in names, files and fields', async () => {
  await fc.assert(
    fc.asyncProperty(place, async at => {
      const text = at.way(at.secret, at.place)
      const head = headOf(at, '/v1/audio/transcriptions')
      const form = new FormData()
      form.append('model', 'm')
      form.append(`x-${text}`.replaceAll(/["\r\n]/g, ''), text)
      form.append('file', new Blob([`RIFF ${text}`], { type: 'audio/wav' }), `${at.secret}.wav`)
      const response = new Response(form)
      const headers = { 'content-type': response.headers.get('content-type')!, ...head.headers }
      const body = Buffer.from(await response.bytes())
      expect(holds(await written({ request: { url: head.url, headers, body } }, head.redact), at.secret)).toBe(false)
    }),
    RUNS,
  )
})

test('a form with a secret in the media type of a file', async () => {
  const hidden = 'sk-abcdefghijklmnopqrstuvwxyz'
  const part = `--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: audio/wav; name=${hidden}\r\n\r\nRIFF\r\n--b--\r\n`
  const headers = { 'content-type': 'multipart/form-data; boundary=b', authorization: `Bearer ${hidden}` }
  const request = { url: '/v1/audio/transcriptions', headers, body: Buffer.from(part) }
  const text = await written({ request }, [])
  expect(text).toContain('audio/wav')
  expect(text).not.toContain(hidden)
})

test('a request in several encodings is decoded first, and one in an unknown encoding is not recorded', async () => {
  const hidden = 'sk-abcdefghijklmnopqrstuvwxyz'
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `Use ${hidden}` }] }))
  const requestIn = (encoding: string, bytes: Buffer) => ({
    url: '/v1/chat/completions',
    headers: { authorization: `Bearer ${hidden}`, 'content-encoding': encoding, 'content-type': 'application/json' },
    body: bytes,
  })
  for (const [encoding, bytes] of [
    ['gzip, br', brotliCompressSync(gzipSync(body))],
    ['identity', body],
  ] as const) {
    const text = await written({ request: requestIn(encoding, bytes) }, [])
    expect(text).toContain('Use [redacted]')
    expect(text).not.toContain(hidden)
  }
  const warnings: string[] = []
  const recorder = new Recorder({
    folder,
    warn: message => warnings.push(message),
    onWritten: file => expect.fail(file),
  })
  const answer = { status: 200, headers: {}, ms: 1, chunks: [], isComplete: true }
  recorder.exchange({ method: 'POST', ...requestIn('snappy', gzipSync(body)) }, answer, new Date())
  await recorder.close()
  expect(warnings).toEqual([expect.stringContaining("the request's encoding snappy cannot be decoded")])
})

/** Events of a delta, by format. */
const DELTAS: { readonly [format: string]: readonly [path: string, event: (delta: string) => object] } = {
  chat: ['/v1/chat/completions', content => ({ id: 'c', choices: [{ index: 0, delta: { content } }] })],
  'calls of chat': [
    '/v1/chat/completions',
    text => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] }),
  ],
  messages: ['/v1/messages', text => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })],
  responses: ['/v1/responses', delta => ({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta })],
  contents: [
    '/v1beta/models/m:streamGenerateContent',
    text => ({ candidates: [{ index: 0, content: { parts: [{ text }] } }] }),
  ],
}

describe.each(Object.entries(DELTAS))('a stream of %s', (_, [path, event]) => {
  test('with a secret spread over deltas, in chunks cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.array(fc.nat(40), { maxLength: 5 }), async (at, splits) => {
        const text = `Here: ${at.secret} is it`
        const deltas = cutAt(Buffer.from(text), splits).map(({ bytes }) => bytes.toString())
        const head = headOf(at, path)
        const body = Buffer.from(deltas.map(delta => `data: ${JSON.stringify(event(delta))}\n\n`).join(''))
        const answer = { headers: { 'content-type': 'text/event-stream' }, chunks: cutAt(body, at.cuts) }
        const request = { url: head.url, headers: head.headers, body: Buffer.from('{}') }
        const file = JSON.parse((await written({ request, answer }, head.redact)).replace(/^.*\n/, '')) as {
          answer: { chunks: { text: string }[] }
        }
        const said = file.answer.chunks.map(chunk => chunk.text).join('')
        const joined = [...said.matchAll(/^data: (.*)$/gm)]
          .flatMap(([, data]) => [...data!.matchAll(/"(?:content|text|delta|arguments)":"([^"]*)"/g)])
          .map(([, delta]) => delta)
          .join('')
        expect(holds(joined, at.secret)).toBe(false)
        expect(holds(said, at.secret)).toBe(false)
        expect(joined).toContain('Here: [redacted] is it')
      }),
      RUNS,
    )
  })
})

test('a stream of Converse with a secret spread over frames, which stay valid', async () => {
  const { frameParser } = await import('./frame-parser.ts')
  await fc.assert(
    fc.asyncProperty(place, fc.array(fc.nat(40), { maxLength: 5 }), async (at, splits) => {
      const deltas = cutAt(Buffer.from(`Here: ${at.secret} is it`), splits).map(({ bytes }) => bytes.toString())
      const events = deltas.map(text => converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }))
      const body = Buffer.concat([converseFrame('messageStart', { role: 'assistant' }), ...events])
      const head = headOf(at, '/model/m/converse-stream')
      const answer = {
        headers: { 'content-type': 'application/vnd.amazon.eventstream' },
        chunks: cutAt(body, at.cuts),
      }
      const request = { url: head.url, headers: head.headers, body: Buffer.from('{"messages":[]}') }
      const text = await written({ request, answer }, head.redact)
      expect(holds(text, at.secret)).toBe(false)
      const said = frameParser(recordedBytes(text)).map(
        ({ data }) => (JSON.parse(data) as { delta?: { text: string } }).delta?.text ?? '',
      )
      expect(said.join('')).toBe('Here: [redacted] is it')
    }),
    RUNS,
  )
})

test('a stream of InvokeModel with a secret spread over events in base64, and in the headers of a frame', async () => {
  const { frameParser } = await import('./frame-parser.ts')
  await fc.assert(
    fc.asyncProperty(place, fc.array(fc.nat(40), { maxLength: 5 }), async (at, splits) => {
      const deltas = cutAt(Buffer.from(`Here: ${at.secret} is it`), splits).map(({ bytes }) => bytes.toString())
      const events = deltas.map(text => {
        const event = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
        return converseFrame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdef' })
      })
      const refused = converseFrame(`for ${at.secret} no`, { message: 'Refused' })
      const head = headOf(at, '/model/m/invoke-with-response-stream')
      const answer = {
        headers: { 'content-type': 'application/vnd.amazon.eventstream' },
        chunks: cutAt(Buffer.concat([...events, refused]), at.cuts),
      }
      const request = { url: head.url, headers: head.headers, body: Buffer.from('{"messages":[]}') }
      const text = await written({ request, answer }, head.redact)
      expect(holds(text, at.secret)).toBe(false)
      const bytes = recordedBytes(text)
      expect(holds(bytes.toString('latin1'), at.secret)).toBe(false)
      const said = frameParser(bytes).map(({ data }) => {
        const { bytes = 'e30=' } = JSON.parse(data) as { bytes?: string }
        return (JSON.parse(Buffer.from(bytes, 'base64').toString()) as { delta?: { text: string } }).delta?.text ?? ''
      })
      expect(said.join('')).toBe('Here: [redacted] is it')
    }),
    RUNS,
  )
})

/** Returns the bytes of the recorded answer in a file. */
function recordedBytes(file: string): Buffer {
  const { chunks } = (JSON.parse(file.replace(/^.*\n/, '')) as { answer: { chunks: Record<string, string>[] } }).answer
  return Buffer.concat(
    chunks.map(one => (one['text'] === undefined ? Buffer.from(one['base64']!, 'base64') : Buffer.from(one['text']))),
  )
}

test('a session with a secret in a frame of either side, whole, spread over deltas or binary', async () => {
  await fc.assert(
    fc.asyncProperty(place, fc.array(fc.nat(40), { maxLength: 4 }), async (at, splits) => {
      const deltas = cutAt(Buffer.from(`Here: ${at.secret} is it`), splits).map(({ bytes }) => bytes.toString())
      const head = headOf(at, '/v1/realtime')
      const frame = (from: 'caller' | 'upstream', bytes: Buffer, isBinary = false) => ({ ms: 1, from, bytes, isBinary })
      const text = at.way(at.secret, at.place)
      const session: ArrivedSession = {
        protocol: `realtime.${at.secret}`,
        frames: [
          frame('caller', Buffer.from(JSON.stringify({ type: 'session.update', session: { instructions: text } }))),
          ...deltas.map(delta =>
            frame('upstream', Buffer.from(JSON.stringify({ type: 'response.output_text.delta', item_id: 'i', delta }))),
          ),
          frame('caller', Buffer.from(text), true),
          frame('upstream', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(at.secret)]), true),
        ],
        closed: { ms: 9, from: 'upstream', code: 4000, reason: at.secret },
      }
      const file = await written(
        { request: { url: head.url, headers: head.headers, body: Buffer.alloc(0) }, session },
        head.redact,
      )
      expect(holds(file, at.secret)).toBe(false)
      const said = [...file.matchAll(/\\"delta\\":\\"([^"]*)\\"/g)].map(([, delta]) => delta).join('')
      expect(said).toContain('Here: [redacted] is it')
    }),
    RUNS,
  )
})
