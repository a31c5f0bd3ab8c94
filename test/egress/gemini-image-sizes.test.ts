import { expect, test } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* Sizes and ratios that Google's image models refuse with 400 (vertex-ai-creative-studio#1750, nanobot#4656). */

const sent = (format: string, model: string, size: string): unknown => {
  const body = { model, prompt: 'a boat', size }
  const request = READERS['images']!.request!({ path: '/v1/images/generations', query: {}, headers: {}, body })
  const { wire } = WRITERS[format]!.request!(request, { dialect: {}, native: false })
  return wire.body
}

const LITE = 'gemini-3.1-flash-lite-image'

test.each([
  ['gemini-2.5-flash-image', '2K', [undefined, undefined]],
  ['gemini-2.5-flash-image', '16:9 2K', ['16:9', undefined]],
  ['gemini-2.5-flash-image', '1:8', ['9:16', undefined]],
  [LITE, '2048x2048', ['1:1', '1K']],
  [LITE, '3840x2160', ['16:9', '1K']],
  [LITE, '1:8 4K', ['1:8', '1K']],
  ['gemini-3-pro-image', '1:8 2K', ['9:16', '2K']],
  ['gemini-3-pro-image', '3840x2160', ['16:9', '4K']],
  ['gemini-3-pro-image', '512', [undefined, '1K']],
  ['gemini-3.1-flash-image', '1:8 2K', ['1:8', '2K']],
  ['gemini-3.1-flash-image', '512', [undefined, '512']],
])('%s gets, of %s, %j', (model, size, written) => {
  const [ratio, sizeClass] = written
  const image = { ...(ratio && { aspectRatio: ratio }), ...(sizeClass && { imageSize: sizeClass }) }
  const config = Object.keys(image).length === 0 ? {} : { imageConfig: image }
  expect(sent('contents', model, size)).toMatchObject({ generationConfig: config })
  const named = { ...(ratio && { aspect_ratio: ratio }), ...(sizeClass && { image_size: sizeClass }) }
  expect(sent('interactions', model, size)).toMatchObject({ response_format: [{ type: 'image', ...named }] })
})
