import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BufferedBytes } from '../../../src/canonical/bytes.ts'
import { lose } from '../../../src/canonical/loss.ts'
import type { Format } from '../../../src/canonical/node.ts'
import { withoutRedundantParts } from '../../../src/canonical/repair.ts'
import { tracedToOriginal } from '../../../src/canonical/trace.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { workOf } from '../../../src/canonical/work.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { CALLER_FORMATS } from '../../../src/formats/index.ts'
import { endpointPath } from '../../../src/formats/routes.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { canonicalForm } from '../../../src/kit/recordings/canonical-form.ts'
import { conversationForm } from '../../../src/kit/recordings/conversation-form.ts'
import { readRecording, writeRecording } from '../../../src/kit/recordings/file.ts'
import { matchKey } from '../../../src/kit/recordings/match-key.ts'
import { readRequest } from '../../../src/kit/recordings/read-request.ts'
import { type ArrivedRequest, recordedRequest, redactionFor } from '../../../src/kit/recordings/recorded-request.ts'
import type { RecordedRequest } from '../../../src/kit/recordings/recording.ts'
import { FOREIGN } from '../../builders/write-options.ts'
import { conversing, formatsWith, handedTo, holds, plain, RUNS } from '../../laws/support.ts'
import { WIRES } from '../../laws/wires.ts'

const FORMATS = formatsWith('request')
const RULES = ['/a+/', '/^[b-d]/i', 'metadata', '**.user']

/** A caller's request as it arrives over HTTP. */
async function arrived(format: Format, wire: WireRequest): Promise<ArrivedRequest> {
  const { path, query, headers } = wire
  const search = new URLSearchParams(query as Record<string, string>).toString()
  const { type, bytes } = await bodyOf(wire)
  return {
    method: 'POST',
    url: endpointPath(format, path) + (search === '' ? '' : `?${search}`),
    headers: { 'content-type': type, authorization: 'Bearer sk-1234567890', ...headers },
    body: bytes,
  }
}

async function bodyOf({ body, files }: WireRequest): Promise<{ type: string; bytes: Buffer }> {
  if (files === undefined) return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) }
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) for (const one of [value].flat()) form.append(name, String(one))
  for (const { field, name, mediaType, bytes } of files)
    form.append(field, new Blob([(bytes as BufferedBytes).bytes as Uint8Array<ArrayBuffer>], { type: mediaType }), name)
  const encoded = new Response(form)
  return { type: encoded.headers.get('content-type')!, bytes: Buffer.from(await encoded.bytes()) }
}

/** Records a request with rules, writes the file and reads it again. */
async function recorded(format: Format, wire: WireRequest, redact: readonly string[] = []): Promise<RecordedRequest> {
  const one = await arrived(format, wire)
  const request = await recordedRequest(one, redactionFor(one, redact))
  const head = { version: 1, program: 'interlingua', recorded_at: '2026-11-28T08:00:00Z' } as const
  const answer = { status: 200, headers: {}, ms: 1, complete: true }
  return readRecording(writeRecording({ ...head, redact, request, answer }), 'a.json').request
}

const keyOf = async (format: Format, wire: WireRequest, redact: readonly string[] = []): Promise<string> => {
  const one = await arrived(format, wire)
  return matchKey(await recordedRequest(one, redactionFor(one, redact))).digest
}

const holdsFor = (requests: fc.Arbitrary<WireRequest>, check: (wire: WireRequest) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(requests, check), { numRuns: Math.min(RUNS, 100) })

describe.each(FORMATS)('every recording matches its own request: %s', format => {
  test('with and without redaction, and redacting again changes nothing', async () => {
    await holdsFor(WIRES[format]!.request, async wire => {
      const file = await recorded(format, wire)
      expect(matchKey(file).digest).toBe(await keyOf(format, wire))
      const redacted = await recorded(format, wire, RULES)
      expect(matchKey(redacted).digest).toBe(await keyOf(format, wire, RULES))
      const again = {
        ...(await arrived(format, wire)),
        body: Buffer.from(JSON.stringify(redacted.body?.json ?? redacted.body)),
      }
      const twice = await recordedRequest(again, redactionFor(again, RULES))
      if (redacted.body?.json !== undefined) expect(twice.body).toEqual(redacted.body)
    })
  })
})

test('requests of all formats are read, not only compared as bytes', async () => {
  // Kling's clients have endpoints of their own.
  for (const format of FORMATS.filter(one => one !== 'kling' && CALLER_FORMATS.has(one))) {
    let count = 0
    let read = 0
    await holdsFor(WIRES[format]!.request, async wire => {
      count++
      if (readRequest(await recorded(format, wire)) !== undefined) read++
    })
    expect([format, read / count > 0.5]).toEqual([format, true])
  }
})

describe('the same conversation has the same key in every format', () => {
  const formats = conversing('request')
  const pairs = formats.flatMap(from => formats.filter(to => to !== from).map(to => [from, to] as const))

  test.each(pairs)('as generated, less what is lost: %s to %s', (from, to) => {
    holds(WIRES[from]!.request, wire => {
      const asked = handedTo(to, READERS[from]!.request!(wire))
      if (workOf(asked) !== 'conversation') return
      const { request, losses: gone } = withoutRedundantParts(asked)
      const { wire: written, losses } = WRITERS[to]!.request!(request, FOREIGN)
      const kept = lose(asked, [...gone, ...tracedToOriginal(losses, gone, asked.messages)])
      const read = READERS[to]!.request!(plain(written))
      expect(conversationForm(canonicalForm(read))).toEqual(conversationForm(canonicalForm(kept)))
    })
  })
})

test('a prompt sent by SDKs of four formats has one conversation key; another prompt, model or tool has another', async () => {
  const say = (text: string): { readonly [format: Format]: WireRequest } => {
    const base = { query: {}, headers: { 'anthropic-version': '2023-06-01' } }
    const turns = [{ role: 'user', content: text }]
    return {
      chat: {
        ...{ ...base, path: '/chat/completions' },
        body: { model: 'm', temperature: 0.5, messages: [{ role: 'system', content: 'Be brief.' }, ...turns] },
      },
      responses: {
        ...base,
        path: '/responses',
        body: { model: 'm', instructions: 'Be brief.', input: text, stream: true },
      },
      messages: {
        ...{ ...base, path: '/v1/messages' },
        body: { model: 'm', max_tokens: 99, system: [{ type: 'text', text: 'Be brief.' }], messages: turns },
      },
      contents: {
        ...{ ...base, path: '/v1beta/models/m:generateContent' },
        body: {
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          contents: [{ role: 'user', parts: [{ text }] }],
        },
      },
    }
  }
  const keysOf = async (text: string): Promise<Set<string | undefined>> =>
    new Set(
      await Promise.all(
        Object.entries(say(text)).map(async ([format, wire]) => matchKey(await recorded(format, wire)).conversation),
      ),
    )
  const [hello, bye] = [await keysOf('Hello'), await keysOf('Bye')]
  expect([hello.size, bye.size]).toEqual([1, 1])
  expect(hello).not.toEqual(bye)
})

test('ignored dates, ids and fields do not count', async () => {
  const ask = (content: string, seed: number) => ({
    ...{ path: '/chat/completions', query: {}, headers: {} },
    body: { model: 'm', seed, messages: [{ role: 'user', content }] },
  })
  const key = async (content: string, seed: number, ignore: readonly string[]) =>
    matchKey(await recorded('chat', ask(content, seed)), ignore).digest
  const ignore = ['/\\d{4}-\\d\\d-\\d\\d/', 'sampling.seed']
  expect(await key('Today is 2026-11-28.', 1, ignore)).toBe(await key('Today is 2027-01-01.', 2, ignore))
  expect(await key('Today is 2026-11-28.', 1, [])).not.toBe(await key('Today is 2027-01-01.', 1, []))
})

test('names of files of sound and images do not count, which are often random; those of documents do', async () => {
  const formKey = async (field: string, name: string, mediaType: string): Promise<string> => {
    const form = new FormData()
    form.set('model', 'm')
    form.set('prompt', 'a')
    form.set(field, new Blob(['bytes'], { type: mediaType }), name)
    const encoded = new Response(form)
    const headers = { 'content-type': encoded.headers.get('content-type')! }
    const url = field === 'file' ? '/v1/audio/transcriptions' : '/v1/images/edits'
    const request = { method: 'POST', url, headers, body: Buffer.from(await encoded.bytes()) }
    const recorded = await recordedRequest(request, redactionFor(request, []))
    expect(readRequest(recorded)).toBeDefined()
    return matchKey(recorded).digest
  }
  expect(await formKey('file', 'tmp1.wav', 'audio/wav')).toBe(await formKey('file', 'tmp2.wav', 'audio/wav'))
  expect(await formKey('image', 'tmp1.png', 'image/png')).toBe(await formKey('image', 'tmp2.png', 'image/png'))
  const fileKey = async (filename: string): Promise<string> => {
    const file = { filename, file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' }
    const body = { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file }] }] }
    return matchKey(await recorded('chat', { path: '/chat/completions', query: {}, headers: {}, body })).digest
  }
  expect(await fileKey('a.pdf')).not.toBe(await fileKey('b.pdf'))
})

/** Requests of three formats with a call whose argument is an id beyond 2^53. */
const WITH_ID: { readonly [url: string]: (id: string) => string } = {
  '/v1/chat/completions': id =>
    `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"id\\":${id}}"}}]},{"role":"tool","tool_call_id":"c","content":"b"}]}`,
  '/v1/messages': id =>
    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"id":${id}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"b"}]}]}`,
  '/v1beta/models/m:generateContent': id =>
    `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"id":${id}}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"b"}}}]}]}`,
}

test.each(Object.keys(WITH_ID))('%s: ids beyond 2^53 that differ in their last digit are others', async url => {
  const digestOf = async (id: string): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
    const request = { method: 'POST', url, headers, body: Buffer.from(WITH_ID[url]!(id)) }
    const recorded = await recordedRequest(request, redactionFor(request, []))
    expect(readRequest(recorded)).toBeDefined()
    return matchKey(recorded).digest
  }
  expect(await digestOf('9007199254740993')).not.toBe(await digestOf('9007199254740992'))
  expect(await digestOf('9007199254740993')).toBe(await digestOf('9007199254740993'))
})
