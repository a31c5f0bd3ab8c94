import { flatJoin } from '../../canonical/flat.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/*
 * What every answer of the format has, for upstreams of the format that leave some of it out: strict clients read no
 * answer without (FORMATS §4, OpenResponses 2026-04-24). Nothing that was said is changed, and what lacks nothing is the
 * very same object. A null where the format never has one says no more than absence.
 */

/** Whether the object has no such entry: none at all, or null where the usual one is not. */
export const lacks = (said: JsonObject, field: string, usual: Json): boolean =>
  said[field] === undefined || (said[field] === null && usual !== null)

/** The object with those of the entries it lacks, behind its own. */
export function completed(said: JsonObject, entries: JsonObject): JsonObject {
  let whole: { [key: string]: Json } | undefined
  for (const key in entries) if (lacks(said, key, entries[key]!)) (whole ??= { ...said })[key] = entries[key]!
  return whole ?? said
}

/** Where an item stands, and how far it has come. */
export interface Standing {
  /** What ids are made of. */
  readonly base: string
  readonly index: number
  readonly status: string
}

interface ItemRow {
  /** How its id begins. */
  readonly prefix: string
  /** It says how far it has come. */
  readonly stated?: true
  /** The caller answers it under a name of its own. */
  readonly called?: true
  readonly entries?: JsonObject
}

const ITEMS: { readonly [type: string]: ItemRow } = {
  message: { prefix: 'msg', stated: true, entries: { type: 'message', role: 'assistant', content: [] } },
  reasoning: { prefix: 'rs', entries: { summary: [] } },
  function_call: { prefix: 'fc', stated: true, called: true, entries: { arguments: '{}' } },
  custom_tool_call: { prefix: 'ctc', stated: true, called: true, entries: { input: '' } },
  image_generation_call: { prefix: 'ig', stated: true, entries: { result: null } },
  web_search_call: { prefix: 'ws', stated: true },
  file_search_call: { prefix: 'fs', stated: true },
  code_interpreter_call: { prefix: 'ci', stated: true },
  computer_call: { prefix: 'cu', stated: true },
  local_shell_call: { prefix: 'lsh', stated: true },
  shell_call: { prefix: 'sh', stated: true },
  apply_patch_call: { prefix: 'apc', stated: true },
  tool_search_call: { prefix: 'tsc', stated: true },
  mcp_call: { prefix: 'mcp', stated: true },
  mcp_list_tools: { prefix: 'mcpl' },
  mcp_approval_request: { prefix: 'mcpr' },
  compaction: { prefix: 'cmp' },
}
const OTHER: ItemRow = { prefix: 'item' }

/** The id of an item whose upstream gave it none. */
export const idAt = (prefix: string, { base, index }: Pick<Standing, 'base' | 'index'>): string =>
  flatJoin(prefix, '_', base, '_', index)

/** An item of an answer, with an id, a state where its type has one, and its parts whole. */
export function completedItem(item: JsonObject, at: Standing): JsonObject {
  const type = item['type'] ?? (item['role'] === undefined ? '' : 'message')
  const row = typeof type === 'string' && Object.hasOwn(ITEMS, type) ? ITEMS[type]! : OTHER
  const { prefix, stated, called, entries = NONE } = row
  let whole = completed(item, entries)
  if (whole['id'] == null) whole = { ...whole, id: idAt(prefix, at) }
  if (stated && whole['status'] == null) whole = { ...whole, status: at.status }
  if (called && whole['call_id'] == null) whole = { ...whole, call_id: item['id'] ?? idAt('call', at) }
  return row === ITEMS['message'] ? withParts(whole, 'content', completedPart) : whole
}

const NONE: JsonObject = {}

const PARTS: { readonly [type: string]: JsonObject } = {
  output_text: { annotations: [], logprobs: [] },
  refusal: { refusal: '' },
}

/** A part of a message of an answer. */
export function completedPart(part: JsonObject): JsonObject {
  const type = String(part['type'])
  const whole = Object.hasOwn(PARTS, type) ? completed(part, PARTS[type]!) : part
  return type === 'output_text' ? withParts(whole, 'logprobs', completedToken) : whole
}

const RIVAL: JsonObject = { bytes: [] }
const TOKEN: JsonObject = { ...RIVAL, top_logprobs: [] }

/** A likely token with its rivals. */
export const completedToken = (token: JsonObject): JsonObject =>
  withParts(completed(token, TOKEN), 'top_logprobs', rival => completed(rival, RIVAL))

/** The object with the objects of one of its lists completed. */
function withParts(said: JsonObject, field: string, complete: (part: JsonObject) => JsonObject): JsonObject {
  const parts = said[field]
  if (!Array.isArray(parts)) return said
  let changed = false
  const whole = parts.map(part => {
    const one = isObject(part) ? complete(part) : part
    changed ||= one !== part
    return one
  })
  return changed ? { ...said, [field]: whole } : said
}

const FUNCTION: JsonObject = { description: null, parameters: null, strict: false }

const TEXT: JsonObject = { format: { type: 'text' } }
const REASONING: JsonObject = { effort: null, summary: null }

/** The objects inside a response: the settings it repeats, and what it cost. */
export function completedInside(response: JsonObject): JsonObject {
  const { text, reasoning, usage } = response
  const whole = withParts(response, 'tools', tool => (tool['type'] === 'function' ? completed(tool, FUNCTION) : tool))
  const inner = {
    ...changed('text', text, TEXT),
    ...changed('reasoning', reasoning, REASONING),
    ...(isObject(usage) ? replaced('usage', usage, completedUsage(usage)) : NONE),
  }
  for (const _ in inner) return { ...whole, ...inner }
  return whole
}

const changed = (field: string, value: Json | undefined, entries: JsonObject): JsonObject =>
  isObject(value) ? replaced(field, value, completed(value, entries)) : NONE

const replaced = (field: string, before: JsonObject, after: JsonObject): JsonObject =>
  before === after ? NONE : { [field]: after }

/** Nobody has counted what is not told (trap 25). */
export const NO_TOKENS: JsonObject = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
}

function completedUsage(usage: JsonObject): JsonObject {
  let whole = completed(usage, NO_TOKENS)
  for (const field of ['input_tokens_details', 'output_tokens_details']) {
    const details = whole[field]
    if (isObject(details)) whole = { ...whole, ...changed(field, details, NO_TOKENS[field] as JsonObject) }
  }
  const { input_tokens, output_tokens } = whole
  return completed(whole, { total_tokens: Number(input_tokens) + Number(output_tokens) })
}
