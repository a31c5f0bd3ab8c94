import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { CACHE_MEANING, REQUEST_FIELDS_MEANING, SHARED_FLAGS } from './shared-flags.ts'

/** Dialect flags of responses upstreams. */
export const FLAGS = {
  /** If set, the gateway sends full histories instead of ids of stored answers. */
  stateless: { values: 'boolean', default: false, meaning: 'stores no answers; the gateway stores all state' },
  cache: { values: ['none', 'prompt_cache_breakpoint'], default: 'none', meaning: CACHE_MEANING },
  custom_tools: SHARED_FLAGS.custom_tools,
  namespaces: {
    values: 'boolean',
    default: true,
    meaning:
      'takes namespaces of tools, items with tools, the search for tools, and `external_web_access` of searches; default: true; upstreams that are `stateless` never get namespaces and items with tools',
  },
  request_fields: {
    values: ['any', 'xai', 'ark'],
    default: 'any',
    meaning: REQUEST_FIELDS_MEANING,
  },
  odd_arguments: SHARED_FLAGS.odd_arguments,
  schemas: SHARED_FLAGS.schemas,
  images: SHARED_FLAGS.images,
  files: SHARED_FLAGS.files,
  fetch_urls: SHARED_FLAGS.fetch_urls,
  hosted_tools: SHARED_FLAGS.hosted_tools,
  efforts: SHARED_FLAGS.efforts,
  sampling: SHARED_FLAGS.sampling,
  penalties: SHARED_FLAGS.penalties,
  verbosity: SHARED_FLAGS.verbosity,
  max_output: SHARED_FLAGS.max_output,
  reasons: {
    values: 'boolean',
    default: true,
    meaning: 'takes settings and items of reasoning; default: true; false for models that do not reason, such as GPT-4',
  },
  summaries: {
    values: 'boolean',
    default: true,
    meaning:
      'writes summaries of reasoning, for callers of other formats; default: true; set it to false for an organization that OpenAI has not verified, because it refuses them',
  },
  compaction: {
    values: 'boolean',
    default: true,
    meaning: 'false: there is no `/responses/compact`, so the gateway compacts by a summary',
  },
  count: SHARED_FLAGS.count,
} as const satisfies Flags

export type ResponsesDialect = DialectOf<typeof FLAGS>

export const responsesDialect = (dialect: JsonObject): ResponsesDialect => dialect as ResponsesDialect

/** Dialect of a responses upstream other than OpenAI, which stores nothing and only accepts functions as tools. */
export const PLAIN_RESPONSES = {
  stateless: true,
  custom_tools: false,
  compaction: false,
  count: false,
} as const satisfies ResponsesDialect
