import fc from 'fast-check'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireFile, WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, json, record, word } from '../arbitrary.ts'
import { RESPONSES_COUNTS, usageIn } from '../counts.ts'
import { dataUrl, maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Requests for images, and answers with images, as clients and upstreams write them. */
const link = fc.oneof(dataUrl, fc.webUrl())
const named = fc.oneof(
  link,
  plus(record({ image_url: link }, { file_id: filled })),
  plus(record({ file_id: filled })),
  plus(record({ url: link, type: fc.constant('image_url') })),
  plus(record({}, { image_url: fc.constant(null) })),
)
const pictures = fc.oneof(named, fc.array(named, { maxLength: 3 }))

const looks = {
  size: fc.constantFrom('1024x1024', '1536x1024', 'auto', '2K'),
  quality: maybeNull(fc.constantFrom('low', 'hd', 'auto')),
  style: fc.constantFrom('vivid', 'natural'),
  background: fc.constantFrom('transparent', 'opaque'),
  output_format: fc.constantFrom('png', 'jpeg', 'jpg', 'svg', 'webp'),
  input_fidelity: fc.constantFrom('high', 'low'),
  response_format: fc.constantFrom('url', 'b64_json', 'base64'),
  moderation: fc.constantFrom('low', 'auto'),
  user: filled,
  safety_identifier: filled,
}

const inJson = fc
  .tuple(
    fc.constantFrom('generations', 'edits'),
    plus(
      record(
        { model: filled, prompt: word },
        {
          ...looks,
          n: maybeNull(fc.integer({ min: 1, max: 4 })),
          output_compression: fc.nat(100),
          partial_images: fc.nat(3),
          stream: maybeNull(fc.boolean()),
          frame_count: fc.nat(9),
          svg: json,
        },
      ),
    ),
    record<JsonObject>({}, { image: pictures, images: fc.array(named, { maxLength: 3 }), mask: named }),
  )
  .map(([door, body, start]) => ({
    path: `/images/${door}`,
    query: {},
    headers: {},
    body: { ...body, ...start, ...(door === 'edits' ? begun(start) : {}) } as JsonObject,
  }))

/** Adds an input image if there is none. An edit requires one. */
const begun = (body: JsonObject): JsonObject =>
  ['image', 'images'].some(field => [body[field] ?? []].flat().length > 0)
    ? {}
    : { images: [{ image_url: 'https://example.org/a.png' }] }

const file: fc.Arbitrary<WireFile> = record<WireFile>(
  {
    field: fc.constantFrom('image', 'image[]', 'image[0]', 'mask', 'markup'),
    mediaType: fc.constantFrom('image/png', 'image/jpeg', 'application/octet-stream'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }).map(data => new BufferedBytes(data)),
  },
  { name: fc.constantFrom('a.png', 'b.JPG', 'c', 'é".webp') },
)
const inForm = fc
  .tuple(
    fc.constantFrom('edits', 'variations'),
    record<JsonObject>(
      { model: filled },
      {
        ...looks,
        quality: fc.constantFrom('low', 'auto'),
        prompt: word,
        n: fc.constantFrom('1', '2', '02', ' 3 '),
        output_compression: fc.constantFrom('80', '5e1'),
        partial_images: fc.constantFrom('0', '2'),
        stream: fc.constantFrom('true', 'false', 'True'),
        image: fc.oneof(link, fc.array(link, { minLength: 2, maxLength: 3 })),
        'image[]': fc.oneof(link, fc.array(link, { minLength: 2, maxLength: 3 })),
        x_vendor: fc.oneof(word, fc.array(word, { minLength: 2, maxLength: 2 })),
      },
    ),
    fc.array(file, { maxLength: 3 }),
  )

  .map(([door, body, files]) => ({
    path: `/images/${door}`,
    query: {},
    headers: {},
    body: {
      ...(door === 'edits' ? { prompt: 'at night' } : {}),
      ...body,
      ...(files.some(({ field }) => field !== 'mask') || body['image'] !== undefined || body['image[]'] !== undefined
        ? {}
        : { image: 'https://example.org/a.png' }),
    } as JsonObject,
    files,
  }))

export const request: fc.Arbitrary<WireRequest> = fc.oneof(inJson, inForm)

/** Value of the other field at servers that always write both fields of an image. */
const unfilled = fc.constantFrom(null, '')
const item = plus(
  fc.oneof(
    record({ b64_json: bytes }, { url: unfilled, revised_prompt: maybeNull(word) }),
    record({ url: fc.webUrl() }, { b64_json: unfilled, revised_prompt: fc.oneof(word, json) }),
    record({}, { error: json }),
  ),
)
const counts = maybeNull(plus(record({}, { text_tokens: fc.nat(99), image_tokens: maybeNull(fc.nat(99)) })))
const usage = plus(
  fc.oneof(
    usageIn(RESPONSES_COUNTS),
    record(
      { input_tokens: fc.nat(99), output_tokens: fc.nat(99) },
      { total_tokens: fc.nat(299), input_tokens_details: counts, output_tokens_details: counts },
    ),
  ),
)
export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    { created: fc.nat(), data: fc.array(item, { maxLength: 3 }) },
    {
      background: fc.constantFrom('opaque', 'transparent'),
      output_format: maybeNull(fc.constantFrom('png', 'jpeg', 'jpg', 'svg')),
      quality: maybeNull(fc.oneof(word, json)),
      size: fc.constant('1024x1024'),
      usage: maybeNull(usage),
    },
  ),
)
