import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'

/** Dialect flags of image upstreams. */
export const FLAGS = {
  edits: {
    values: ['any', 'form', 'urls', 'image', 'numbered', 'image_url', 'input_references'],
    default: 'any',
    meaning:
      'how images to edit are sent: `any` (default), as the caller sent them; `form`, as form files only: images in JSON are fetched or decoded; `urls`, as URLs in JSON only; at `/images/generations`, as URLs in `image` (`image`), in `image`, `image2` and so on (`numbered`), or in `image_url` and several in `reference_images` (`image_url`); `input_references`: in `input_references` at `/images`, where images are generated as well (OpenRouter)',
  },
  picture_urls: {
    values: 'boolean',
    default: true,
    meaning: 'takes image URLs; default: true; if false, images are fetched and sent as bytes',
  },
  size_field: {
    values: ['size', 'aspect_ratio', 'width', 'image_size'],
    default: 'size',
    meaning:
      'the name of the field for the size; default: `size`; `aspect_ratio`: a ratio with `resolution`, and neither styles nor qualities but `low`, `medium` and `high`; `width`: `width` and `height`; `image_size`: `image_size`, and `batch_size` for the number of images',
  },
  output_settings: {
    values: 'boolean',
    default: true,
    meaning:
      'takes background, format, compression, moderation, fidelity, unfinished images and streams; default: true',
  },
  response_format: {
    values: 'boolean',
    default: false,
    meaning: 'returns URLs by default: bytes are requested for callers of other formats',
  },
  gpt_image: {
    values: 'boolean',
    default: false,
    meaning:
      "serves OpenAI's GPT image models whatever their names, which take neither styles nor `response_format`; default: false, and true for Azure",
  },
  bytes_word: {
    values: ['b64_json', 'base64'],
    meaning:
      'the word in `response_format` for bytes; `base64` at Together; default: `b64_json`, and the word of native callers',
  },
  output_types: {
    values: ['any', 'png_jpeg'],
    default: 'any',
    meaning: 'the file types of generated images: `any` (default), or PNG and JPEG only (`png_jpeg`)',
  },
} as const satisfies Flags

export type ImagesDialect = DialectOf<typeof FLAGS>

export const imagesDialect = (dialect: JsonObject): ImagesDialect => dialect as ImagesDialect
