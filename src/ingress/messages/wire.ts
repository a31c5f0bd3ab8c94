import * as v from 'valibot'

/** The messages request, FORMATS §6. Loose: unknown fields pass; free JSON is never looked into. */

const json = v.looseObject({})
const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
const cache_control = maybe(v.looseObject({ type: maybe(v.string()), ttl: maybe(v.string()) }))

/** Block types read into canonical; any other is kept as it is. */
export const KNOWN_BLOCKS: ReadonlySet<string> = new Set([
  ...['text', 'image', 'document', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'],
])

/** Kinds of source read into canonical; media from elsewhere are kept as they are. */
export const KNOWN_SOURCES: ReadonlySet<string> = new Set(['base64', 'url', 'file', 'text'])

const source = v.variant('type', [
  v.looseObject({ type: v.literal('base64'), media_type: v.string(), data: v.string() }),
  v.looseObject({ type: v.literal('text'), media_type: v.string(), data: v.string() }),
  v.looseObject({ type: v.literal('url'), url: v.string() }),
  v.looseObject({ type: v.literal('file'), file_id: v.string() }),
  v.looseObject({ type: otherThan(KNOWN_SOURCES) }),
])

function otherThan(known: ReadonlySet<string>) {
  return v.pipe(
    v.string(),
    v.check(type => !known.has(type)),
  )
}

const block: v.GenericSchema = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text: v.string(), citations: maybe(v.array(json)), cache_control }),
  v.looseObject({ type: v.literal('image'), source, cache_control }),
  v.looseObject({ type: v.literal('document'), source, title: maybe(v.string()), cache_control }),
  v.looseObject({
    type: v.literal('thinking'),
    thinking: v.string(),
    signature: maybe(v.string()),
    cache_control,
  }),
  v.looseObject({ type: v.literal('redacted_thinking'), data: v.string(), cache_control }),
  v.looseObject({
    type: v.literal('tool_use'),
    id: v.string(),
    name: v.string(),
    input: maybe(v.union([v.string(), v.array(v.unknown()), json])),
    cache_control,
  }),
  v.looseObject({
    type: v.literal('tool_result'),
    tool_use_id: v.string(),
    content: maybe(v.union([v.string(), v.array(v.lazy(() => block))])),
    is_error: maybe(v.boolean()),
    cache_control,
  }),
  v.looseObject({ type: otherThan(KNOWN_BLOCKS) }),
])

const content = v.union([v.string(), v.array(block)])

export const ROLES = ['user', 'assistant', 'system'] as const

const message = v.looseObject({ role: v.picklist(ROLES), content })

/** The versions of a tool the upstream runs itself: its name and a date. */
export const HOSTED_TYPE = /^(web_search|web_fetch|code_execution)_\d+$/

const domains = { allowed_domains: maybe(v.array(v.string())), blocked_domains: maybe(v.array(v.string())) }

const tool = v.variant('type', [
  v.looseObject({
    type: maybe(v.literal('custom')),
    name: v.string(),
    description: maybe(v.string()),
    input_schema: maybe(json),
    strict: maybe(v.boolean()),
    cache_control,
  }),
  v.looseObject({
    type: v.pipe(v.string(), v.regex(HOSTED_TYPE)),
    name: maybe(v.string()),
    ...domains,
    max_uses: maybe(v.number()),
    cache_control,
  }),
  v.looseObject({
    type: v.pipe(
      v.string(),
      v.check(type => type !== 'custom' && !HOSTED_TYPE.test(type)),
    ),
  }),
])

const tool_choice = v.variant('type', [
  v.looseObject({ type: v.literal('tool'), name: v.string(), disable_parallel_tool_use: maybe(v.boolean()) }),
  v.looseObject({ type: v.picklist(['auto', 'any', 'none']), disable_parallel_tool_use: maybe(v.boolean()) }),
  v.looseObject({ type: otherThan(new Set(['auto', 'any', 'none', 'tool'])) }),
])

const fields = {
  model: v.string(),
  messages: v.array(message),
  system: maybe(content),
  stream: maybe(v.boolean()),
  temperature: maybe(v.number()),
  top_p: maybe(v.number()),
  top_k: maybe(v.number()),
  stop_sequences: maybe(v.array(v.string())),
  tools: maybe(v.array(tool)),
  tool_choice: maybe(tool_choice),
  thinking: maybe(v.looseObject({ type: v.string(), budget_tokens: maybe(v.number()), display: maybe(v.string()) })),
  output_config: maybe(v.looseObject({ effort: maybe(v.string()), format: maybe(json) })),
  output_format: maybe(json),
  metadata: maybe(v.looseObject({ user_id: maybe(v.string()) })),
  service_tier: maybe(v.string()),
  cache_control,
}

export const request = v.looseObject({ ...fields, max_tokens: v.number() })

/** Counting tokens needs no limit. */
export const counting = v.looseObject({ ...fields, max_tokens: maybe(v.number()) })

export type MessagesRequest = v.InferOutput<typeof request>
