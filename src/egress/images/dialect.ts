import type { Dialect } from '../writer.ts'

/** Dialect flags of image upstreams; without a flag the upstream follows the public format. */
export interface ImagesDialect {
  /**
   * How to send the images to edit: `any` (default), as form files, or in JSON if one is a URL or an id; `form`, as
   * form files only; `urls`, as URLs in JSON only.
   */
  readonly edits?: 'any' | 'form' | 'urls'
  /**
   * Whether the upstream takes image URLs. Default true; otherwise the gateway fetches the image and sends its bytes.
   */
  readonly picture_urls?: boolean
  /** Whether the upstream returns URLs by default. If so, the gateway requests bytes for callers of other formats. */
  readonly response_format?: boolean
}

export const FLAGS = ['edits', 'picture_urls', 'response_format'] as const

export const imagesDialect = (dialect: Dialect): ImagesDialect => dialect as ImagesDialect
