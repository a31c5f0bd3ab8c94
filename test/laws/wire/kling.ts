import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { filled, json, object, record, word } from '../arbitrary.ts'

/* Valid requests for videos, and tasks, in Kling's format, with random unknown fields and nulls in every object. */

const unknown = object(fc.oneof(json, fc.constant(null)))
const maybe = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
const loose = (value: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.tuple(value, unknown).map(([known, more]) => ({ ...more, ...known }))

/** Base64 of PNGs, JPEGs and files without a known signature. */
const bare = fc.constantFrom('iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB', '/9j/4AAQSkZJRgABAQAAAQABAAA=', 'AAAA')
const picture = fc.oneof(bare, fc.webUrl())
const named: fc.Arbitrary<JsonObject> = filled.map(model_name => ({ model_name }))
const settings = {
  negative_prompt: maybe(word),
  duration: maybe(fc.constantFrom('5', '10', 5, '05', 3)),
  mode: maybe(fc.constantFrom('std', 'pro', 'x')),
  external_task_id: maybe(filled),
  cfg_scale: fc.constantFrom(0, 0.5),
  callback_url: fc.webUrl(),
  camera_control: json,
}
const ofText = loose(record({ prompt: filled }, { ...settings, aspect_ratio: maybe(fc.constantFrom('16:9', '1:1')) }))
const ofPicture = loose(record({ image: picture }, { ...settings, prompt: maybe(word), image_tail: maybe(picture) }))

const wire = (path: string, body: fc.Arbitrary<JsonObject>): fc.Arbitrary<WireRequest> =>
  fc.tuple(body, named).map(([fields, model]) => ({ path, query: {}, headers: {}, body: { ...fields, ...model } }))

export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  wire('/v1/videos/text2video', ofText),
  wire('/v1/videos/image2video', ofPicture),
)

/** Ids. An id of dots only is refused, because it is no step of a path. */
const id = filled.filter(text => !/^\.+$/.test(text))

/** Times in milliseconds, as the vendor writes them, or in seconds. */
const time = fc.oneof(fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }), fc.nat(2_000_000_000))
const clip = loose(
  record({ url: fc.webUrl() }, { id: filled, duration: maybe(fc.constantFrom('5', '5.041', '5.10', 5, 'long')) }),
)
const status = fc.constantFrom('submitted', 'processing', 'succeed', 'failed', 'succeeded', 'x_new')

export const result: fc.Arbitrary<JsonObject> = loose(
  record(
    {
      data: loose(
        record(
          { task_id: fc.oneof(id, fc.constantFrom('a/b', 7)) },
          {
            task_status: maybe(status),
            task_status_msg: maybe(word),
            task_info: maybe(loose(record({}, { external_task_id: filled }))),
            created_at: maybe(time),
            updated_at: maybe(time),
            task_result: maybe(loose(record({}, { videos: maybe(fc.array(clip, { maxLength: 3 })) }))),
            final_unit_deduction: word,
          },
        ),
      ),
    },
    { code: maybe(fc.constant(0)), message: word, request_id: filled },
  ),
)
