import * as v from 'valibot'
import { rowOf } from '../../canonical/maps.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { SETTINGS } from '../../formats/settings/responses.ts'
import { json, maybe, maybeText, settingEntries, shape } from '../errors/validation-error.ts'

export const FORMAT = 'responses'

/** Returns a schema that is selected by the value itself. */
const selectedBy = (choose: (value: JsonObject) => v.GenericSchema | undefined, otherwise: v.GenericSchema) =>
  v.lazy(value => (isObject(value) ? (choose(value) ?? otherwise) : json))

const HINT = { prompt_cache_breakpoint: maybe(json) }
const plainText = shape({ text: v.string(), ...HINT })
const PARTS: { readonly [type: string]: v.GenericSchema } = {
  input_text: plainText,
  output_text: shape({ text: v.string(), annotations: maybe(v.array(json)), ...HINT }),
  text: plainText,
  refusal: shape({ refusal: v.string(), ...HINT }),
  input_image: shape({ image_url: maybeText, file_id: maybeText, detail: maybeText, ...HINT }),
  input_file: shape({
    ...{ file_data: maybeText, file_url: maybeText, file_id: maybeText, filename: maybeText, detail: maybeText },
    ...HINT,
  }),
}
/** Types of known parts. Parts of other types become opaque. */
export const KNOWN_PARTS: ReadonlySet<string> = new Set(Object.keys(PARTS))

const part = selectedBy(
  wire => (KNOWN_PARTS.has(wire['type'] as string) ? PARTS[wire['type'] as string] : undefined),
  shape({ type: v.string() }),
)
const content = maybe(v.union([v.string(), v.array(part)]))

/** Roles that a message item may have. */
export const ROLES = ['user', 'assistant', 'system', 'developer'] as const

const answer = shape({ call_id: maybeText, output: content, name: maybeText, id: maybeText, status: maybeText })
/** Schema of an item that makes further tools available for the rest of the input. */
const addsTools = v.lazy(() => shape({ tools: maybe(v.array(tool)) }))
/** Types of items that add tools (trap 89). */
export const TOOL_ITEMS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

const CALL = { call_id: maybeText, name: v.string(), id: maybeText, status: maybeText, namespace: maybeText }

const ITEMS: { readonly [type: string]: v.GenericSchema } = {
  additional_tools: addsTools,
  tool_search_output: addsTools,
  message: shape({ role: v.picklist(ROLES), content, id: maybeText, status: maybeText }),
  reasoning: shape({
    id: maybeText,
    status: maybeText,
    summary: maybe(v.array(json)),
    content: maybe(v.array(json)),
    encrypted_content: maybeText,
  }),
  function_call: shape({ ...CALL, arguments: maybe(v.union([v.string(), json])) }),
  custom_tool_call: shape({ ...CALL, input: maybeText }),
  function_call_output: answer,
  custom_tool_call_output: answer,
}

/**
 * Returns the type of an item that can be read, or undefined for any other item, which becomes opaque. A message needs
 * no type (trap 71).
 */
export function kindOfItem(wire: JsonObject): string | undefined {
  const type = wire['type'] ?? undefined
  if (type === undefined) return wire['role'] != null || wire['content'] != null ? 'message' : undefined
  if (typeof type !== 'string' || !Object.hasOwn(ITEMS, type)) return undefined
  return ANSWERS.has(type) && !isOutput(wire['output']) ? undefined : type
}

/** Types of items for the result of a tool call. */
export const ANSWERS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output'])
const isOutput = (value: unknown): boolean => value == null || typeof value === 'string' || Array.isArray(value)

const item = selectedBy(wire => ITEMS[kindOfItem(wire) ?? ''], shape({ type: maybeText }))

const NAME_FIELDS = { name: v.string(), description: maybeText }
const TOOLS: { readonly [type: string]: v.GenericSchema } = {
  function: shape({ ...NAME_FIELDS, parameters: maybe(json), strict: maybe(v.boolean()) }),
  custom: shape(NAME_FIELDS),
  web_search: shape({ search_context_size: maybeText }),
}

/** Returns the normalized type of a tool, which is the same for every version of web search. */
export const kindOfTool = (type: unknown): string | undefined => {
  if (typeof type !== 'string') return undefined
  return type.startsWith('web_search') ? 'web_search' : type
}

const tool = selectedBy(
  wire => {
    const kind = kindOfTool(wire['type'])
    return kind !== undefined ? rowOf(TOOLS, kind) : undefined
  },
  shape({ type: v.string() }),
)

/**
 * Schema of the responses request (docs/wire/responses.md#request). Unknown fields, items, parts and tools are
 * accepted, and free-form JSON is never validated.
 */
export const request = shape({
  ...settingEntries(SETTINGS),
  model: v.string(),
  input: maybe(v.union([v.string(), v.array(item), item])),
  instructions: maybeText,
  stream: maybe(v.boolean()),
  top_logprobs: maybe(v.number()),
  include: maybe(v.array(v.string())),
  tools: maybe(v.array(tool)),
  tool_choice: maybe(v.union([v.string(), json])),
  text: maybe(shape({ format: maybe(json), verbosity: maybeText })),
  reasoning: maybe(json),
  store: maybe(v.boolean()),
  previous_response_id: maybeText,
  conversation: maybe(v.union([v.string(), json])),
  background: maybe(v.boolean()),
  user: maybeText,
  safety_identifier: maybeText,
})
