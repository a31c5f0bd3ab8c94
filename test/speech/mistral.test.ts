import { expect, test } from 'vitest'
import { wavHeader } from '../../src/canonical/media/wav.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

/* Speech at Mistral, and of Mistral's own clients (mistralai 3.7.0, PyPI, and @ai-sdk/mistral, read on 2026-12-01). */

const { openGateway, openUpstream } = opener()
const { dialect = {} } = PRESETS.get('mistral')!.formats.find(({ format }) => format === 'speech')!
const MODEL = 'voxtral-mini-tts-2603'
const models = { named: new Map([[MODEL, MODEL]]), patterns: [] }
const SAMPLES = Buffer.from(Int16Array.from({ length: 24_000 }, (_, at) => 9000 * Math.sin(at / 9)).buffer)
const FILE = Buffer.concat([wavHeader({ rate: 24_000, channels: 1 }, SAMPLES.length), SAMPLES])

/** Asks for speech at an upstream that answers as Mistral (`json`) or as OpenAI does. */
async function speak(fields: object, { json = true, file = FILE, headers = {} } = {}) {
  const asked: { [field: string]: unknown }[] = []
  const upstream = await openUpstream((response, { text }) => {
    asked.push(JSON.parse(text))
    if (json)
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ audio_data: file.toString('base64') }))
    else response.writeHead(200, { 'content-type': 'audio/wav' }).end(file)
  })
  const channel = channelAt(upstream.address, { format: 'speech', models, ...(json ? { dialect } : {}) })
  const testServer = await openGateway([channel])
  const answer = await fetch(`${testServer.server.address}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: MODEL, input: 'Tea is served.', ...fields }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { asked: asked[0], status: answer.status, type: answer.headers.get('content-type'), bytes }
}

test('a caller of OpenAI’s format gets the recording inside of Mistral’s answer', async () => {
  const { asked, status, type, bytes } = await speak({ voice: 'alloy', response_format: 'wav' })
  expect(asked).toEqual({
    ...{ model: MODEL, input: 'Tea is served.', voice_id: 'gb_jane_neutral', response_format: 'wav' },
  })
  expect([status, type]).toEqual([200, 'audio/wav'])
  expect(bytes.equals(FILE)).toBe(true)
})

test('Mistral gets neither instructions nor speed nor events', async () => {
  const fields = { voice: 'en_paul_sad', instructions: 'Whisper.', speed: 2, stream_format: 'audio' }
  const { asked, status } = await speak(fields, { file: Buffer.from('ID3 file') })
  expect([asked, status]).toEqual([{ model: MODEL, input: 'Tea is served.', voice_id: 'en_paul_sad' }, 200])
})

test('raw samples are those of a WAV file, because Mistral’s own are floating-point numbers', async () => {
  const { asked, type, bytes } = await speak({ voice: 'alloy', response_format: 'pcm' })
  expect([asked?.['response_format'], type]).toEqual(['wav', 'audio/pcm'])
  expect(bytes.equals(SAMPLES)).toBe(true)
})

test('Mistral’s own clients pass unchanged and get its answer', async () => {
  const fields = { voice_id: 'en_paul_sad', response_format: 'pcm', stream: false }
  const { asked, status, type, bytes } = await speak(fields, { file: SAMPLES })
  expect(asked).toEqual({ model: MODEL, input: 'Tea is served.', ...fields })
  expect([status, type]).toEqual([200, expect.stringMatching(/^application\/json/)])
  expect(JSON.parse(bytes.toString())).toEqual({ audio_data: SAMPLES.toString('base64') })
})

test('a stream of Mistral’s own clients is made of the whole answer', async () => {
  const { asked, type, bytes } = await speak({ voice_id: 'en_paul_sad', response_format: 'wav', stream: true })
  expect(asked).not.toHaveProperty('stream')
  expect(type).toMatch(/^text\/event-stream/)
  const events = bytes.toString().split('\n\n').filter(Boolean)
  expect(events.at(-1)).toContain('event: speech.audio.done\n')
  const pieces = events.slice(0, -1).map(event => JSON.parse(/^data: (.*)$/m.exec(event)![1]!).audio_data)
  expect(Buffer.concat(pieces.map(piece => Buffer.from(piece, 'base64'))).equals(FILE)).toBe(true)
})

test('a copied voice needs no other', async () => {
  expect((await speak({ ref_audio: 'AAAA' })).asked).toEqual({
    model: MODEL,
    input: 'Tea is served.',
    ref_audio: 'AAAA',
  })
})

test('Mistral’s own clients get its answer from other upstreams', async () => {
  const headers = { 'user-agent': 'mistral-client-python/3.7.0' }
  const fields = { voice_id: 'nova', response_format: 'wav', stream: false }
  const { asked, type, bytes } = await speak(fields, { json: false, headers })
  expect(asked).toEqual({ model: MODEL, input: 'Tea is served.', voice: expect.any(String), response_format: 'wav' })
  expect(type).toMatch(/^application\/json/)
  expect(JSON.parse(bytes.toString())).toEqual({ audio_data: FILE.toString('base64') })
})
