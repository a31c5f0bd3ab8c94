import { Budget } from '../../canonical/budget.ts'
import { isRawNumber } from '../../canonical/exact-numbers.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { eachSchema } from './each-schema.ts'
import { targetOf } from './recursive-schema.ts'

/*
 * llama.cpp and LM Studio compile the schemas of all tools into one grammar, and refuse the whole request for a keyword
 * that they cannot compile: "failed to parse grammar", "number of repetitions exceeds sane defaults"
 * (ggml-org/llama.cpp#17473, #25746 and #26596, unslothai/unsloth#9923: Qwen Code, NVlabs/SoL-Pi#65,
 * firecrawl/firecrawl#4512: LM Studio); "Pattern must start with '^' and end with '$'", "Unsupported ref", "Error
 * resolving ref" and "Unrecognized schema" (`common/json-schema-to-grammar.cpp` in ggml-org/llama.cpp), read on
 * 2026-12-01.
 */

/** Lowest bound that is left out. The server refuses rules that are repeated 2,000 times. */
const MAX_REPETITIONS = 1000

const BOUNDS: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minItems', 'maxItems'])

/** Returns the schema without what the grammar lacks. The same object if all of it can be compiled. */
export function grammarSchema(schema: JsonObject): JsonObject {
  const budget = new Budget()
  const replaced = eachSchema(schema, one => withTarget(one, schema, budget))
  const compiled = eachSchema(replaced, withoutRefusedKeywords)
  // LM Studio demands properties at the top: "function.parameters.properties: Required" (unclecode/crawl4ai#2207).
  return compiled['type'] === 'object' && !isObject(compiled['properties']) ? { ...compiled, properties: {} } : compiled
}

/** Matches a reference that the server reads: names in it are read as they are, without escapes. */
const READABLE = /^#\/[^~%]+$/

/** Replaces a reference that the server cannot follow with its target, or leaves it out if there is none. */
function withTarget(schema: JsonObject, root: JsonObject, budget: Budget): JsonObject {
  const { $ref: reference, ...others } = schema
  if (reference === undefined) return schema
  const target = targetOf(schema, root)
  if (target !== undefined && typeof reference === 'string' && READABLE.test(reference)) return schema
  const isLeaf = isObject(target) && !JSON.stringify(target).includes('"$ref":') && budget.spend(target)
  return isLeaf ? { ...target, ...others } : others
}

function withoutRefusedKeywords(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema)
  const sound = entries.filter(([keyword, value]) => !isRefused(keyword, value, schema))
  return sound.length === entries.length ? schema : Object.fromEntries(sound)
}

function isRefused(keyword: string, value: Json, { type }: JsonObject): boolean {
  if (BOUNDS.has(keyword)) return isRawNumber(value) || (typeof value === 'number' && value >= MAX_REPETITIONS)
  if (keyword === 'pattern') return typeof value === 'string' && !(value.startsWith('^') && value.endsWith('$'))
  return keyword === 'not' && type === undefined
}
