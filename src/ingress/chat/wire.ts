import * as v from 'valibot'

/** The chat-completions request, FORMATS §2. Loose: unknown fields pass; free JSON is never looked into. */

const json = v.looseObject({})
const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)

const text = v.looseObject({ type: v.literal('text'), text: v.string() })
const part = v.variant('type', [
  text,
  v.looseObject({
    type: v.literal('image_url'),
    image_url: v.union([v.string(), v.looseObject({ url: v.string(), detail: maybe(v.string()) })]),
  }),
  v.looseObject({
    type: v.literal('video_url'),
    video_url: v.union([v.string(), v.looseObject({ url: v.string() })]),
  }),
  v.looseObject({
    type: v.literal('input_audio'),
    input_audio: v.looseObject({ data: v.string(), format: v.string() }),
  }),
  v.looseObject({
    type: v.literal('file'),
    file: v.looseObject({ file_data: maybe(v.string()), file_id: maybe(v.string()), filename: maybe(v.string()) }),
  }),
  v.looseObject({ type: v.literal('refusal'), refusal: v.string() }),
  v.looseObject({ type: v.literal('thinking'), thinking: v.array(text) }),
  v.looseObject({
    type: v.pipe(
      v.string(),
      v.check(type => !KNOWN_PARTS.has(type)),
    ),
  }),
])
/** Part types read into canonical; any other is kept as it is. */
export const KNOWN_PARTS = new Set(['text', 'image_url', 'video_url', 'input_audio', 'file', 'refusal', 'thinking'])

const call = v.looseObject({
  id: maybe(v.string()),
  type: maybe(v.string()),
  function: maybe(v.looseObject({ name: v.string(), arguments: maybe(v.union([v.string(), json])) })),
  custom: maybe(v.looseObject({ name: v.string(), input: maybe(v.string()) })),
})

const content = maybe(v.union([v.string(), v.array(part)]))

export const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

const message = v.looseObject({
  role: v.picklist(ROLES),
  content,
  name: maybe(v.string()),
  tool_call_id: maybe(v.string()),
  tool_calls: maybe(v.array(call)),
  function_call: maybe(v.looseObject({ name: v.string(), arguments: maybe(v.string()) })),
  refusal: maybe(v.string()),
  reasoning: maybe(v.string()),
  reasoning_content: maybe(v.string()),
  audio: maybe(v.looseObject({ id: v.string() })),
})

const definition = v.looseObject({
  name: v.string(),
  description: maybe(v.string()),
  parameters: maybe(json),
  strict: maybe(v.boolean()),
})
const tool = v.looseObject({
  type: maybe(v.string()),
  function: maybe(definition),
  custom: maybe(v.looseObject({ name: v.string(), description: maybe(v.string()), format: maybe(json) })),
})

export const request = v.looseObject({
  model: v.string(),
  messages: v.array(message),
  stream: maybe(v.boolean()),
  stream_options: maybe(json),
  max_tokens: maybe(v.number()),
  max_completion_tokens: maybe(v.number()),
  temperature: maybe(v.number()),
  top_p: maybe(v.number()),
  frequency_penalty: maybe(v.number()),
  presence_penalty: maybe(v.number()),
  seed: maybe(v.number()),
  n: maybe(v.number()),
  stop: maybe(v.union([v.string(), v.array(v.string())])),
  logprobs: maybe(v.boolean()),
  top_logprobs: maybe(v.number()),
  tools: maybe(v.array(tool)),
  functions: maybe(v.array(definition)),
  tool_choice: maybe(v.union([v.string(), json])),
  function_call: maybe(v.union([v.string(), json])),
  parallel_tool_calls: maybe(v.boolean()),
  response_format: maybe(json),
  reasoning_effort: maybe(v.string()),
  verbosity: maybe(v.string()),
  modalities: maybe(v.array(v.string())),
  audio: maybe(json),
  metadata: maybe(json),
  user: maybe(v.string()),
  safety_identifier: maybe(v.string()),
  service_tier: maybe(v.string()),
  store: maybe(v.boolean()),
  prompt_cache_key: maybe(v.string()),
  web_search_options: maybe(json),
})

export type ChatRequest = v.InferOutput<typeof request>
