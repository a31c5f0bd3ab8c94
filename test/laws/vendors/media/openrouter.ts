import type { StrictMediaVendor } from './media-vendor.ts'

export const openrouterImages: StrictMediaVendor = {
  preset: 'openrouter',
  format: 'images',
  work: 'image',
  models: ['bytedance-seed/seedream-4.5', 'openai/gpt-image-2', 'google/gemini-3.1-flash-image'],
  refusals: [
    {
      error: '404: no such endpoint',
      source: '@openrouter/sdk 1.3.19 (npm); songquanpeng/one-api#2426 (July 2026), read on 2026-12-01',
      refuses: (_body, _model, { path }) => path !== '/images',
      example: {},
      native: true,
    },
    {
      error: 'images to edit have no other field than `input_references`',
      source: '@openrouter/sdk 1.3.19 (npm), `ImageGenerationRequest`, read on 2026-12-01',
      refuses: (body, _model, { files }) =>
        files !== undefined || ['image', 'images', 'mask', 'image_url'].some(field => body[field] !== undefined),
      example: { images: [{ image_url: 'https://example.com/a.png' }] },
      path: '/v1/images/edits',
      native: true,
    },
  ],
}
