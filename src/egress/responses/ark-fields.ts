import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { type BodyChanges, withFields } from '../native.ts'
import { FORMAT } from './content.ts'
import { LOGPROBS } from './include.ts'

/*
 * Volcengine's Ark refuses a request with any field that it does not know, as each one of Codex and of agents is:
 * "json: unknown field \"prompt_cache_key\"" (claude-code-hub#1023), "summary" of the reasoning (oh-my-pi#8521),
 * "encrypted_content" of reasoning items (0xPlaygrounds/rig#1515). The fields that it takes: LiteLLM 1.110.2,
 * `llms/volcengine/responses`; all read on 2026-12-01.
 */

const TAKEN: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'max_output_tokens', 'previous_response_id', 'store', 'reasoning', 'stream'],
  ...['temperature', 'top_p', 'text', 'tools', 'tool_choice', 'max_tool_calls', 'thinking', 'caching', 'expire_at'],
  'context_management',
])

/** Paths of fields in the canonical request. Any other is an extra of the format. */
const PATHS: ReadonlyMap<string, Path> = new Map([
  ['prompt_cache_key', ['cacheKey']],
  ['parallel_tool_calls', ['parallelToolCalls']],
  ['metadata', ['metadata']],
  ['service_tier', ['serviceTier']],
  ['user', ['endUser']],
  ['safety_identifier', ['endUser']],
  ['top_logprobs', ['sampling', 'logprobs']],
])

/** Returns the body without what Ark refuses. The same body if it has nothing of it. */
export function withArkFields(body: JsonObject, losses: Losses): JsonObject {
  const unknown = Object.keys(body).filter(field => !TAKEN.has(field))
  for (const field of unknown) if (isMeant(field, body[field])) losses.drop(pathOf(field), 'no-equivalent-field')
  const changes = {
    ...without(body, 'reasoning', ['summary', 'generate_summary'], ['reasoning', 'show'], losses),
    ...without(body, 'text', ['verbosity'], ['output', 'verbosity'], losses),
    ...withoutSignatures(body),
  }
  return withFields(body, changes, unknown)
}

/** Returns false for a field that asks for nothing, and for reasoning that Ark has no signature for. */
const isMeant = (field: string, value: Json | undefined): boolean =>
  value != null && (field !== 'include' || (Array.isArray(value) && value.includes(LOGPROBS)))

const pathOf = (field: string): Path => PATHS.get(field) ?? ['extras', FORMAT, field]

/** Leaves out fields of an object, and the object if nothing remains. */
function without(body: JsonObject, name: string, refused: readonly string[], path: Path, losses: Losses): BodyChanges {
  const object = body[name]
  const found = isObject(object) ? refused.filter(field => object[field] !== undefined) : []
  if (!isObject(object) || found.length === 0) return {}
  if (found.some(field => object[field] != null)) losses.drop(path, 'no-equivalent-field')
  const taken = withFields(object, {}, found)
  return { [name]: Object.keys(taken).length === 0 ? undefined : taken }
}

/** Returns the input with reasoning as text alone. Ark signs none. */
function withoutSignatures({ input }: JsonObject): BodyChanges {
  if (!Array.isArray(input) || !input.some(isSigned)) return {}
  return { input: input.map(item => (isSigned(item) ? withFields(item, {}, ['encrypted_content']) : item)) }
}

const isSigned = (item: Json): item is JsonObject => isObject(item) && item['encrypted_content'] !== undefined
