import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { EVENT_STREAM } from '../../../src/egress/transport/sse.ts'
import {
  type Codec,
  chat,
  contents,
  foldStream,
  GatewayError,
  messages,
  readAnswer,
  readError,
  readRequest,
  readStream,
  responses,
  type Translation,
  translate,
} from '../../../src/kit/library/index.ts'
import { asked, streamed } from '../../laws/arbitrary-result.ts'
import { spoiled } from '../../laws/spoiled.ts'
import { plain, RUNS } from '../../laws/support.ts'
import { WIRES } from '../../laws/wires.ts'
import { FORMATS, PAIRS, requests } from './requests.ts'

/* Bad input to the library is a GatewayError or an error event: no other exception, no endless loop, no changed prototype. */

const CODECS = { chat, messages, contents, responses }
const HELLO: { readonly [F in keyof typeof CODECS]: JsonObject } = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] },
  contents: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  responses: { model: 'm', input: 'Hello' },
}
const SOME = { numRuns: Math.ceil(RUNS / 6) }

/** Runs the work; returns undefined for a GatewayError. Other exceptions fail the test. */
function tried<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

const translated = (body: JsonObject, from: Codec, to: Codec, path?: string): Translation | undefined =>
  tried(() => translate(body, { from, to, ...(path === undefined ? {} : { path }) }))

/** Values that are no JSON object. */
const NO_BODIES: readonly unknown[] = [...[null, undefined, 0, 'text', true, [], [{}], Symbol('s'), 1n], () => 1]

/** Values that JSON cannot hold as they are. */
function impossible(): readonly { readonly name: string; readonly value: unknown }[] {
  const cyclic: { [name: string]: unknown } = { type: 'object', properties: {} }
  cyclic['properties'] = { self: cyclic }
  const list: unknown[] = []
  list.push(list)
  let deep: unknown = {}
  for (let level = 0; level < 100_000; level++) deep = level % 2 === 0 ? { deep } : [deep]
  return [
    { name: 'an object in itself', value: cyclic },
    { name: 'a list in itself', value: list },
    { name: '100000 levels', value: deep },
  ]
}

/** Objects of 40 levels, each of which holds the next one twice: 2⁴⁰ paths. */
function shared(): JsonObject {
  let value: JsonObject = { type: 'string' }
  for (let level = 0; level < 40; level++) value = { a: value, b: value }
  return value
}

const toolsOf = (schema: Json): JsonObject => ({
  tools: [
    {
      type: 'function',
      name: 'f',
      function: { name: 'f', parameters: schema },
      parameters: schema,
      input_schema: schema,
    },
  ],
})

describe.each(FORMATS)('%s', name => {
  const codec = CODECS[name]

  test('no object is a GatewayError, and an error of any body can be read', () => {
    for (const body of NO_BODIES as JsonObject[]) {
      expect(() => readRequest(codec, body)).toThrow(GatewayError)
      expect(() => translate(body, { from: codec, to: chat })).toThrow(GatewayError)
      expect(() => readAnswer(codec, body)).toThrow(GatewayError)
      expect(readError(codec, { status: 500, body }).message).not.toBe('')
    }
  })

  test.each(impossible())('$name is a GatewayError, wherever it is', ({ value }) => {
    const bodies = [toolsOf(value as Json), { metadata: value }, { zz: value }, { contents: value }]
    for (const body of bodies as JsonObject[]) {
      expect(() => readRequest(codec, { ...HELLO[name], ...body })).toThrow(/more than 1000 levels/)
      expect(() => readAnswer(codec, body)).toThrow(/more than 1000 levels/)
      expect(readError(codec, { status: 500, body }).message).not.toBe('')
    }
  })

  test('objects that are shared are visited once', () => {
    expect(readRequest(codec, { ...HELLO[name], zz: shared() }).messages).toHaveLength(1)
  })

  test('fields that every object inherits change no prototype', () => {
    const inherited = JSON.parse(
      '{"__proto__":{"polluted":1,"type":"text"},"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":0}',
    ) as JsonObject
    const within = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(within)
        : typeof value === 'object' && value !== null
          ? Object.defineProperties(
              Object.fromEntries(Object.entries(value).map(([key, item]) => [key, within(item)])),
              Object.getOwnPropertyDescriptors(inherited),
            )
          : value
    fc.assert(
      fc.property(requests(name), WIRES[name]!.result, ({ path, body }, result) => {
        for (const to of FORMATS) {
          const translation = translated(within(plain(body)) as JsonObject, codec, CODECS[to], path)
          tried(() => translation?.answer(within(plain(result)) as JsonObject))
        }
        expect(({} as JsonObject)['polluted']).toBeUndefined()
        expect(Object.hasOwn(Object.prototype, 'type')).toBe(false)
      }),
      SOME,
    )
  })

  test('a stream that is cut anywhere is whole or has an error', async () => {
    await fc.assert(
      fc.asyncProperty(streamed(), fc.double({ min: 0, max: 1, noNaN: true }), async ({ events }, share) => {
        const bytes = streamOf(name, events)
        const whole = await foldStream(pieces(bytes, bytes.length).pipeThrough(readStream(codec)))
        const read = await foldStream(pieces(bytes, Math.floor(bytes.length * share)).pipeThrough(readStream(codec)))
        if (read.error === undefined) expect(read.candidates).toEqual(whole.candidates)
      }),
      SOME,
    )
  })

  test('a stream of garbage is an error', async () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: 'binary' }).map(text => new TextEncoder().encode(`data: ${text}\n\n`)),
      fc.json().map(text => new TextEncoder().encode(`event: x\ndata: ${text}\n\n`)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(garbage), async chunks => {
        const result = await foldStream(new Blob(chunks as never).stream().pipeThrough(readStream(codec)) as never)
        expect(result.error).toBeDefined()
      }),
      SOME,
    )
  })
})

/** Pairs of formats, also of a format with itself. */
const ALL_PAIRS = [...PAIRS, ...FORMATS.map(name => [name, name] as const)]

describe.each(ALL_PAIRS)('from %s to %s', (from, to) => {
  test('wrong types are translated or refused', () => {
    fc.assert(
      fc.property(spoiled(requests(from).map(({ body }) => plain(body) as JsonObject)), body => {
        translated(body, CODECS[from], CODECS[to])
      }),
      SOME,
    )
  })

  test('wrong types of answers are translated or refused', () => {
    const translation = translate(HELLO[from], { from: CODECS[from], to: CODECS[to] })
    fc.assert(
      fc.property(spoiled(WIRES[to]!.result), result => {
        tried(() => translation.answer(plain(result) as JsonObject))
        translation.error({ status: 500, body: plain(result) as JsonObject })
      }),
      SOME,
    )
  })

  test('wrong types in streams, and streams that are cut, end in the caller’s format', async () => {
    const translation = translate({ ...HELLO[from], stream: true }, { from: CODECS[from], to: CODECS[to] })
    const wire = streamed().map(({ events }) =>
      drain(WRITERS[to]!.events!({ ...asked, stream: true } as never), events),
    )
    const spoil = fc.tuple(wire, fc.nat(), spoiled(WIRES[to]!.result), fc.nat()).map(([events, at, by, cut]) => {
      const spoiledEvents = events.map((event, index) =>
        index === at % events.length ? { ...event, data: JSON.stringify(by) } : event,
      )
      const text = spoiledEvents.map(event => EVENT_STREAM.frame(event, false)).join('')
      return text.slice(0, cut % (text.length + 1))
    })
    await fc.assert(
      fc.asyncProperty(spoil, async text => {
        const source = new Blob([text]).stream() as ReadableStream<Uint8Array>
        const out = await new Response(source.pipeThrough(translation.stream()) as never).text()
        expect(out).not.toBe('')
      }),
      SOME,
    )
  })

  test('giant texts are translated', () => {
    const giant = 'héllo wörld — '.repeat(2 ** 18)
    const body = JSON.parse(JSON.stringify(HELLO[from]).replace('"Hello"', JSON.stringify(giant))) as JsonObject
    const translation = translate(body, { from: CODECS[from], to: CODECS[to] })
    expect(JSON.stringify(translation.body).length).toBeGreaterThan(giant.length)
  })
})

/** Returns the bytes of a stream in a format. */
function streamOf(name: keyof typeof CODECS, events: Parameters<typeof drain>[1]): Uint8Array {
  const wire = drain(WRITERS[name]!.events!({ ...asked, stream: true } as never), events as never)
  return new TextEncoder().encode(wire.map(event => EVENT_STREAM.frame(event as never, false)).join(''))
}

/** Returns the first bytes as a stream of several chunks. */
function pieces(bytes: Uint8Array, length: number): ReadableStream<Uint8Array> {
  const chunks = Array.from({ length: Math.ceil(length / 64) }, (_, index) =>
    bytes.slice(index * 64, Math.min(length, (index + 1) * 64)),
  )
  return ReadableStream.from(chunks) as unknown as ReadableStream<Uint8Array>
}
