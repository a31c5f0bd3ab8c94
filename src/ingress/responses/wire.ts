import * as v from 'valibot'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { SETTINGS } from '../../settings/responses.ts'
import { settingEntries } from '../errors/validation-error.ts'

/** The request of FORMATS §4. Loose: unknown fields, items, parts and tools pass; free JSON is never validated. */

/** An object with any further fields; unlike valibot's own, a list is none. */
const object = (entries: v.ObjectEntries): v.GenericSchema =>
  v.pipe(v.custom<{ [key: string]: unknown }>(isObject, 'must be an object'), v.looseObject(entries))
const json = object({})
const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
const string = maybe(v.string())

/** The schema that the value itself selects. */
const chosen = (choose: (value: JsonObject) => v.GenericSchema | undefined, other: v.GenericSchema) =>
  v.lazy(value => (isObject(value) ? (choose(value) ?? other) : json))

const HINT = { prompt_cache_breakpoint: maybe(json) }
const plainText = object({ text: v.string(), ...HINT })
const PARTS: { readonly [type: string]: v.GenericSchema } = {
  input_text: plainText,
  output_text: object({ text: v.string(), annotations: maybe(v.array(json)), ...HINT }),
  text: plainText,
  refusal: object({ refusal: v.string(), ...HINT }),
  input_image: object({ image_url: string, file_id: string, detail: string, ...HINT }),
  input_file: object({
    ...{ file_data: string, file_url: string, file_id: string, filename: string, detail: string },
    ...HINT,
  }),
}
/** Part types read into canonical; any other is kept as it is. */
export const KNOWN_PARTS: ReadonlySet<string> = new Set(Object.keys(PARTS))

const part = chosen(
  wire => (KNOWN_PARTS.has(wire['type'] as string) ? PARTS[wire['type'] as string] : undefined),
  object({ type: v.string() }),
)
const content = maybe(v.union([v.string(), v.array(part)]))

export const ROLES = ['user', 'assistant', 'system', 'developer'] as const

const answer = object({ call_id: string, output: content, name: string, id: string, status: string })
/** Makes tools available from its place in the input on: tools as in `tools`. */
const addsTools = v.lazy(() => object({ tools: maybe(v.array(tool)) }))
/** Items that add tools (trap 89). */
export const TOOL_ITEMS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

const ITEMS: { readonly [type: string]: v.GenericSchema } = {
  additional_tools: addsTools,
  tool_search_output: addsTools,
  message: object({ role: v.picklist(ROLES), content, id: string, status: string }),
  reasoning: object({
    id: string,
    status: string,
    summary: maybe(v.array(json)),
    content: maybe(v.array(json)),
    encrypted_content: string,
  }),
  function_call: object({
    call_id: string,
    name: v.string(),
    arguments: maybe(v.union([v.string(), json])),
    id: string,
    status: string,
    namespace: string,
  }),
  custom_tool_call: object({
    call_id: string,
    name: v.string(),
    input: string,
    id: string,
    status: string,
    namespace: string,
  }),
  function_call_output: answer,
  custom_tool_call_output: answer,
}

/** An item's type, if it is read into canonical; undefined for any other. A message needs no type (trap 71). */
export function kindOfItem(wire: JsonObject): string | undefined {
  const type = wire['type'] ?? undefined
  if (type === undefined) return wire['role'] != null || wire['content'] != null ? 'message' : undefined
  if (typeof type !== 'string' || !Object.hasOwn(ITEMS, type)) return undefined
  return ANSWERS.has(type) && !isOutput(wire['output']) ? undefined : type
}

/** Items that hold the result of a tool call. */
export const ANSWERS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output'])
const isOutput = (value: unknown): boolean => value == null || typeof value === 'string' || Array.isArray(value)

const item = chosen(wire => ITEMS[kindOfItem(wire) ?? ''], object({ type: string }))

const NAMED = { name: v.string(), description: string }
const TOOLS: { readonly [type: string]: v.GenericSchema } = {
  function: object({ ...NAMED, parameters: maybe(json), strict: maybe(v.boolean()) }),
  custom: object(NAMED),
  web_search: object({ search_context_size: string }),
}

/** The type under which a tool is read: every version of web search is one. */
export const kindOfTool = (type: unknown): string | undefined => {
  if (typeof type !== 'string') return undefined
  return type.startsWith('web_search') ? 'web_search' : type
}

const tool = chosen(
  wire => {
    const kind = kindOfTool(wire['type'])
    return kind !== undefined && Object.hasOwn(TOOLS, kind) ? TOOLS[kind] : undefined
  },
  object({ type: v.string() }),
)

export const request = object({
  ...settingEntries(SETTINGS),
  model: v.string(),
  input: maybe(v.union([v.string(), v.array(item), item])),
  instructions: string,
  stream: maybe(v.boolean()),
  top_logprobs: maybe(v.number()),
  include: maybe(v.array(v.string())),
  tools: maybe(v.array(tool)),
  tool_choice: maybe(v.union([v.string(), json])),
  text: maybe(object({ format: maybe(json), verbosity: string })),
  reasoning: maybe(json),
  store: maybe(v.boolean()),
  previous_response_id: string,
  conversation: maybe(v.union([v.string(), json])),
  background: maybe(v.boolean()),
  user: string,
  safety_identifier: string,
})
