import * as v from 'valibot'
import { isObject } from '../../canonical/node.ts'
import { SETTINGS } from '../../formats/settings/messages.ts'
import { byValue, json, maybe, maybeNumber, maybeText, settingEntries, shape } from '../errors/validation-error.ts'

export const FORMAT = 'messages'

const maybeFlag = maybe(v.boolean())
const texts = maybe(v.array(v.string()))

const cacheField = { cache_control: maybe(shape({ type: maybeText, ttl: maybeText })) }
const other = shape({ type: v.string() })

/** Returns the schema of a string or a list. The input determines which, so that the error names the faulty item. */
const textOr = (list: v.GenericSchema): v.GenericSchema => {
  const textOrList = v.union([v.string(), list])
  return v.lazy(input => (Array.isArray(input) ? list : textOrList))
}

/** Media sources that are read, by type. Blocks with other sources become opaque. */
const SOURCES = {
  base64: shape({ media_type: v.string(), data: v.string() }),
  text: shape({ media_type: v.string(), data: v.string() }),
  url: shape({ url: v.string() }),
  file: shape({ file_id: v.string() }),
}
const source = byValue('type', SOURCES, other)

/** Blocks that are read, by type. Blocks of other types become opaque. */
const BLOCKS: { readonly [type: string]: v.GenericSchema } = {
  text: shape({ text: v.string(), citations: maybe(v.array(json)), ...cacheField }),
  image: shape({ source, ...cacheField }),
  document: shape({ source, title: maybeText, ...cacheField }),
  thinking: shape({ thinking: maybeText, signature: maybeText, ...cacheField }),
  redacted_thinking: shape({ data: v.string(), ...cacheField }),
  tool_use: shape({
    id: v.string(),
    name: v.string(),
    input: maybe(v.union([v.string(), v.array(v.unknown()), json])),
    ...cacheField,
  }),
  tool_result: shape({
    tool_use_id: v.string(),
    content: maybe(textOr(v.array(v.lazy(() => block)))),
    is_error: maybeFlag,
    ...cacheField,
  }),
}
const block: v.GenericSchema = byValue('type', BLOCKS, other)

const content = textOr(v.array(block))

/** Roles that a message may have. */
export const ROLES = ['user', 'assistant', 'system'] as const

const message = shape({ role: v.picklist(ROLES), content })

/** Matches the type of a hosted tool: its name and a version date. */
export const HOSTED_TYPE = /^(web_search|web_fetch|code_execution)_\d+$/

const functionTool = shape({
  name: v.string(),
  description: maybeText,
  input_schema: maybe(json),
  strict: maybeFlag,
  ...cacheField,
})
const hostedTool = shape({
  name: maybeText,
  allowed_domains: texts,
  blocked_domains: texts,
  max_uses: maybeNumber,
  ...cacheField,
})
const otherTool = v.lazy(input =>
  isObject(input) && typeof input['type'] === 'string' && HOSTED_TYPE.test(input['type']) ? hostedTool : other,
)
const tool = byValue('type', { custom: functionTool }, otherTool, functionTool)

const choice = shape({ disable_parallel_tool_use: maybeFlag })
const CHOICES = {
  auto: choice,
  any: choice,
  none: choice,
  tool: shape({ name: v.string(), disable_parallel_tool_use: maybeFlag }),
}

const fields = {
  ...settingEntries(SETTINGS),
  model: v.string(),
  messages: v.array(message),
  system: maybe(content),
  stream: maybeFlag,
  stop_sequences: texts,
  tools: maybe(v.array(tool)),
  tool_choice: maybe(byValue('type', CHOICES, other)),
  thinking: maybe(shape({ type: v.string(), budget_tokens: maybeNumber, display: maybeText })),
  output_config: maybe(shape({ effort: maybeText, format: maybe(json) })),
  output_format: maybe(json),
  metadata: maybe(shape({ user_id: maybeText })),
  service_tier: maybeText,
  thread: maybe(shape({ type: maybeText, previous_message_id: maybeText })),
  ...cacheField,
}

/**
 * Schema of the messages request (docs/wire/messages.md#request). Unknown fields are accepted, and free-form JSON is
 * never validated.
 */
export const request = shape({ ...fields, max_tokens: v.number() })

/** Schema of a token count, which needs no `max_tokens`. */
export const countRequest = shape({ ...fields, max_tokens: maybeNumber })

/** The known fields of a request. */
export const FIELDS: ReadonlySet<string> = new Set([...Object.keys(fields), 'max_tokens'])

/** Returns true if a path counts tokens instead of generating an answer. */
export const isTokenCount = (path: string): boolean => path.endsWith('/count_tokens')

/** Returns the schema for the endpoint in a request's path. */
export const requestAt = ({ path }: { readonly path: string }): v.GenericSchema =>
  isTokenCount(path) ? countRequest : request
