import { COMMON_MODEL_FIELDS, modelFields } from './model-field-lists.ts'
import type { Endpoint, FormatRow } from './row.ts'

export const kling: FormatRow = {
  name: { en: 'Kling', zh: '可灵 Kling' },
  upstream: { does: ['video'], versioned: 'path', auth: 'jwt' },
  callers: ['video'],
  otherPaths: /^\/[^/]+\/v1\/videos\/(?:text|image)2video/,
  modelFields: modelFields(COMMON_MODEL_FIELDS, ['model_name', 'model']),
}

/** Kinds of videos. Kling has a separate path for each. */
export const VENDOR_WORKS = ['text2video', 'image2video'] as const

/** Returns Kling's endpoints, at which the vendor's clients submit tasks. */
export const vendorEndpoints = (vendor: string): readonly Endpoint[] =>
  VENDOR_WORKS.map(work => ({
    ...{ path: `/${vendor}/v1/videos/${work}`, below: `/v1/videos/${work}` },
    ...{ mark: work === 'image2video' ? 'image' : 'prompt', takes: ['prompt', 'image'], headers: [] },
  }))
