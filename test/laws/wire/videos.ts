import fc from 'fast-check'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { filled, json, object, record, word } from '../arbitrary.ts'

/* Valid requests for videos, and tasks, with random unknown fields and nulls in every object. */

const unknown = object(fc.oneof(json, fc.constant(null)))
const maybe = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
const loose = (value: fc.Arbitrary<JsonObject>, others = unknown): fc.Arbitrary<JsonObject> =>
  fc.tuple(value, others).map(([known, more]) => ({ ...more, ...known }))

const reference = fc.oneof(
  loose(record({ image_url: fc.constant('data:image/png;base64,iVBORw0K') })),
  loose(record({ image_url: fc.webUrl() })),
  loose(record({ file_id: filled })),
  loose(record({ x_new: word })),
)
const seconds = fc.constantFrom('4', '8', '12', '7.5', 'auto', ' 8')

const inJson = loose(
  record(
    { model: filled, prompt: filled },
    {
      seconds: maybe(fc.oneof(seconds, fc.constantFrom(4, 8))),
      size: maybe(fc.constantFrom('1280x720', '720x1280', 'auto')),
      input_reference: maybe(reference),
    },
  ),
)
const inForm = loose(
  record(
    { model: filled, prompt: filled },
    { seconds, size: fc.constant('1280x720'), 'input_reference[image_url]': fc.webUrl() },
  ),
  object(word),
)
const file = fc
  .tuple(fc.constantFrom('input_reference', 'x_picture'), fc.uint8Array({ minLength: 1, maxLength: 6 }))
  .map(([field, bytes]) => ({ field, name: 'a.png', mediaType: 'image/png', bytes: new BufferedBytes(bytes) }))

const at = { path: '/videos', query: {}, headers: {} } as const
export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  inJson.map(body => ({ ...at, body })),
  fc.tuple(inForm, fc.array(file, { maxLength: 1 })).map(([body, files]) => ({ ...at, body, files })),
  loose(record({ prompt: filled })).map(body => ({ ...at, path: '/videos/video_1/remix', body })),
)

const error = loose(
  record({}, { code: maybe(fc.constantFrom('moderation_blocked', 'E_17')), message: maybe(word), param: maybe(word) }),
)
const time = fc.nat(2_000_000_000)

export const result: fc.Arbitrary<JsonObject> = loose(
  record(
    { id: filled },
    {
      object: maybe(fc.constantFrom('video', 'video.task')),
      model: maybe(filled),
      status: maybe(fc.constantFrom('queued', 'in_progress', 'completed', 'failed', 'pending', 'x_new')),
      progress: maybe(fc.oneof(fc.nat(100), fc.constant('50%'))),
      created_at: maybe(time),
      completed_at: maybe(time),
      expires_at: maybe(time),
      seconds: maybe(fc.constantFrom('4', '8', 8, 'long')),
      size: maybe(fc.constantFrom('1280x720', 'auto')),
      prompt: maybe(word),
      remixed_from_video_id: maybe(filled),
      error: maybe(fc.oneof(error, word)),
      url: maybe(fc.webUrl()),
      task_id: maybe(filled),
    },
  ),
)
