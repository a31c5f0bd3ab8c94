import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'

/** Dialect flags of video upstreams. */
export const FLAGS = {
  remix: { values: 'boolean', default: true, meaning: 'can remix a video with another prompt; default: true' },
  references: {
    values: ['any', 'files'],
    default: 'any',
    meaning:
      'the images that a video can start from: `any` (default), files, URLs and ids; `files`, form files only: other images are fetched',
  },
} as const satisfies Flags

export type VideosDialect = DialectOf<typeof FLAGS>

export const videosDialect = (dialect: JsonObject): VideosDialect => dialect as VideosDialect
