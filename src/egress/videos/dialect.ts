import type { Dialect } from '../writer.ts'

/** The quirks of upstreams that make videos; what is not declared follows the public format. */
export interface VideosDialect {
  /** It changes videos by another prompt. Default true. */
  readonly remix?: boolean
  /** The pictures it starts from: `any` (default), files, addresses and ids; `files`, the files of a form alone. */
  readonly references?: 'any' | 'files'
}

export const FLAGS = ['remix', 'references'] as const

export const videosDialect = (dialect: Dialect): VideosDialect => dialect as VideosDialect
