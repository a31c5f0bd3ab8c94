import type { Dialect } from '../writer.ts'

/** The quirks of upstreams that make pictures; what is not declared follows the public format. */
export interface ImagesDialect {
  /**
   * How it takes pictures to start from: `any` (default), as files of a form, or in JSON where one is named by address
   * or id; `form`, as files alone; `urls`, as addresses in JSON alone.
   */
  readonly edits?: 'any' | 'form' | 'urls'
  /** It can be told the address of a picture. Default true; otherwise the picture is fetched and sent. */
  readonly picture_urls?: boolean
  /** It gives addresses unless asked for bytes: those of other formats' callers are asked for. */
  readonly response_format?: boolean
}

export const FLAGS = ['edits', 'picture_urls', 'response_format'] as const

export const imagesDialect = (dialect: Dialect): ImagesDialect => dialect as ImagesDialect
