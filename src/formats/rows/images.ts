import { FLAGS } from '../dialects/images.ts'
import { COMMON_MODEL_FIELDS, modelFields } from './model-field-lists.ts'
import { endpoint, type FormatRow, openai } from './row.ts'

export const images: FormatRow = {
  name: { en: 'Images', zh: 'Images（图像）' },
  upstream: openai('image'),
  callers: ['image'],
  endpoints: [
    endpoint('/images/generations', 'prompt'),
    endpoint('/images/edits', 'prompt', { form: 'too' }),
    endpoint('/images/variations', 'prompt', { form: 'only' }),
  ],
  otherPaths: /^\/v1\/images\//,
  modelFields: modelFields([...COMMON_MODEL_FIELDS, 'svg.model']),
  flags: FLAGS,
}
