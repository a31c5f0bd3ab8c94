import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI, Modality } from '@google/genai'
import { generateSpeech } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { wavHeader } from '../../src/canonical/media/wav.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { RAW_SPEECH } from '../builders/media.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { framesIn } from '../speech/frames.ts'

/* Real clients request speech from hand-written upstreams of each format that generates it. */

const SAMPLES = Buffer.from(Array.from({ length: 240 }, (_, index) => index % 251))
const MP3 = Buffer.concat([Buffer.from('ID3'), SAMPLES])
const WAV = Buffer.concat([wavHeader({ rate: 24_000, channels: 1 }, SAMPLES.length), SAMPLES])
// biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes
type Loose = any

const RECORDINGS: { readonly [word: string]: readonly [type: string, bytes: Buffer] } = {
  mp3: ['audio/mpeg', MP3],
  wav: ['audio/wav', WAV],
  pcm: ['audio/pcm', SAMPLES],
  ...{ flac: ['audio/flac', MP3], aac: ['audio/aac', MP3], opus: ['audio/opus', MP3] },
}

/** Answer of each upstream, and a function that returns what it understood. */
const UPSTREAMS: {
  readonly [format: string]: {
    answer(response: import('node:http').ServerResponse, url: string, body: Loose): void
    heard(url: string, body: Loose): { text: string; voice: string | undefined }
  }
} = {
  speech: {
    answer: (response, _, { response_format = 'mp3', stream_format }) => {
      const [type, bytes] = RECORDINGS[response_format]!
      if (stream_format !== 'sse') return void response.writeHead(200, { 'content-type': type }).end(bytes)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const piece of [bytes.subarray(0, 100), bytes.subarray(100)])
        response.write(`data: ${JSON.stringify({ type: 'speech.audio.delta', audio: piece.toString('base64') })}\n\n`)
      const usage = { input_tokens: 3, output_tokens: 40, total_tokens: 43 }
      response.end(`data: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`)
    },
    heard: (_, { input, voice }) => ({ text: input, voice }),
  },
  contents: {
    answer: (response, url) => {
      const of = (bytes: Buffer, last: boolean) => ({
        candidates: [
          {
            index: 0,
            content: {
              role: 'model',
              parts: [{ inlineData: { mimeType: RAW_SPEECH, data: bytes.toString('base64') } }],
            },
            ...(last ? { finishReason: 'STOP' } : {}),
          },
        ],
        ...(last ? { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 40, totalTokenCount: 43 } } : {}),
      })
      if (!url.includes('stream'))
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(of(SAMPLES, true)))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(of(SAMPLES.subarray(0, 100), false))}\n\n`)
      response.end(`data: ${JSON.stringify(of(SAMPLES.subarray(100), true))}\n\n`)
    },
    heard: (_, { contents, generationConfig }) => ({
      text: contents.flatMap(({ parts }: Loose) => parts.map(({ text }: Loose) => text)).join(''),
      voice: generationConfig.speechConfig?.voiceConfig.prebuiltVoiceConfig.voiceName,
    }),
  },
  elevenlabs: {
    answer: (response, url) => {
      const format = new URL(url, 'http://x').searchParams.get('output_format') ?? 'mp3_44100_128'
      const bytes = format.startsWith('pcm') ? SAMPLES : MP3
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': bytes.length }).end(bytes)
    },
    heard: (url, { text }) => ({ text, voice: /text-to-speech\/([^/?]+)/.exec(url)?.[1] }),
  },
}

const VOICES = { voices: { alloy: 'Kore', onyx: 'Charon' }, default_voice: 'Kore' }

describe.each(Object.keys(UPSTREAMS))('speech of %s', format => {
  const { answer, heard } = UPSTREAMS[format]!
  let upstream: FakeUpstream
  let testServer: TestServer
  let openai: OpenAI

  beforeAll(async () => {
    upstream = await FakeUpstream.open(() => {})
    const base = format === 'speech' ? `${upstream.address}/v1` : upstream.address
    const auth = format === 'elevenlabs' ? 'xi-api-key' : 'bearer'
    const row = { format, baseUrl: base, auth, headers: {}, query: {}, dialect: VOICES } as const
    testServer = await TestServer.open([{ ...channelAt(upstream.address), formats: [row] }])
    openai = new OpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY, maxRetries: 0 })
  })

  beforeEach(() => {
    upstream.seen.length = 0
    upstream.script = (response, { url, text }) => answer(response, url, JSON.parse(text))
  })

  afterAll(async () => {
    await testServer.server.close(0)
    await upstream.close()
  })

  const understood = () => {
    const { url, text } = upstream.seen[0]!
    return heard(url, JSON.parse(text))
  }

  it('openai: a whole recording', async () => {
    const answer = await openai.audio.speech.create({
      ...{ model: 'm', input: 'Hello.', voice: 'alloy', response_format: 'wav' },
    })
    expect(answer.headers.get('content-type')).toBe('audio/wav')
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(WAV)
    expect(understood()).toEqual({ text: 'Hello.', voice: 'Kore' })
  })

  it('openai: raw samples, with instructions', async () => {
    const answer = await openai.audio.speech.create({
      ...{ model: 'm', input: 'Hello.', voice: 'onyx', response_format: 'pcm', instructions: 'Say cheerfully.' },
    })
    expect(answer.headers.get('content-type')).toBe('audio/pcm')
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(SAMPLES)
    expect(understood().text).toBe(format === 'contents' ? 'Say cheerfully: Hello.' : 'Hello.')
    if (format === 'elevenlabs') expect(answer.headers.get('interlingua-loss')).toContain('no-instructions')
  })

  it.each([undefined, 'mp3'] as const)('openai: mp3 where %s is asked for, made here where it must be', async word => {
    const answer = await openai.audio.speech.create({
      ...{ model: 'm', input: 'Hello.', voice: 'alloy', ...(word === undefined ? {} : { response_format: word }) },
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(answer.headers.get('content-type')).toBe('audio/mpeg')
    if (format !== 'contents') return expect(bytes).toEqual(MP3)
    expect(framesIn(bytes)).toBeGreaterThan(0)
  })

  it.each(['flac', 'aac', 'opus'] as const)('openai: %s, or a refusal before anything is sent', async word => {
    const asked = openai.audio.speech.create({ model: 'm', input: 'Hello.', voice: 'alloy', response_format: word })
    if (format === 'speech' || (format === 'elevenlabs' && word === 'opus')) return void (await asked)
    await expect(asked).rejects.toMatchObject({ status: 422, code: 'cannot_express' })
    expect(upstream.seen).toHaveLength(0)
  })

  it('openai: events', async () => {
    const answer = await openai.audio.speech.create({
      ...{ model: 'm', input: 'Hello.', voice: 'alloy', response_format: 'pcm', stream_format: 'sse' },
    })
    const events = (await answer.text()).split('\n\n').filter(Boolean)
    const said = events.map(event => JSON.parse(event.replace(/^data: /, '')))
    const audio = said.filter(({ type }) => type === 'speech.audio.delta').map(one => Buffer.from(one.audio, 'base64'))
    expect(Buffer.concat(audio)).toEqual(SAMPLES)
    const last = said.at(-1)
    expect(last.type).toBe('speech.audio.done')
    expect(last.usage).toEqual(
      format === 'elevenlabs'
        ? { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
        : { input_tokens: 3, output_tokens: 40, total_tokens: 43 },
    )
  })

  it('openai: a voice nobody has', async () => {
    const asked = openai.audio.speech.create({ model: 'm', input: 'Hello.', voice: 'nobody' })
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'voice' })
    await expect(asked).rejects.toThrow('alloy, onyx')
    expect(upstream.seen).toHaveLength(0)
  })

  it('AI SDK, as OpenAI', async () => {
    const provider = createOpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY })
    const { audio } = await generateSpeech({
      ...{ model: provider.speech('m'), text: 'Hello.', outputFormat: 'wav', maxRetries: 0 },
    })
    expect(Buffer.from(audio.uint8Array)).toEqual(WAV)
    expect(audio.mediaType).toBe('audio/wav')
  })

  it('AI SDK, as Google', async () => {
    const provider = createGoogleGenerativeAI({ baseURL: `${testServer.server.address}/v1beta`, apiKey: KEY })
    const { audio } = await generateSpeech({
      ...{ model: provider.speech('m'), text: 'Hello.', voice: 'Charon', outputFormat: 'pcm', maxRetries: 0 },
    })
    expect(Buffer.from(audio.uint8Array)).toEqual(SAMPLES)
    expect(understood().voice).toBe('Charon')
  })

  it('Google’s own client, with a voice and the language it speaks', async () => {
    const google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: testServer.server.address } })
    const speechConfig = { languageCode: 'en-US', voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Charon' } } }
    await google.models.generateContent({
      model: 'm',
      contents: 'Hello.',
      config: { responseModalities: [Modality.AUDIO], speechConfig },
    })
    expect(understood().voice).toBe('Charon')
  })

  it('Google’s own client, complete and streamed', async () => {
    const google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: testServer.server.address } })
    const asked = {
      model: 'm',
      contents: 'Hello.',
      config: { responseModalities: [Modality.AUDIO] },
    }
    const whole = await google.models.generateContent(asked)
    expect(Buffer.from(whole.data!, 'base64')).toEqual(SAMPLES)
    const pieces: Buffer[] = []
    for await (const chunk of await google.models.generateContentStream(asked))
      if (chunk.data !== undefined) pieces.push(Buffer.from(chunk.data, 'base64'))
    expect(Buffer.concat(pieces)).toEqual(SAMPLES)
  })
})
