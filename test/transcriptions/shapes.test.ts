import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* Callers get the requested shape, whatever shape their upstream returns. */

const FIGURES = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 }
const SEGMENTS = [
  { id: 0, start: 0, end: 1.5, text: ' R&D said 5 < 6.', ...FIGURES },
  { id: 1, start: 3661, end: 3662.25, text: ' Yes.', ...FIGURES },
  { id: 2, start: 3663, end: 3664, text: ' ', ...FIGURES },
]
const TEXT = 'R&D said 5 < 6. Yes.'
const SRT = '1\n00:00:00,000 --> 00:00:01,500\nR&D said 5 < 6.\n\n2\n01:01:01,000 --> 01:01:02,250\nYes.\n\n'
const VTT = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nR&amp;D said 5 &lt; 6.\n\n01:01:01.000 --> 01:01:02.250\nYes.\n\n'
const VERBOSE = JSON.stringify({ text: TEXT, segments: SEGMENTS, language: 'en', duration: 3664 })

/** Answers of upstreams: the declared type, and the content. */
const ANSWERS = {
  json: ['application/json', JSON.stringify({ text: TEXT })],
  'json called text': ['text/plain; charset=utf-8', JSON.stringify({ text: TEXT })],
  'a JSON string': ['application/json', JSON.stringify(TEXT)],
  text: ['text/plain', `${TEXT}\n`],
  'text called nothing': ['', `${TEXT}\n`],
  verbose_json: ['application/json', VERBOSE],
  srt: ['application/x-subrip', SRT],
  'srt called text': ['text/plain', SRT],
  'srt as a JSON string': ['application/json', JSON.stringify(SRT)],
  vtt: ['text/vtt; charset=utf-8', VTT],
} as const

let upstream: FakeUpstream
let testServer: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(() => {})
  testServer = await TestServer.open([channelAt(upstream.address, { format: 'transcriptions' })])
})
afterAll(async () => {
  await testServer.server.close(0)
  await upstream.close()
})

async function ask(answer: keyof typeof ANSWERS, shape?: string) {
  const [type, body] = ANSWERS[answer]
  upstream.script = response => response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body)
  const form = new FormData()
  form.append('file', new Blob(['RIFF']), 'a.wav')
  form.append('model', 'm')
  if (shape !== undefined) form.append('response_format', shape)
  const headers = { authorization: `Bearer ${KEY}` }
  const url = `${testServer.server.address}/v1/audio/transcriptions`
  const got = await fetch(url, { method: 'POST', body: form, headers })
  return { status: got.status, type: got.headers.get('content-type') ?? '', text: await got.text() }
}

const all = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]
const timed = all.filter(answer => /srt|vtt|verbose/.test(answer))

describe.each([undefined, 'json'])('asked %s', shape => {
  test.each(all)('and answered %s, it is JSON', async answer => {
    const { status, type, text } = await ask(answer, shape)
    expect([status, type]).toEqual([200, expect.stringContaining('application/json')])
    expect(JSON.parse(text).text).toBe(TEXT)
  })
})

test.each(all)('asked text and answered %s, it is text', async answer => {
  const { status, type, text } = await ask(answer, 'text')
  expect([status, type, text.trim()]).toEqual([200, expect.stringContaining('text/plain'), TEXT])
})

test('asked diarized_json and told nothing of segments, the list that clients go through is empty', async () => {
  const { status, text } = await ask('json', 'diarized_json')
  expect([status, JSON.parse(text)]).toEqual([200, { task: 'transcribe', duration: 0, text: TEXT, segments: [] }])
})

test.each(timed)('asked subtitles and answered %s, they are of the kind that was asked for', async answer => {
  expect(await ask(answer, 'srt')).toMatchObject({ status: 200, text: SRT })
  expect(await ask(answer, 'vtt')).toMatchObject({ status: 200, text: VTT })
})

test.each(all.filter(answer => !timed.includes(answer)))(
  'asked subtitles and answered %s, there are none',
  async answer => {
    for (const shape of ['srt', 'vtt']) expect((await ask(answer, shape)).status).toBe(422)
  },
)

const NO_SEGMENTS = { text: TEXT, segments: [] }
const HEARD = { results: { channels: [{ alternatives: [{ transcript: TEXT, words: [] }] }] } }

test.each([
  ['transcriptions', NO_SEGMENTS, 422],
  ['transcriptions', { ...NO_SEGMENTS, text: ' ' }, 200],
  ['elevenlabs', { text: TEXT, words: [{ text: 'R&D', type: 'word' }] }, 422],
  ['elevenlabs', { text: '', words: [] }, 200],
  ['deepgram', HEARD, 422],
])('asked subtitles of a text without times, none are empty: %s %o', async (format, said, expected) => {
  const other = await FakeUpstream.open(response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said)),
  )
  const gateway = await TestServer.open([channelAt(other.address, { format, baseUrl: other.address })])
  const form = new FormData()
  form.append('file', new Blob(['RIFF']), 'a.wav')
  form.append('model', 'm')
  form.append('response_format', 'srt')
  const url = `${gateway.server.address}/v1/audio/transcriptions`
  const got = await fetch(url, { method: 'POST', body: form, headers: { authorization: `Bearer ${KEY}` } })
  expect([got.status, await got.text()]).toEqual([
    expected,
    expected === 200 ? '' : expect.stringContaining('no times'),
  ])
  await gateway.server.close(0)
  await other.close()
})

test.each(timed)('asked verbose_json and answered %s, it has all that clients’ types require', async answer => {
  const { status, text } = await ask(answer, 'verbose_json')
  const told = JSON.parse(text)
  expect({ status, told }).toMatchObject({
    status: 200,
    told: { language: expect.any(String), duration: expect.any(Number), text: TEXT },
  })
  expect(told.segments.slice(0, 2)).toMatchObject([
    { id: 0, seek: expect.any(Number), start: 0, end: 1.5, text: expect.stringContaining('R&D said 5 < 6.') },
    { id: 1, tokens: expect.any(Array), start: 3661, end: 3662.25, text: expect.stringContaining('Yes.') },
  ])
})
