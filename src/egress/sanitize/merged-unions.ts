import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { targetOf } from './recursive-schema.ts'

/** Keywords that form a union. */
const UNION_KEYWORDS = ['anyOf', 'oneOf', 'allOf'] as const

/** Keywords that OpenAI refuses at the top of a tool's arguments (docs/wire/chat.md#tools). */
const REFUSED_AT_THE_TOP: ReadonlySet<string> = new Set([...UNION_KEYWORDS, 'enum', 'const', 'not'])

/**
 * Returns a tool's argument schema in the form that OpenAI, Claude and Kimi accept: an object without a union at the
 * top level. The properties of a union's branches become those of the object. Returns the same schema if it has none.
 */
export function withMergedUnions(schema: JsonObject): JsonObject {
  if (!Object.keys(schema).some(key => REFUSED_AT_THE_TOP.has(key))) return schema
  const others = Object.entries(schema).filter(([key]) => key !== 'type' && !REFUSED_AT_THE_TOP.has(key))
  const properties = mergedProperties([schema, ...UNION_KEYWORDS.flatMap(key => branchesOf(schema, key))])
  const required = [schema, ...branchesOf(schema, 'allOf')].flatMap(({ required }) => stringsIn(required))
  return {
    type: 'object',
    ...Object.fromEntries(others),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  }
}

/** Returns the properties of all schemas. One that schemas declare differently may be any of these. */
function mergedProperties(schemas: readonly JsonObject[]): JsonObject {
  const variants = new Map<string, Map<string, Json>>()
  for (const { properties } of schemas)
    for (const [name, value] of isObject(properties) ? Object.entries(properties) : []) {
      const ofName = variants.get(name) ?? new Map<string, Json>()
      variants.set(name, ofName.set(JSON.stringify(value), value))
    }
  return Object.fromEntries(
    [...variants].map(([name, ofName]) => {
      const [first, ...more] = ofName.values()
      return [name, more.length === 0 ? first! : { anyOf: [first!, ...more] }]
    }),
  )
}

/** Returns the schemas of a union at the top. References are followed once. */
function branchesOf(schema: JsonObject, key: string): readonly JsonObject[] {
  const branches = schema[key]
  return Array.isArray(branches) ? branches.map(branch => targetOf(branch, schema) ?? branch).filter(isObject) : []
}

const stringsIn = (list: Json | undefined): readonly string[] =>
  Array.isArray(list) ? list.filter(one => typeof one === 'string') : []
