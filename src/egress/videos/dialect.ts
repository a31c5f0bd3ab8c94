import type { Dialect } from '../writer.ts'

/** Dialect flags of video upstreams; without a flag the upstream follows the public format. */
export interface VideosDialect {
  /** Whether the upstream can remix a video with another prompt. Default true. */
  readonly remix?: boolean
  /** The images that a video can start from: `any` (default), files, URLs and ids; `files`, files of a form only. */
  readonly references?: 'any' | 'files'
}

export const FLAGS = ['remix', 'references'] as const

export const videosDialect = (dialect: Dialect): VideosDialect => dialect as VideosDialect
