import type { Part, ReasoningPart, SearchCallPart, SearchResultPart, ToolCallPart } from '../../canonical/content.ts'
import { parseCallObject } from '../../canonical/exact-numbers.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { defined, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import type { SearchPart } from '../searches.ts'
import { contentExtras } from './content.ts'
import { FORMAT } from './context.ts'

/* Steps that are written in the same way in a history and an answer (docs/wire/interactions.md#steps). */

/** Returns true for parts that are contents of a step, and false for parts that are steps. */
export function isContent(part: Part): boolean {
  if (part.type === 'opaque') return part.format !== FORMAT || spellingFor(part, FORMAT)['in'] === 'content'
  return part.type === 'text' || part.type === 'refusal' || part.type === 'media'
}

/** Returns the fields of the step from which a content was read. */
export function stepFields(part: Part): JsonObject | undefined {
  const step = extrasFor(part, FORMAT)['step']
  return isObject(step) ? step : undefined
}

/** Writes reasoning as a thought step. */
export const writeThought = (part: ReasoningPart, signature: string | undefined): JsonObject => ({
  type: 'thought',
  ...(defined({ signature }) as JsonObject),
  ...(part.text === '' ? {} : { summary: [{ type: 'text', text: part.text }] }),
  ...contentExtras(part),
})

/** Writes a call with the given arguments. */
export const writeCall = (part: ToolCallPart, args: Json): JsonObject => ({
  type: 'function_call',
  id: part.id,
  name: part.name,
  arguments: args,
  ...contentExtras(part),
})

/** Returns the arguments of a call as an object, which the format requires. */
export function argumentsOf(part: ToolCallPart, path: Path, losses: Losses): JsonObject {
  if (part.arguments === '' && part.freeform === undefined) return {}
  const args = part.freeform === undefined ? parseCallObject(part.arguments) : undefined
  if (args !== undefined) return args
  const wrapped = { input: part.arguments }
  losses.change([...path, 'arguments'], JSON.stringify(wrapped), 'arguments-are-an-object')
  return wrapped
}

/** Writes a search or its results. */
export const writeSearch = (part: SearchPart): JsonObject =>
  part.type === 'search-call' ? writeSearchCall(part) : writeSearchResult(part)

function writeSearchCall(part: SearchCallPart): JsonObject {
  const { arguments: others, ...extras } = extrasFor(part, FORMAT)
  const args = { queries: part.queries, ...(isObject(others) ? others : {}) }
  return { type: 'google_search_call', id: part.id, arguments: args, ...extras }
}

function writeSearchResult(part: SearchResultPart): JsonObject {
  const { result: others, ...extras } = extrasFor(part, FORMAT)
  const pages = part.sources.map(
    (source): Json => ({ url: source.url, ...defined({ title: source.title }), ...extrasFor(source, FORMAT) }) as Json,
  )
  const result = Array.isArray(others) ? [...pages, ...(others as readonly Json[])] : pages
  return { type: 'google_search_result', call_id: part.id, result, ...extras }
}
