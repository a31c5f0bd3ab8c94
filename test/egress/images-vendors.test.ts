import { expect, test } from 'vitest'
import { BufferedBytes } from '../../src/canonical/bytes.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* Vendors whose images differ from OpenAI's: Seedream at Volcengine Ark, SiliconFlow, Together. */

const HEAD = { model: 'doubao-seedream-4-5-251128', prompt: 'A cat.' }
const URL_A = 'https://example.com/a.png'
const URL_B = 'data:image/png;base64,iVBORw0KGgo='

const sent = (given: JsonObject, dialect: JsonObject = {}, native = true, edit = false, files?: readonly string[]) => {
  const request = READERS['images']!.request!({
    path: `/v1/images/${edit ? 'edits' : 'generations'}`,
    ...{ query: {}, headers: {}, body: { ...HEAD, ...given } },
    ...(files && {
      files: files.map(field => ({
        ...{ field, name: 'a.png', mediaType: 'image/png' },
        bytes: new BufferedBytes(Buffer.from('iVBORw0KGgo=', 'base64')),
      })),
    }),
  })
  const { wire, losses } = WRITERS['images']!.request!(request, { dialect, native })
  const reported = losses.filter(({ restored }) => restored !== true).map(one => one.path.at(-1))
  return { path: wire.path, body: wire.body, losses: reported, files: wire.files }
}

/* "image size must be at least 3686400 pixels", "the specified size is not supported" (AceDataCloud/Nexior#663, May
   2026); only pixels and 2k, 3k, 4k are sizes (ddcat-ai/open-ai-canvas#400, September 2026). */
test.each([
  ['doubao-seedream-4-5-251128', '1024x1024', '1920x1920'],
  ['seedream-4.5', '1536x1024', '2352x1568'],
  ['doubao-seedream-5-0-260128', '1792x1024', '2544x1456'],
  ['doubao-seedream-5-0-260128', '2048x2048', '2048x2048'],
  ['doubao-seedream-5-0-260128', '2000x2000', '2000x2000'],
  ['doubao-seedream-5-0-260128', '16:9', '2560x1440'],
  ['doubao-seedream-5-0-260128', '2K', '2K'],
  ['doubao-seedream-5-0-260128', '1K', '2K'],
  ['doubao-seedream-4-0-250828', '512x512', '960x960'],
  ['doubao-seedream-4-0-250828', '1024x1024', '1024x1024'],
  ['doubao-seedream-3-0-t2i-250415', '1024x1024', '1024x1024'],
  ['doubao-seedream-4-5-251128', 'auto', undefined],
])('%s gets, of the size %s, %s', (model, size, became) => {
  for (const native of [true, false]) {
    const { body, losses } = sent({ model, size }, {}, native)
    expect(body).toEqual({ model, prompt: 'A cat.', ...(became && { size: became }) })
    expect(losses).toEqual(became === undefined || became === size ? [] : ['size'])
  }
})

/* Ark and SiliconFlow answer `/images/edits` with 404 (TGYD-helige/pi#72, June 2026; diaomin66/astrbot_plugin_omnidraw#22,
   May 2026: "404 page not found"). */
test.each([
  ['image', [URL_A], { image: URL_A }],
  ['image', [URL_A, URL_B], { image: [URL_A, URL_B] }],
  ['numbered', [URL_A, URL_B, URL_A], { image: URL_A, image2: URL_B, image3: URL_A }],
  ['image_url', [URL_A], { image_url: URL_A }],
  ['image_url', [URL_A, URL_B], { reference_images: [URL_A, URL_B] }],
])('an upstream without edits gets images in `%s` of a generation', (edits, urls, fields) => {
  for (const native of [true, false]) {
    const { path, body, files } = sent({ images: urls.map(image_url => ({ image_url })) }, { edits }, native, true)
    expect({ path, body, files }).toEqual({ path: '/images/generations', body: { ...HEAD, ...fields } })
  }
})

test('the files of a form become addresses, and a mask is reported', () => {
  const { path, body, losses } = sent({ n: '2' }, { edits: 'image' }, true, true, ['image[]', 'image[]', 'mask'])
  expect(path).toBe('/images/generations')
  expect(body).toEqual({ ...HEAD, n: 2, image: [URL_B, URL_B] })
  expect(losses).toContain(3)
})

test('SiliconFlow gets its own names of the size and the number', () => {
  for (const native of [true, false])
    expect(
      sent({ model: 'Qwen/Qwen-Image', size: '1024x1024', n: 2 }, { size_field: 'image_size' }, native).body,
    ).toEqual({ model: 'Qwen/Qwen-Image', prompt: 'A cat.', image_size: '1024x1024', batch_size: 2 })
})

test('SiliconFlow’s list of images reaches clients of OpenAI', () => {
  const request = READERS['images']!.request!({ path: '/v1/images/generations', query: {}, headers: {}, body: HEAD })
  const body = { images: [{ url: URL_A }], timings: { inference: 1.2 }, seed: 7 }
  const result = READERS['images']!.result!({ status: 200, headers: {}, body }, request)
  const { wire } = WRITERS['images']!.result!(result, request)
  expect(wire.body).toMatchObject({ data: [{ url: URL_A }], seed: 7 })
})

/* `response_format` of Together is `base64` or `url`, `output_format` `jpeg` or `png` (together 3.1.1, PyPI,
   `ImageGenerateParams`; @ai-sdk/togetherai sends `base64`, read on 2026-12-01). */
test('bytes are requested in the upstream’s word, whatever the caller’s is', () => {
  for (const native of [true, false]) {
    const together = { bytes_word: 'base64', output_types: 'png_jpeg' }
    const given = { response_format: 'b64_json', output_format: 'webp' }
    expect(sent(given, together, native).body).toEqual({ ...HEAD, response_format: 'base64', output_format: 'png' })
    const word = { bytes_word: 'b64_json' }
    expect(sent({ response_format: 'base64' }, word, native).body).toEqual({ ...HEAD, response_format: 'b64_json' })
    expect(sent({ response_format: 'url' }, together, native).body).toEqual({ ...HEAD, response_format: 'url' })
    expect(sent({ model: 'gpt-image-2', response_format: 'base64' }, {}, native).body).not.toHaveProperty(
      'response_format',
    )
  }
})

/* `/images/generations` of OpenRouter is 404 (songquanpeng/one-api#2426, July 2026). */
test('OpenRouter generates and edits at /images', () => {
  for (const native of [true, false]) {
    const dialect = { edits: 'input_references' }
    expect(sent({ size: '1024x1024' }, dialect, native)).toMatchObject({ path: '/images', body: HEAD })
    const { path, body } = sent({ images: [{ image_url: URL_A }, { image_url: URL_B }] }, dialect, native, true)
    const references = [URL_A, URL_B].map(url => ({ type: 'image_url', image_url: { url } }))
    expect({ path, body }).toEqual({ path: '/images', body: { ...HEAD, input_references: references } })
  }
})
