import type { Dialect } from '../writer.ts'

/** The quirks of image generation upstreams; flags that are not declared follow the public format. */
export interface ImagesDialect {
  /**
   * How images to edit are sent: `any` (default), as files of a form, or in JSON where one is a URL or an id; `form`,
   * as files only; `urls`, as URLs in JSON only.
   */
  readonly edits?: 'any' | 'form' | 'urls'
  /** Takes URLs of images. Default true; otherwise the image is fetched and sent. */
  readonly picture_urls?: boolean
  /** Returns URLs by default: for callers of other formats bytes are requested. */
  readonly response_format?: boolean
}

export const FLAGS = ['edits', 'picture_urls', 'response_format'] as const

export const imagesDialect = (dialect: Dialect): ImagesDialect => dialect as ImagesDialect
