import { createOpenAI } from '@ai-sdk/openai'
import { transcribe } from 'ai'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { Stub } from './stub.ts'
import { channelOf, FIRST, RAW, SECOND, TEXT, UPSTREAMS } from './upstreams.ts'

const WAV = Buffer.from(
  '524946462c00000057415645666d74201000000001000100401f0000401f000001000800646174610800000080808080',
  'hex',
)
const recording = () => toFile(WAV, 'talk.wav', { type: 'audio/wav' })

describe.each(Object.entries(UPSTREAMS))('clients before an upstream of %s', (name, upstream) => {
  let stub: Stub
  let testServer: TestServer
  let client: OpenAI
  beforeAll(async () => {
    stub = await Stub.open((response, seen) => upstream.answer(response, seen))
    testServer = await TestServer.open([channelOf(upstream, stub.address)])
    client = new OpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY, maxRetries: 0 })
  })
  afterAll(async () => {
    await testServer.server.close(0)
    await stub.close()
  })
  const ask = async (more: object) =>
    client.audio.transcriptions.create({ file: await recording(), model: 'm', ...more } as never) as Promise<unknown>

  test('json', async () => {
    expect(((await ask({ language: 'en', prompt: 'Earl Grey' })) as { text: string }).text).toBe(TEXT)
  })

  test('text', async () => {
    expect(await ask({ response_format: 'text' })).toBe(RAW['text'])
  })

  test.skipIf(upstream.times === 'none').each(['srt', 'vtt'])('%s', async format => {
    expect(await ask({ response_format: format })).toBe(RAW[format])
  })

  test.skipIf(upstream.times === 'none')('verbose_json', async () => {
    const answer = (await ask({ response_format: 'verbose_json' })) as OpenAI.Audio.TranscriptionVerbose
    expect(answer.text).toBe(TEXT)
    expect(answer.segments).toMatchObject([
      { id: 0, ...FIRST },
      { id: 1, ...SECOND },
    ])
    expect(answer.duration).toBeGreaterThanOrEqual(SECOND.end)
    expect(answer.language).toEqual(expect.stringMatching(/^en/))
    expect(answer.words).toBeUndefined()
  })

  test.skipIf(upstream.times !== 'words')('verbose_json with words', async () => {
    const answer = (await ask({
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })) as OpenAI.Audio.TranscriptionVerbose
    expect(answer.words).toHaveLength(8)
    expect(answer.words![0]).toMatchObject({ word: 'The', start: 0, end: 0.25 })
    expect(answer.segments).toHaveLength(2)
  })

  test.skipIf(!upstream.speakers)('diarized_json', async () => {
    const answer = (await ask({ response_format: 'diarized_json' })) as OpenAI.Audio.TranscriptionDiarized
    expect(answer.segments.map(({ start, end, text }) => ({ start, end, text }))).toEqual([FIRST, SECOND])
    expect(answer.segments.map(({ id, type }) => [id, type])).toEqual(
      ['seg_0', 'seg_1'].map(id => [id, 'transcript.text.segment']),
    )
    expect(answer.duration).toBeGreaterThanOrEqual(SECOND.end)
    const [one, other] = answer.segments.map(({ speaker }) => speaker)
    expect(one).toEqual(expect.any(String))
    expect(other).not.toBe(one)
  })

  test.skipIf(upstream.times !== 'none').each(['srt', 'vtt', 'verbose_json', 'diarized_json'])(
    '%s is refused before anything is sent',
    async format => {
      stub.seen.length = 0
      await expect(ask({ response_format: format })).rejects.toMatchObject({ status: 422 })
      expect(stub.seen).toHaveLength(0)
    },
  )

  test('stream', async () => {
    const stream = (await ask({ stream: true })) as AsyncIterable<OpenAI.Audio.TranscriptionStreamEvent>
    const events = []
    for await (const event of stream) events.push(event)
    const deltas = events.filter(event => event.type === 'transcript.text.delta')
    expect(deltas.map(({ delta }) => delta).join('')).toBe(TEXT)
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: TEXT })
    expect(deltas.length).toBe(['deepgram', 'elevenlabs'].includes(name) ? 1 : 4)
  })

  test.skipIf(!upstream.speakers)('stream of speakers', async () => {
    const stream = (await ask({
      stream: true,
      response_format: 'diarized_json',
    })) as AsyncIterable<OpenAI.Audio.TranscriptionStreamEvent>
    const segments = []
    for await (const event of stream) if (event.type === 'transcript.text.segment') segments.push(event)
    expect(segments.map(({ id }) => id)).toEqual(['seg_0', 'seg_1'])
    expect(segments.map(({ start, end, text }) => ({ start, end, text }))).toEqual([FIRST, SECOND])
  })

  test('translations', async () => {
    const asked = client.audio.translations.create({ file: await recording(), model: 'm' } as never)
    if (upstream.translates) expect(((await asked) as { text: string }).text).toBe(TEXT)
    else await expect(asked).rejects.toMatchObject({ status: 422 })
  })

  test('AI SDK', async () => {
    const openai = createOpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY })
    const { text } = await transcribe({ model: openai.transcription('m'), audio: WAV, maxRetries: 0 })
    expect(text).toBe(TEXT)
  })

  test.skipIf(upstream.times === 'none').each(['verbose_json', 'diarized_json'])('AI SDK: %s', async responseFormat => {
    if (responseFormat === 'diarized_json' && !upstream.speakers) return
    const openai = createOpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY })
    const { text, segments } = await transcribe({
      model: openai.transcription('m'),
      audio: WAV,
      providerOptions: { openai: { responseFormat } },
      maxRetries: 0,
    })
    expect(text).toBe(TEXT)
    expect(segments.map(({ startSecond, endSecond }) => [startSecond, endSecond])).toEqual([
      [FIRST.start, FIRST.end],
      [SECOND.start, SECOND.end],
    ])
  })

  test('what a file is called is nothing that could be lost', async () => {
    const form = { file: await recording(), model: 'm' }
    const { response } = await client.audio.transcriptions.create(form).withResponse()
    expect(response.headers.get('interlingua-loss')).toBeNull()
  })

  test('what the upstream is sent', async () => {
    stub.seen.length = 0
    await ask({ language: 'en', keywords: ['Earl Grey', 'kettle'], temperature: 0.2 })
    const { url, fields, headers, raw } = stub.seen[0]!
    expect({ url, fields }).toEqual(SENT[name])
    expect(Object.values(headers).filter(value => String(value).includes('upstream-key-1234'))).toHaveLength(1)
    if (!raw.text.startsWith('{')) return
    expect(raw.text).toContain(WAV.toString('base64'))
    for (const said of ['word for word', 'Earl Grey, kettle', '0.2']) expect(raw.text).toContain(said)
  })
})

const FORM = [
  ['model', 'm'],
  ['language', 'en'],
]
const KEYWORDS = ['Earl Grey', 'kettle']
const named = (name: string) => KEYWORDS.map(word => [name, word])

/** The same request at each upstream: what of it is no body. */
const SENT: { readonly [name: string]: { readonly url: string; readonly fields: readonly (readonly string[])[] } } = {
  transcriptions: {
    url: '/v1/audio/transcriptions',
    fields: [...FORM, ['temperature', '0.2'], ...named('keywords[]')],
  },
  verbose: { url: '/v1/audio/transcriptions', fields: [...FORM, ['temperature', '0.2'], ...named('keywords[]')] },
  plain: { url: '/v1/audio/transcriptions', fields: [...FORM, ['temperature', '0.2'], ...named('context_bias')] },
  contents: { url: '/v1beta/models/m:generateContent', fields: [] },
  chat: { url: '/v1/chat/completions', fields: [] },
  deepgram: {
    url: '/v1/listen?model=m&smart_format=true&punctuate=true&language=en&keyterm=Earl+Grey&keyterm=kettle',
    fields: [],
  },
  elevenlabs: {
    url: '/v1/speech-to-text',
    fields: [
      ['model_id', 'm'],
      ['language_code', 'en'],
      ['timestamps_granularity', 'none'],
      ['tag_audio_events', 'false'],
      ['temperature', '0.2'],
      ...named('keyterms'),
    ],
  },
}
