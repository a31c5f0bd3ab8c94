import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { SampleReader } from '../../../src/canonical/media/pcm.ts'
import { wavHeader } from '../../../src/canonical/media/wav.ts'
import { readAllBytes } from '../../../src/canonical/read-bytes.ts'
import { encodedBytes, encodedEvents } from '../../../src/gateway/speech/encoding.ts'
import type { TestServer } from '../../builders/gateway.ts'
import { dataOf } from '../../builders/http.ts'
import { RAW_SPEECH } from '../../builders/media.ts'
import { opener } from '../../builders/opener.ts'
import type { Script } from '../../builders/upstream.ts'
import { grammarFault } from '../../laws/grammar.ts'
import { framesIn } from '../../speech/frames.ts'

/* Samples become an MP3 file chunk by chunk, whatever the size of the chunks. */

const RATE = 24_000
const FORMAT = { rate: RATE, channels: 1, bits: 16, encoding: 'integer' } as const
/** Samples per MPEG-2 Layer III frame. */
const FRAME = 576

/** A tone of this many seconds. */
function tone(seconds: number): Buffer {
  const samples = Int16Array.from({ length: seconds * RATE }, (_, at) => 12_000 * Math.sin(at / 9))
  return Buffer.from(samples.buffer)
}

const pieces = (bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const places = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index]!, end))
}
const cuts = fc.array(fc.nat(), { maxLength: 6 })

describe('samples', () => {
  test('are the same wherever their bytes are cut', () => {
    const format = fc.constantFrom(
      ...[8, 16, 24, 32].map(bits => ({ bits, encoding: 'integer' }) as const),
      ...[32, 64].map(bits => ({ bits, encoding: 'float' }) as const),
    )
    fc.assert(
      fc.property(format, fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 64 }), cuts, (how, channels, bytes, at) => {
        const of = (list: readonly Uint8Array[]) => {
          const reader = new SampleReader({ ...how, channels, rate: RATE })
          const read = list.map(piece => reader.push(piece))
          return Array.from({ length: channels }, (_, channel) => read.flatMap(one => [...one[channel]!]))
        }
        const whole = of([bytes])
        expect(of(pieces(bytes, at))).toEqual(whole)
        for (const sample of whole.flat()) expect(Math.abs(sample)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test.each([
    ['integer', 8, [0x00, 0x80, 0xc0], [-1, 0, 0.5]],
    ['integer', 16, [0x00, 0x80, 0x00, 0x40], [-1, 0.5]],
    ['integer', 24, [0x00, 0x00, 0x80, 0x00, 0x00, 0x40], [-1, 0.5]],
    ['integer', 32, [0, 0, 0, 0x80, 0, 0, 0, 0x40], [-1, 0.5]],
    ['float', 32, [...new Uint8Array(Float32Array.of(-0.5, 7, Number.NaN).buffer)], [-0.5, 1, 0]],
  ] as const)('of %s %i bits', (encoding, bits, bytes, samples) => {
    const reader = new SampleReader({ encoding, bits, channels: 1, rate: RATE })
    expect([...reader.push(Uint8Array.from(bytes))[0]!]).toEqual(samples)
  })
})

async function mp3Of(list: readonly Uint8Array[], part: { offset: number; size?: number } = { offset: 0 }) {
  const source = {
    async *read() {
      yield* list
    },
  }
  return (await readAllBytes(encodedBytes(source, FORMAT, part), 1e9))!
}

describe('an MP3 file', () => {
  test('has all that was said, and is the same wherever the samples were cut', async () => {
    const samples = tone(1.5)
    const whole = await mp3Of([samples])
    const frames = framesIn(whole)
    expect(frames).toBeGreaterThanOrEqual((1.5 * RATE) / FRAME)
    expect(frames).toBeLessThan((1.5 * RATE) / FRAME + 6)
    await fc.assert(
      fc.asyncProperty(cuts, async at => {
        expect((await mp3Of(pieces(samples, at))).equals(whole)).toBe(true)
      }),
      { numRuns: 10 },
    )
  })

  test('has nothing of what stands before and behind the samples', async () => {
    const samples = tone(1)
    const around = Buffer.concat([Buffer.alloc(44, 1), samples, Buffer.alloc(9999, 77)])
    const whole = await mp3Of([samples])
    for (const at of [[], [10], [44, 50, 48_044, 48_050]])
      expect((await mp3Of(pieces(around, at), { offset: 44, size: samples.length })).equals(whole)).toBe(true)
  })

  test('leaves the rest of the process its turns, two at least for every second of sound', async () => {
    let turns = 0
    let next = setImmediate(function turn() {
      turns++
      next = setImmediate(turn)
    })
    await readAllBytes(encodedBytes(new BufferedBytes(tone(60)), FORMAT, { offset: 0 }), 1e9)
    clearImmediate(next)
    expect(turns).toBeGreaterThanOrEqual(120)
  })
})

const AT = (part: number) => ({ candidate: 0, part })
const sound = (part: number, bytes: Buffer): CanonicalEvent[] => [
  {
    type: 'part-start',
    at: AT(part),
    part: { type: 'media', kind: 'audio', source: { type: 'base64', mediaType: RAW_SPEECH, data: '' } },
  },
  { type: 'part-delta', at: AT(part), append: bytes.toString('base64') },
  { type: 'part-end', at: AT(part) },
]

test('a stream of samples in many parts is one file, and what stands between them stays', async () => {
  const samples = tone(1)
  const events: CanonicalEvent[] = [
    { type: 'result-start' },
    ...sound(0, samples.subarray(0, 6000)),
    { type: 'part-start', at: AT(1), part: { type: 'text', text: '' } },
    { type: 'part-delta', at: AT(1), append: 'so it was said' },
    { type: 'part-end', at: AT(1) },
    ...sound(2, samples.subarray(6000)),
    { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } },
    { type: 'result-end' },
  ]
  const coming = async function* () {
    yield* events
  }
  const got: CanonicalEvent[] = []
  for await (const event of encodedEvents(coming())) got.push(event)
  expect(grammarFault(got)).toBeUndefined()
  const deltas = got.filter(event => event.type === 'part-delta')
  const file = deltas.filter(({ at }) => at.part === 0).map(({ append }) => Buffer.from(append, 'base64'))
  expect(Buffer.concat(file).equals(await mp3Of([samples]))).toBe(true)
  expect(file.length).toBeGreaterThan(2)
  expect(deltas.filter(({ at }) => at.part === 1).map(({ append }) => append)).toEqual(['so it was said'])
})

describe('a caller', () => {
  const { open: openBefore } = opener()
  const open = async (format: string, script: Script): Promise<TestServer> =>
    (await openBefore(script, {}, { format })).testServer
  const ask = async (testServer: TestServer, more: object) => {
    const message = await testServer.send('/v1/audio/speech', { model: 'm', input: 'Hello.', ...more }).answer
    const pieces: Buffer[] = []
    for await (const piece of message) pieces.push(piece as Buffer)
    return { status: message.statusCode, headers: message.headers, bytes: Buffer.concat(pieces) }
  }
  const samples = tone(0.5)
  const wav = Buffer.concat([wavHeader({ rate: RATE, channels: 1 }, samples.length), samples, Buffer.from('LIST')])
  const answering =
    (type: string, bytes: Buffer): Script =>
    response => {
      response.writeHead(200, { 'content-type': type })
      // The first chunk is half of the file's head.
      response.write(bytes.subarray(0, 20))
      setTimeout(() => response.end(bytes.subarray(20)), 5)
    }

  test.each(['audio/wav', 'audio/x-wav'])('that named mp3 gets it of %s', async type => {
    const { headers, bytes } = await ask(await open('speech', answering(type, wav)), { response_format: 'mp3' })
    expect(headers['content-type']).toBe('audio/mpeg')
    expect(headers['interlingua-loss']).toBeUndefined()
    expect(bytes.equals(await mp3Of([samples]))).toBe(true)
  })

  test('that named mp3 gets it of samples', async () => {
    const testServer = await open('speech', answering('audio/pcm', samples))
    expect((await ask(testServer, { response_format: 'mp3' })).bytes.equals(await mp3Of([samples]))).toBe(true)
  })

  test.each([
    ['nothing', {}, 'audio/wav', wav],
    ['opus', { response_format: 'opus' }, 'audio/wav', wav],
    ['pcm', { response_format: 'pcm' }, 'audio/mpeg', Buffer.from('ID3')],
    ['mp3', { response_format: 'mp3' }, 'audio/wav', Buffer.from('RIFF....WAVEfmt \x10\0\0\0\x11\0')],
  ])('that named %s gets what its upstream has under its own name, and is told', async (_, more, type, body) => {
    const { headers, bytes } = await ask(await open('speech', answering(type, body)), more)
    expect(bytes.equals(body)).toBe(true)
    expect(headers).toMatchObject({
      'content-type': type,
      'interlingua-loss': 'candidates/0/content/0/source other-container',
    })
  })

  test('of Google’s stream gets frames before the last samples are there', async () => {
    let finish = (): void => {}
    const told = (bytes: Buffer, more: object = {}): string =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ inlineData: { mimeType: RAW_SPEECH, data: bytes.toString('base64') } }] }, ...more }] })}\n\n`
    const testServer = await open('contents', response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(told(samples.subarray(0, 12_001)))
      finish = () => response.end(told(samples.subarray(12_001), { finishReason: 'STOP' }))
    })
    const body = { model: 'm', input: 'Hello.', stream_format: 'sse' }
    const message = await testServer.send('/v1/audio/speech', body).answer
    let text = ''
    for await (const piece of message) {
      if (text === '') finish()
      text += String(piece)
    }
    const events = dataOf(text).map(data => JSON.parse(data))
    const audio = events.flatMap(({ audio }) => (audio === undefined ? [] : [Buffer.from(audio, 'base64')]))
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done' })
    expect(Buffer.concat(audio).equals(await mp3Of([samples]))).toBe(true)
  })

  test('of Google’s stream that breaks off is told so', async () => {
    const testServer = await open('contents', response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const parts = [{ inlineData: { mimeType: RAW_SPEECH, data: samples.toString('base64') } }]
      response.write(`data: ${JSON.stringify({ candidates: [{ content: { parts } }] })}\n\n`, () =>
        setTimeout(() => response.destroy(), 20),
      )
    })
    const { bytes } = await ask(testServer, { stream_format: 'sse' })
    const events = dataOf(String(bytes)).map(data => JSON.parse(data))
    expect(events.at(-1)).toMatchObject({ type: 'error' })
  })
})
