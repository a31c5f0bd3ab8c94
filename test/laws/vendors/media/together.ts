import { oneOf, type StrictMediaVendor } from './media-vendor.ts'

const IMAGES = 'together 3.1.1 (PyPI), `ImageGenerateParams`; @ai-sdk/togetherai (npm), read on 2026-12-01'

export const togetherImages: StrictMediaVendor = {
  preset: 'together',
  format: 'images',
  work: 'image',
  models: ['black-forest-labs/FLUX.1-schnell', 'openai/gpt-image-1.5', 'ByteDance-Seed/Seedream-4.0'],
  refusals: [
    oneOf('response_format', ['base64', 'url'], 'b64_json', IMAGES),
    oneOf('output_format', ['jpeg', 'png'], 'webp', IMAGES),
  ],
}
