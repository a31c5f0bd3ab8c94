import { ANYWHERE, modelFields } from './model-field-lists.ts'
import type { Endpoint, FormatRow } from './row.ts'

export const kling: FormatRow = {
  name: { en: 'Kling', zh: '可灵 Kling' },
  upstream: { does: ['video'], versioned: 'path', auth: 'jwt' },
  callers: ['video'],
  otherPaths: /^\/[^/]+\/v1\/videos\/(?:text|image)2video/,
  modelFields: modelFields(ANYWHERE, ['model_name', 'model']),
}

/** The kinds of videos for each of which Kling has a path. */
export const VENDOR_WORKS = ['text2video', 'image2video'] as const

/** Returns Kling's endpoints, where clients of the vendor submit tasks. */
export const vendorEndpoints = (vendor: string): readonly Endpoint[] =>
  VENDOR_WORKS.map(work => ({
    ...{ path: `/${vendor}/v1/videos/${work}`, below: `/v1/videos/${work}` },
    ...{ mark: work === 'image2video' ? 'image' : 'prompt', takes: ['prompt', 'image'], headers: [] },
  }))
