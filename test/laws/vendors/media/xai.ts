import { noFields, oneOf, type StrictMediaVendor } from './media-vendor.ts'

const UNKNOWN =
  'ddcat-ai/open-ai-canvas#167 (August 2026, 422), @ai-sdk/xai (npm), hoeloe15/imagine#28, read on 2026-12-01'

export const xaiImages: StrictMediaVendor = {
  preset: 'xai',
  format: 'images',
  work: 'image',
  models: ['grok-imagine-image', 'grok-imagine-image-2.0'],
  refusals: [
    ...noFields(
      {
        ...{ size: '1024x1024', style: 'vivid', background: 'opaque', output_format: 'png', moderation: 'low' },
        ...{ output_compression: 50, partial_images: 1, stream: true },
      },
      UNKNOWN,
    ),
    oneOf('quality', ['low', 'medium', 'high'], 'hd', UNKNOWN),
    oneOf('response_format', ['url', 'b64_json'], 'base64', '@ai-sdk/xai (npm), read on 2026-12-01'),
  ],
}
