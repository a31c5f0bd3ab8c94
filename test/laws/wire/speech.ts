import fc from 'fast-check'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireAnswer, WireRequest } from '../../../src/canonical/wire.ts'
import { filled, record, word } from '../arbitrary.ts'
import { unknown } from '../loose.ts'

/* Valid text-to-speech values, with unknown fields and nulls sprinkled on every object. */
const maybe = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
const loose = (value: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.tuple(value, unknown).map(([known, others]) => ({ ...others, ...known }))

const voice = fc.oneof(fc.constantFrom('alloy', 'onyx'), word, loose(record({ id: filled })))

const body = loose(
  record(
    { model: filled, input: word },
    {
      voice: maybe(voice),
      instructions: maybe(word),
      response_format: maybe(fc.constantFrom('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm')),
      speed: maybe(fc.constantFrom(0.25, 1, 4, 7)),
      stream_format: maybe(fc.constantFrom('audio', 'sse')),
    },
  ),
)

export const request: fc.Arbitrary<WireRequest> = body.map(body => ({
  path: '/audio/speech',
  query: {},
  headers: {},
  body,
}))

/** Whole answers are never JSON (`raw`). */
export const result: fc.Arbitrary<JsonObject> = fc.constant({})

export const raw: fc.Arbitrary<WireAnswer> = fc
  .tuple(fc.constantFrom('audio/mpeg', 'audio/wav', 'audio/pcm', 'audio/x-new'), fc.uint8Array({ maxLength: 9 }))
  .map(([mediaType, bytes]) => ({
    status: 200,
    headers: {},
    body: {},
    raw: { mediaType, bytes: new BufferedBytes(bytes) },
  }))
