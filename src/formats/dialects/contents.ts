import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { SHARED_FLAGS, VOICE_FLAGS } from './shared-flags.ts'

/** Dialect flags of generateContent upstreams. The defaults describe Google's Gemini API. */
export const FLAGS = {
  vertex: SHARED_FLAGS.vertex,
  /** See trap 55. */
  schema: {
    values: ['json', 'openapi'],
    default: 'json',
    meaning: 'how schemas are written: as JSON Schema (default), or in the older OpenAPI subset',
  },
  /** See trap 50. */
  fetch_urls: {
    values: 'boolean',
    default: false,
    meaning: 'takes no URLs of files at other hosts: the gateway fetches them',
  },
  signed_turns: {
    values: 'boolean',
    default: false,
    meaning:
      'refuses turns of the model whose first text or images have no signature, so that those of another origin get the word that skips the check; default: false, and true for the image models of Gemini 3 and later',
  },
  result_media: SHARED_FLAGS.result_media,
  ...VOICE_FLAGS,
  count: SHARED_FLAGS.count,
  batch: SHARED_FLAGS.batch,
} as const satisfies Flags

export type ContentsDialect = DialectOf<typeof FLAGS>

export const contentsDialect = (dialect: JsonObject): ContentsDialect => dialect as ContentsDialect
