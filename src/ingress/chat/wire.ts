import * as v from 'valibot'
import { isEmptyAudioBase64 } from '../../canonical/media/wav.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { SETTINGS } from '../../formats/settings/chat.ts'
import { byValue, json, maybe, maybeText, settingEntries, shape } from '../errors/validation-error.ts'

export const FORMAT = 'chat'

const hint = maybe(shape({ ttl: maybeText }))
/** Fields that mark the end of a prompt prefix to cache. */
export const MARKERS = ['cache_control', 'prompt_cache_breakpoint'] as const
const cacheFields = { cache_control: hint, prompt_cache_breakpoint: hint }

const thinkingText = shape({ text: v.string() })
const link = v.union([v.string(), shape({ url: v.string(), detail: maybeText })])

const audioData = v.pipe(
  v.string(),
  v.check(data => !isEmptyAudioBase64(data), 'The audio is empty'),
)

/** Content parts that are read. Parts of other types become opaque. */
const PARTS = {
  text: shape({ text: v.string(), ...cacheFields }),
  image_url: shape({ image_url: link, ...cacheFields }),
  video_url: shape({ video_url: link, ...cacheFields }),
  input_audio: shape({ input_audio: shape({ data: audioData, format: v.string() }), ...cacheFields }),
  file: shape({ file: shape({ file_data: maybeText, file_id: maybeText, filename: maybeText }), ...cacheFields }),
  document_url: shape({
    document_url: v.union([v.string(), shape({ url: v.string() })]),
    document_name: maybeText,
    ...cacheFields,
  }),
  refusal: shape({ refusal: v.string(), ...cacheFields }),
  thinking: shape({ thinking: v.array(thinkingText), ...cacheFields }),
}
export const KNOWN_PARTS: ReadonlySet<string> = new Set(Object.keys(PARTS))

const part = byValue('type', PARTS, shape({ type: v.string() }))
/** Schema of the content. The input determines whether it is a list, so that the error names the faulty part. */
const content = maybe(v.lazy((input): v.GenericSchema => (Array.isArray(input) ? v.array(part) : v.string())))

/**
 * Returns true for a custom tool call. Some upstreams send the fields of both kinds and leave the unused ones empty;
 * then the type decides.
 */
export const isCustom = (wire: unknown): boolean =>
  isObject(wire) && isObject(wire['custom']) && (wire['type'] === 'custom' || !isObject(wire['function']))

const functionCall = shape({ name: v.string(), arguments: maybe(v.union([v.string(), json])) })
const customCall = shape({ name: v.string(), input: maybeText })
const call = v.lazy(input =>
  isCustom(input)
    ? shape({ id: maybeText, type: maybeText, custom: customCall })
    : shape({ id: maybeText, type: maybeText, function: functionCall }),
)

const spokenAnswer = v.lazy(input =>
  isObject(input) && input['id'] != null
    ? shape({ id: v.string() })
    : shape({ data: v.string(), transcript: maybeText }),
)

const plain = shape({ content, name: maybeText })
const MESSAGES = {
  system: plain,
  developer: plain,
  user: plain,
  assistant: shape({
    content,
    name: maybeText,
    tool_calls: maybe(v.array(call)),
    function_call: maybe(shape({ name: v.string(), arguments: maybeText })),
    refusal: maybeText,
    reasoning: maybeText,
    reasoning_content: maybeText,
    audio: maybe(spokenAnswer),
  }),
  tool: shape({ content, name: maybeText, tool_call_id: maybeText }),
  function: plain,
}
/** Roles with a schema. Messages with any other role are refused. */
export const ROLES: ReadonlySet<string> = new Set(Object.keys(MESSAGES))

const message = byValue('role', MESSAGES, shape({ role: v.picklist(Object.keys(MESSAGES)) }))

const FUNCTION = {
  name: v.string(),
  description: maybeText,
  parameters: maybe(json),
  strict: maybe(v.boolean()),
}
const CUSTOM = { name: v.string(), description: maybeText, format: maybe(json) }
const definition = shape(FUNCTION)
/**
 * Returns true if the fields of a function or custom tool are next to its type, as in `responses`, rather than in an
 * inner object (trap 73).
 */
export function isFlat(wire: JsonObject): boolean {
  const type = wire['type'] ?? 'function'
  return (type === 'function' || type === 'custom') && typeof wire['name'] === 'string' && wire[type] == null
}
const flatOrNested = (flat: v.GenericSchema, nested: v.GenericSchema) =>
  v.lazy(input => (isObject(input) && isFlat(input) ? flat : nested))
const functionTool = flatOrNested(
  shape({ ...FUNCTION, ...cacheFields }),
  shape({ type: maybeText, function: definition, ...cacheFields }),
)
const TOOLS = {
  function: functionTool,
  custom: flatOrNested(shape({ ...CUSTOM, ...cacheFields }), shape({ custom: shape(CUSTOM), ...cacheFields })),
}
const tool = byValue('type', TOOLS, shape({ type: v.string() }), functionTool)

const choice = maybe(v.union([v.string(), json]))

/**
 * Schema of the chat-completions request (docs/wire/chat.md#request). Unknown fields are accepted, and free-form JSON
 * is never validated.
 */
export const request = shape({
  ...settingEntries(SETTINGS),
  model: v.string(),
  messages: v.array(message),
  stream: maybe(v.boolean()),
  stream_options: maybe(json),
  max_tokens: maybe(v.number()),
  max_completion_tokens: maybe(v.number()),
  random_seed: maybe(v.number()),
  stop: maybe(v.union([v.string(), v.array(v.string())])),
  logprobs: maybe(v.boolean()),
  top_logprobs: maybe(v.number()),
  tools: maybe(v.array(tool)),
  functions: maybe(v.array(definition)),
  tool_choice: choice,
  function_call: choice,
  response_format: maybe(json),
  reasoning_effort: maybeText,
  modalities: maybe(v.array(v.string())),
  audio: maybe(json),
  user: maybeText,
  safety_identifier: maybeText,
  store: maybe(v.boolean()),
  web_search_options: maybe(shape({ search_context_size: maybeText })),
})
