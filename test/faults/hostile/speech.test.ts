import type { ServerResponse } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { channelAt, configOf } from '../../builders/config.ts'
import type { TestServer } from '../../builders/gateway.ts'
import { dataOf } from '../../builders/http.ts'
import { RAW_SPEECH } from '../../builders/media.ts'
import { opener } from '../../builders/opener.ts'
import { pause, SOON, until } from '../../builders/time.ts'
import type { Script } from '../../builders/upstream.ts'

/*
 * Speech that is disturbed: callers that leave and keys that are taken away at any moment of a conversion, and voices,
 * texts and media types that try to be paths, headers or fields.
 */

const { openGateway, openUpstream } = opener()

const PATH = '/v1/audio/speech'
const ASK = { model: 'm', input: 'Hello.', voice: 'Kore' }

/** Seconds of a tone as raw samples of 24 kHz. */
const tone = (seconds: number): Buffer => {
  const samples = Buffer.alloc(seconds * 48_000)
  for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE(Math.round(Math.sin(at / 20) * 20_000), at)
  return samples
}

const part = (bytes: Buffer, mimeType = RAW_SPEECH) => ({ inlineData: { mimeType, data: bytes.toString('base64') } })

const content = (bytes: Buffer, last = true, mimeType?: string) => ({
  candidates: [
    { index: 0, content: { role: 'model', parts: [part(bytes, mimeType)] }, ...(last ? { finishReason: 'STOP' } : {}) },
  ],
  ...(last ? { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 40, totalTokenCount: 43 } } : {}),
})

const json = (response: ServerResponse, body: object): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))

const google = (address: string): ChannelConfig =>
  channelAt(address, { format: 'contents', baseUrl: `${address}/v1beta` })
const elevenLabs = (address: string): ChannelConfig => channelAt(address, { format: 'elevenlabs', baseUrl: address })

async function bytesOf(gateway: TestServer, body: object): Promise<Buffer> {
  const answer = await gateway.send(PATH, body).answer
  expect(answer.statusCode).toBe(200)
  const chunks: Buffer[] = []
  answer.on('data', chunk => chunks.push(chunk))
  await new Promise(resolve => answer.on('close', resolve))
  expect(answer.complete).toBe(true)
  return Buffer.concat(chunks)
}

const errors = ({ lines }: TestServer) => lines.filter(({ level }) => level === 'error')

describe('while a recording is converted to MP3', () => {
  test('callers that leave at any moment change no byte for the others, and every slot is given back', async () => {
    const sound = tone(4)
    const upstream = await openUpstream(response => json(response, content(sound)))
    const gateway = await openGateway([google(upstream.address)], { group: { concurrent: 20 } })
    const expected = await bytesOf(gateway, ASK)
    expect(expected.length).toBeGreaterThan(30_000)
    const leaving = Array.from({ length: 12 }, async (_, index) => {
      const { out, answer } = gateway.send(PATH, ASK)
      out.on('error', () => {})
      answer.then(
        message => message.on('error', () => {}).resume(),
        () => {},
      )
      await pause(index * 7)
      out.destroy()
    })
    const staying = await Promise.all(Array.from({ length: 6 }, () => bytesOf(gateway, ASK)))
    await Promise.all(leaving)
    for (const bytes of staying) expect(bytes.equals(expected)).toBe(true)
    const twenty = () =>
      Promise.all(Array.from({ length: 20 }, () => gateway.ask(PATH, { ...ASK, response_format: 'pcm' })))
    await vi.waitFor(
      async () => expect((await twenty()).map(({ status }) => status)).toEqual(Array(20).fill(200)),
      SOON,
    )
    expect(errors(gateway)).toEqual([])
  })

  test('a key that is taken away ends the recording before its end, never as if it were whole', async () => {
    const upstream = await openUpstream(response => json(response, content(tone(120))))
    const channel = google(upstream.address)
    const gateway = await openGateway([channel])
    const answer = await gateway.send(PATH, ASK).answer
    let size = 0
    let isClosed = false
    answer
      .on('data', chunk => {
        size += (chunk as Buffer).length
        if (size === (chunk as Buffer).length) gateway.server.reload(configOf([channel], { config: { keys: [] } }))
      })
      .on('error', () => {})
      .on('close', () => (isClosed = true))
    await until(() => isClosed)
    expect(answer.complete).toBe(false)
    expect(size).toBeLessThan(120 * 16_000)
    expect(errors(gateway)).toEqual([])
  })

  test('a stream is left at its upstream at once, whichever of its events the caller had', async () => {
    const piece = tone(1)
    const upstream = await openUpstream(() => {})
    const gateway = await openGateway([google(upstream.address)], { group: { concurrent: 1 } })
    for (let pieces = 0; pieces < 4; pieces++) {
      upstream.script = response => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.flushHeaders()
        for (let sent = 0; sent < pieces; sent++) response.write(`data: ${JSON.stringify(content(piece, false))}\n\n`)
      }
      const { out, answer } = gateway.send(PATH, { ...ASK, stream_format: 'sse' })
      out.on('error', () => {})
      if (pieces > 0) {
        const message = await answer
        await new Promise(resolve => message.on('error', () => {}).once('data', resolve))
      } else await until(() => upstream.seen.length === 1)
      out.destroy()
      await until(() => upstream.seen[pieces]!.brokenAt !== undefined)
    }
    upstream.script = response => json(response, content(piece))
    expect((await bytesOf(gateway, ASK)).length).toBeGreaterThan(0)
  })

  test('an upstream that breaks off with the last sample is a broken recording for each of many callers', async () => {
    const upstream = await openUpstream(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(content(tone(1), false))}\n\n`, () => response.destroy())
    })
    const gateway = await openGateway([google(upstream.address)])
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => gateway.ask(PATH, { ...ASK, stream_format: 'sse' })),
    )
    for (const { status, text } of answers) {
      const types = dataOf(text).map(data => JSON.parse(data).type ?? 'error')
      expect([status, types.includes('speech.audio.done')].join()).toMatch(/^(200|502),false$/)
    }
    expect(errors(gateway)).toEqual([])
  })
})

const EVIL_NAMES = [
  ...['..', '.', '../v1/user', 'a/../../v1/user', '..\\v1', '%2e%2e', '%252e%252e', '..;a=b', '.%00.'],
  ...[
    'a?x-evil=1',
    'a#b',
    'a&output_format=pcm',
    'a b',
    'a\r\nx-evil: 1',
    '\u2024\u2024',
    'é\ud800',
    '//evil.invalid/',
    ' ',
  ],
]

describe('a voice', () => {
  test.each(EVIL_NAMES)('named %j stays one segment of the path, or is refused', async voice => {
    const upstream = await openUpstream(response => response.setHeader('content-type', 'audio/mpeg').end('ID3sound'))
    const gateway = await openGateway([elevenLabs(upstream.address)])
    const { status } = await gateway.ask(PATH, { ...ASK, voice })
    expect([200, 400]).toContain(status)
    for (const { url, headers } of upstream.seen) {
      expect(new URL(url, upstream.address).pathname).toMatch(/^\/v1\/text-to-speech\/[^/]+$/)
      expect(url.split('?')[0]).not.toMatch(/\/(?:\.|%2e){1,2}(?:\/|$)|\\|%5c/i)
      expect(headers['x-evil']).toBeUndefined()
      expect([...new URL(url, upstream.address).searchParams.keys()]).toEqual(
        [...new URL(url, upstream.address).searchParams.keys()].filter(name => name === 'output_format'),
      )
    }
    expect(errors(gateway)).toEqual([])
  })
})

const EVIL_TEXTS = [
  ...[
    '"}],"evil":true,"a":[{"',
    '</speak><audio src="http://evil"/>',
    '<break time="9999s"/>',
    '\u0000\u001b[2J\u2028',
    '\ud800',
  ],
  ...['Speaker 1: a\nSpeaker 2: b', 'data: [DONE]\n\n', '\r\n\r\nHTTP/1.1 200 OK'],
]

describe('a text', () => {
  test.each(EVIL_TEXTS)('%j reaches every upstream as this text and nothing else', async evil => {
    const upstream = await openUpstream((response, { url }) =>
      url.includes('generateContent')
        ? json(response, content(tone(1)))
        : response.setHeader('content-type', 'audio/mpeg').end('ID3sound'),
    )
    const channels = [
      channelAt(upstream.address, { format: 'speech' }),
      google(upstream.address),
      elevenLabs(upstream.address),
    ]
    for (const channel of channels) {
      upstream.seen.length = 0
      const gateway = await openGateway([channel])
      const { status } = await gateway.ask(PATH, { ...ASK, input: evil, instructions: evil })
      expect(status).toBe(200)
      const body = JSON.parse(upstream.seen[0]!.text)
      const texts: string[] = []
      JSON.stringify(body, (name, value) => {
        expect(name).not.toBe('evil')
        if (typeof value === 'string') texts.push(value)
        return value
      })
      expect(texts.some(text => text.toWellFormed().includes(evil.toWellFormed()))).toBe(true)
      expect(errors(gateway)).toEqual([])
    }
  })
})

describe('a media type of an upstream', () => {
  const TYPES = [
    ...[
      'audio/mpeg\r\nx-evil: 1',
      'audio/mpeg\u0000',
      'audio/mpéger\u0100',
      `audio/${'a'.repeat(100_000)}`,
      'audio/',
      'audio/wav; a="\n"',
    ],
    ...[
      'audio/L16;rate=24000\r\nx-evil: 1',
      'audio/L16;rate=-1',
      'audio/L16;rate=1e9',
      'audio/pcm;rate=24000;channels=99999',
    ],
  ]

  test.each(TYPES)('such as %j is no header and no fault of the gateway', async mimeType => {
    const upstream = await openUpstream(response => json(response, content(tone(1), true, mimeType)))
    const gateway = await openGateway([google(upstream.address)])
    for (const response_format of ['mp3', 'wav', 'pcm', 'opus']) {
      const { status, headers } = await gateway.ask(PATH, { ...ASK, response_format })
      expect([200, 502, 422], response_format).toContain(status)
      expect(headers['x-evil']).toBeUndefined()
      expect(headers['content-type']).toMatch(/^[\x20-\x7e]{1,300}$/)
    }
    expect(errors(gateway)).toEqual([])
  })

  test('in a header leaves the caller a type of its own', async () => {
    const script: Script = response => response.setHeader('content-type', 'audio/mp\u00e9g').end('ID3sound')
    const upstream = await openUpstream(script)
    const gateway = await openGateway([channelAt(upstream.address, { format: 'speech' })])
    const { status, headers } = await gateway.ask(PATH, ASK)
    expect([200, 502]).toContain(status)
    expect(headers['content-type']).toMatch(/^[\x20-\x7e]+$/)
  })
})
