import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* xAI answers `size` and `style` with 400, "Argument not supported: size" (rikkahub/rikkahub#1602, pi-xai-oauth#25). */

const HEAD = { model: 'grok-imagine-image', prompt: 'A cat.' }

const sent = (given: JsonObject, vendor = 'xai', native = true, path = '/v1/images/generations') => {
  const request = READERS['images']!.request!({ path, query: {}, headers: {}, body: { ...HEAD, ...given } })
  const { dialect = {} } = PRESETS.get(vendor)!.formats.find(({ format }) => format === 'images')!
  const { wire, losses } = WRITERS['images']!.request!(request, { dialect, native })
  const reported = losses.filter(({ restored }) => restored !== true).map(one => one.path.at(-1))
  return { body: wire.body, losses: reported }
}

test.each([
  [{ size: '1024x1024' }, { aspect_ratio: '1:1' }, ['size']],
  [{ size: '1792x1024' }, { aspect_ratio: '16:9' }, ['size']],
  [{ size: '1024x1536' }, { aspect_ratio: '2:3' }, ['size']],
  [{ size: '2048x2048' }, { aspect_ratio: '1:1', resolution: '2k' }, ['size']],
  [{ size: '16:9 2K' }, { aspect_ratio: '16:9', resolution: '2k' }, []],
  [{ size: '4K' }, { resolution: '2k' }, ['size']],
  [{ size: '1K' }, { resolution: '1k' }, []],
  [{ size: 'auto', quality: 'auto' }, {}, []],
  [{ size: 'huge' }, {}, ['size']],
  [{ quality: 'hd', style: 'vivid' }, { quality: 'high' }, ['style', 'quality']],
  [{ quality: 'low', n: 2 }, { quality: 'low', n: 2 }, []],
  [{ aspect_ratio: '19.5:9', resolution: '2k' }, { aspect_ratio: '19.5:9', resolution: '2k' }, []],
  [{ aspect_ratio: '3:4', size: '1024x1024' }, { aspect_ratio: '3:4' }, ['size']],
])('xAI gets, of %j, %j', (given, written, reported) => {
  const { body, losses } = sent({ ...given, response_format: 'url' })
  expect(body).toEqual({ ...HEAD, response_format: 'url', ...written })
  expect(losses).toEqual(reported)
})

test('xAI gets ratios with images to edit and from another model’s name as well', () => {
  const images = [{ image_url: 'https://example.com/cat.png' }]
  const { body } = sent({ images, size: '1536x1024', quality: 'standard' }, 'xai', true, '/v1/images/edits')
  expect(body).toMatchObject({ aspect_ratio: '3:2', quality: 'medium' })
  expect(body).not.toHaveProperty('size')
})

test.each([
  [{ size: '1792x1024', quality: 'high' }, { width: 1792, height: 1024, quality: 'high' }, []],
  [{ size: '16:9' }, { width: 1536, height: 1024 }, ['size']],
  [{ size: 'auto' }, {}, []],
  [{ size: 'huge' }, {}, ['size']],
  [{ width: 640, height: 480 }, { width: 640, height: 480 }, []],
])('Together, which has no size, gets, of %j, %j', (given, written, reported) => {
  for (const native of [true, false])
    expect(sent({ ...given, response_format: 'url' }, 'together', native)).toEqual({
      ...{ body: { ...HEAD, response_format: 'url', ...written }, losses: reported },
    })
})

/* "Invalid size" for Gemini's classes, which its clients send alone as `imageSize` (nextcloud/integration_openai#423 has
   OpenAI's list of sizes; js-genai 3.6, `ImageConfig`, read on 2026-12-01). */
test.each([
  ['gpt-image-2', '2K', '2048x2048'],
  ['gpt-image-2', '4K', '2880x2880'],
  ['gpt-image-2', '512', '1024x1024'],
  ['gpt-image-1.5', '2K', '1024x1024'],
  ['gpt-image-1.5', '16:9 2K', '1536x1024'],
])('%s gets, of the class %s, %s', (model, imageSize, size) => {
  const [aspectRatio, resolution] = imageSize.includes(' ') ? imageSize.split(' ') : [undefined, imageSize]
  const imageConfig = { imageSize: resolution!, ...(aspectRatio && { aspectRatio }) }
  const request = READERS['contents']!.request!({
    ...{ path: `/v1beta/models/${model}:generateContent`, query: {}, headers: {} },
    body: {
      contents: [{ role: 'user', parts: [{ text: 'A cat.' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig },
    },
  })
  const { wire, losses } = WRITERS['images']!.request!({ ...request, model }, { dialect: {}, native: false })
  expect(wire.body['size']).toBe(size)
  expect(losses.map(({ reason }) => reason)).toContain('nearest-size')
})

/* xAI answers fields that it does not know with 422 (ddcat-ai/open-ai-canvas#167, August 2026). */
test('xAI gets no settings that it does not know', () => {
  const output = { background: 'opaque', output_format: 'webp', output_compression: 80, moderation: 'low' }
  for (const native of [true, false]) {
    const { body, losses } = sent({ ...output, partial_images: 1, stream: true, n: 2 }, 'xai', native)
    expect(body).toEqual({ ...HEAD, n: 2, ...(!native && { response_format: 'b64_json' }) })
    expect(new Set(losses)).toEqual(
      new Set(['background', 'mediaType', 'compression', 'moderation', 'previews', ...(native ? [] : ['delivery'])]),
    )
  }
})
