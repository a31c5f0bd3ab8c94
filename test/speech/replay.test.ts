import { readFileSync } from 'node:fs'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readWavHead } from '../../src/canonical/media/wav.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { type Demo, openDemo } from '../builders/demo.ts'
import { TestServer } from '../builders/gateway.ts'
import { dataOf } from '../builders/http.ts'
import { framesIn } from './frames.ts'

/* The audio endpoints without a network. Container and shape are the requested ones. */

const SPOKEN = readFileSync('fixtures/realtime/hello.pcm')
const WAV = readFileSync('fixtures/speech/wav.result.wav')
const KEY_HEADER = { authorization: `Bearer ${KEY}` }

let replay: Demo
let testServer: TestServer
let client: OpenAI
beforeAll(async () => {
  replay = await openDemo()
  const ids = replay.models.map(({ id }) => id)
  const models = { named: new Map(ids.map(id => [id, id])), patterns: [] }
  const sisters = ['speech', 'transcriptions'].map(format => ({
    ...channelAt(replay.url, { format, models }),
    name: `replay-${format}`,
  }))
  testServer = await TestServer.open(sisters)
  client = new OpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY, maxRetries: 0 })
})
afterAll(async () => {
  await testServer.server.close(0)
  await replay.close()
})

const isWhat: { readonly [word: string]: readonly [type: string, is: (bytes: Buffer) => boolean] } = {
  mp3: ['audio/mpeg', bytes => framesIn(bytes) > 0],
  wav: ['audio/wav', bytes => bytes.subarray(44).equals(SPOKEN) && typeof readWavHead(bytes) === 'object'],
  pcm: ['audio/pcm', bytes => bytes.equals(SPOKEN)],
}

describe.each(['replay', 'replay-speech-hello'])('speech of %s', model => {
  const asked = { model, voice: 'alloy', input: 'what nobody recorded', speed: 1.5 }
  const speak = (more: object) =>
    fetch(`${testServer.server.address}/v1/audio/speech`, {
      method: 'POST',
      headers: { ...KEY_HEADER, 'content-type': 'application/json' },
      body: JSON.stringify({ ...asked, ...more }),
    })

  test.each(Object.keys(isWhat))('as %s', async word => {
    const [type, is] = isWhat[word]!
    const answer = await speak({ response_format: word })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect(is(Buffer.from(await answer.arrayBuffer()))).toBe(true)
    const events = dataOf(await (await speak({ response_format: word, stream_format: 'sse' })).text())
    const said = events.map(data => JSON.parse(data))
    expect(is(Buffer.concat(said.map(({ audio }) => Buffer.from(audio ?? '', 'base64'))))).toBe(true)
    expect(said.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { total_tokens: expect.any(Number) } })
  })

  test('as nothing in particular', async () => {
    const answer = await speak({})
    expect(answer.headers.get('content-type')).toBe('audio/mpeg')
    expect(framesIn(Buffer.from(await answer.arrayBuffer()))).toBeGreaterThan(0)
  })

  test.each(['opus', 'flac', 'aac'])('not as %s', async word => {
    for (const more of [{}, { stream_format: 'sse' }]) {
      const answer = await speak({ response_format: word, ...more })
      expect(answer.status).toBe(422)
      expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('container') } })
    }
  })
})

const file = () => toFile(WAV, 'hello.wav', { type: 'audio/wav' })
const fixture = (name: string): string => readFileSync(`fixtures/transcriptions/${name}`, 'utf8')

describe.each(['replay', 'replay-transcriptions-hello'])('transcripts of %s', model => {
  const hear = async (more: object) =>
    client.audio.transcriptions.create({ file: await file(), model, language: 'de', ...more } as never) as never

  test.each([
    ['srt', 'subtitles.result.srt'],
    ['vtt', 'captions.result.vtt'],
    ['text', 'plain.result.txt'],
  ])('as %s', async (response_format, name) => {
    expect(await hear({ response_format })).toBe(fixture(name))
  })

  test.each([
    [undefined, ['segments']],
    [['segment'], ['segments']],
    [['word'], ['words']],
    [
      ['word', 'segment'],
      ['segments', 'words'],
    ],
  ])('as verbose_json with times of %s', async (timestamp_granularities, fields) => {
    const told = (await hear({ response_format: 'verbose_json', timestamp_granularities })) as object
    const { segments, words, ...others } = JSON.parse(fixture('times.result.json'))
    const times: { readonly [field: string]: unknown } = { segments, words }
    expect(told).toEqual({ ...others, ...Object.fromEntries(fields.map(field => [field, times[field]])) })
  })

  test('as diarized_json', async () => {
    const told = await hear({ response_format: 'diarized_json', chunking_strategy: 'auto' })
    expect(told).toEqual(JSON.parse(fixture('speakers.result.json')))
  })

  test('as a stream', async () => {
    const types = new Set<string>()
    const told = (await hear({ response_format: 'diarized_json', stream: true })) as AsyncIterable<{ type: string }>
    for await (const event of told) types.add(event.type)
    expect([...types].sort()).toEqual(['transcript.text.delta', 'transcript.text.done', 'transcript.text.segment'])
  })

  test('as a translation', async () => {
    const { text } = await client.audio.translations.create({ file: await file(), model })
    expect(text).toBe('The water is boiling.')
  })
})
