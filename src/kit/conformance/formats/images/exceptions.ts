import type { SchemaException } from '../../schema.ts'

/* Deviations of OpenAI's own service from the published schema of images. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^ImagesResponse$|^Image(Gen|Edit)StreamEvent$/,
    fault: /^\/size must be equal/,
    why: 'Newer models return other sizes; openai-node 7.55.0 types the size as any string.',
  },
]
