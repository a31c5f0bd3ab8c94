import { Budget } from './budget.ts'
import { orNull, pointerKeys } from './json-schema.ts'
import { rowOf } from './maps.ts'
import { isObject, type Json, type JsonObject, stringIn } from './node.ts'

/*
 * JSON Schema for upstreams that only accept a subset of OpenAPI's older dialect (trap 55). `narrowed` reduces a schema
 * to the subset but leaves it as JSON Schema. `openApiOf` converts the reduced schema to the subset's spelling.
 */

/** Maximum length of a chain of references. Without a limit, a recursive schema would expand forever. */
const MAX_DEPTH = 100
/** Maximum number of occurrences of a target in a chain of references. */
const MAX_REPEATS = 2

type Fields = { [key: string]: Json }

/**
 * Reduces a schema to the subset: references are inlined, unions become `anyOf`, and unknown keywords are dropped. A
 * subschema that exceeds the budget allows any value.
 */
export const narrowed = (schema: JsonObject, budget = new Budget()): JsonObject =>
  new Narrower(schema, budget).schema(schema)

/** Keywords of the subset. */
const KEYWORDS = new Set([
  ...['type', 'title', 'description', 'enum', 'items', 'maxItems', 'minItems', 'properties', 'required'],
  ...['minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern', 'anyOf', 'default', 'minimum', 'maximum'],
])

/** Values of `format` that the subset allows, by type. */
const ALLOWED_FORMATS: { readonly [type: string]: ReadonlySet<Json> } = {
  string: new Set(['date-time', 'enum']),
  number: new Set(['float', 'double']),
  integer: new Set(['int32', 'int64']),
}

/** Narrows a schema and its subschemas, following references. */
class Narrower {
  private readonly root: JsonObject
  private readonly budget: Budget
  /** Targets of the references followed so far, from the root to the current subschema. */
  private readonly trail: JsonObject[] = []

  constructor(root: JsonObject, budget: Budget) {
    this.root = root
    this.budget = budget
  }

  schema(wire: Json): JsonObject {
    if (!isObject(wire)) return {}
    const before = this.trail.length
    const out = this.narrow(this.mergedSchema(wire))
    this.trail.length = before
    return out
  }

  private narrow(mergedSchema: JsonObject): JsonObject {
    const { type, nullable } = typeOf(mergedSchema)
    const out: Fields = {}
    for (const [key, value] of Object.entries(mergedSchema)) if (KEYWORDS.has(key)) out[key] = value
    if (Array.isArray(type)) {
      delete out['type']
      return unionOf(
        type.map((one, index) => (index === 0 || this.budget.spend(out) ? this.schema({ ...out, type: one }) : {})),
        nullable,
      )
    }
    if (type !== undefined) out['type'] = type
    this.values(out, mergedSchema)
    this.children(out)
    const format = mergedSchema['format']
    if (ALLOWED_FORMATS[stringIn(out['type'])]?.has(format ?? null)) out['format'] = format!
    const choices = this.choices(mergedSchema)
    if (choices !== undefined) return this.withChoices(out, choices, nullable)
    return nullable ? orNull(out) : out
  }

  /**
   * Merges the schema with the subschemas of its `allOf`. Combines properties and required names. For any other
   * keyword, the last value wins.
   */
  private mergedSchema(wire: JsonObject): JsonObject {
    const subschemas: JsonObject[] = []
    this.collect(wire, subschemas)
    if (subschemas.length === 1) return subschemas[0]!
    const properties = subschemas.flatMap(one => (isObject(one['properties']) ? Object.entries(one['properties']) : []))
    const required = new Set(subschemas.flatMap(one => names(one['required'])))
    return {
      ...Object.fromEntries(subschemas.flatMap(one => Object.entries(one))),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(required.size === 0 ? {} : { required: [...required] }),
    }
  }

  /** Collects the subschemas of `allOf` with resolved references, followed by the schema's other keywords. */
  private collect(wire: JsonObject, into: JsonObject[]): void {
    const { allOf, ...otherKeywords } = this.resolved(wire)
    if (Array.isArray(allOf)) for (const subschema of allOf) if (isObject(subschema)) this.collect(subschema, into)
    into.push(otherKeywords)
  }

  /**
   * Resolves a reference and adds the schema's other keywords. A reference that is not followed or has no target
   * becomes an empty schema.
   */
  private resolved(wire: JsonObject): JsonObject {
    const { $ref, ...otherKeywords } = wire
    if (typeof $ref !== 'string') return wire
    const layers = [otherKeywords]
    for (let at: Json | undefined = $ref; typeof at === 'string'; ) {
      const target = this.at(at)
      if (!this.mayFollow(target)) break
      const { $ref: nextReference, ...fields } = target
      layers.push(fields)
      at = nextReference
    }
    return layers.length === 1
      ? otherKeywords
      : Object.fromEntries(layers.reverse().flatMap(layer => Object.entries(layer)))
  }

  private mayFollow(target: JsonObject): boolean {
    const { trail } = this
    const occurrences = trail.reduce((times, one) => (one === target ? times + 1 : times), 0)
    if (occurrences === MAX_REPEATS || trail.length === MAX_DEPTH || !this.budget.spend(target)) return false
    trail.push(target)
    return true
  }

  private at(reference: string): JsonObject {
    let found: Json | undefined = this.root
    for (const name of pointerKeys(reference)) {
      found = isObject(found) ? rowOf(found, name) : undefined
    }
    return isObject(found) ? found : {}
  }

  /**
   * Writes `enum` and `const`. The subset only supports enums of strings, and a constant becomes an enum with one
   * value.
   */
  private values(out: Fields, mergedSchema: JsonObject): void {
    const listed = Array.isArray(mergedSchema['enum'])
      ? mergedSchema['enum']
      : 'const' in mergedSchema
        ? [mergedSchema['const']!]
        : undefined
    delete out['enum']
    // Gemini refuses empty texts: "enum[0]: cannot be empty" (gemini-cli#3401, mcp-server-excel#607, read on 2026-12-01).
    const texts = listed?.filter(value => value !== null && value !== '')
    if (texts === undefined || texts.length === 0 || !texts.every(value => typeof value === 'string')) return
    out['type'] = 'string'
    out['enum'] = texts
  }

  private children(out: Fields): void {
    const { properties, items } = out
    delete out['anyOf']
    delete out['properties']
    delete out['items']
    if (isObject(properties)) {
      const entries = Object.entries(properties).map(([name, one]) => [name, this.schema(one)] as const)
      out['properties'] = Object.fromEntries(entries)
      out['type'] ??= 'object'
    }
    const required = names(out['required']).filter(name => isObject(properties) && Object.hasOwn(properties, name))
    delete out['required']
    if (required.length > 0) out['required'] = required
    if (isObject(items)) out['type'] ??= 'array'
    if (out['type'] === 'array') out['items'] = isObject(items) ? this.schema(items) : { type: 'string' }
  }

  private choices(mergedSchema: JsonObject): readonly JsonObject[] | undefined {
    const listed = mergedSchema['anyOf'] ?? mergedSchema['oneOf']
    if (!Array.isArray(listed)) return undefined
    return listed.map(one => this.schema(one))
  }

  private withChoices(out: Fields, choices: readonly JsonObject[], nullable: boolean): JsonObject {
    const nonNullChoices = choices.filter(one => one['type'] !== 'null')
    const isNullable = nullable || nonNullChoices.length < choices.length
    if (nonNullChoices.length === 0) return out
    const union = nonNullChoices.length === 1 ? nonNullChoices[0]! : { anyOf: nonNullChoices }
    const { title, description } = out
    const labels = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
    const labelled = { ...union, ...labels }
    return isNullable ? orNull(labelled) : labelled
  }
}

/** Returns the types other than null, and whether null is allowed. `type` is a single type, a list, or undefined. */
function typeOf({ type }: JsonObject): { readonly type: Json | undefined; readonly nullable: boolean } {
  if (!Array.isArray(type)) return { type, nullable: false }
  const others = type.filter(one => one !== 'null')
  return { type: others.length === 1 ? others[0]! : others, nullable: others.length < type.length }
}

const names = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter(one => typeof one === 'string') : []

const unionOf = (choices: readonly JsonObject[], nullable: boolean): JsonObject => {
  const union: JsonObject = choices.length === 0 ? {} : { anyOf: choices }
  return nullable && choices.length > 0 ? orNull(union) : union
}

/** Writes a narrowed schema in the subset's spelling: type names in upper case, null as `nullable`. */
export function openApiOf(schema: JsonObject): JsonObject {
  const { anyOf, type, enum: values, ...others } = schema
  if (Array.isArray(anyOf) && anyOf.length === 2 && (anyOf[1] as JsonObject)['type'] === 'null')
    return { ...openApiOf(anyOf[0] as JsonObject), nullable: true }
  const nullable = Array.isArray(type)
  const name = nullable ? type[0] : type
  const out: Fields = {}
  if (typeof name === 'string') out['type'] = name.toUpperCase()
  for (const [key, value] of Object.entries(others)) out[key] = child(key, value)
  if (Array.isArray(values)) out['enum'] = values.filter(value => value !== null)
  if (Array.isArray(anyOf)) out['anyOf'] = anyOf.map(one => openApiOf(one as JsonObject))
  if (nullable) out['nullable'] = true
  return out
}

function child(key: string, value: Json): Json {
  if (key === 'items') return openApiOf(value as JsonObject)
  if (key !== 'properties') return value
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, one]) => [name, openApiOf(one as JsonObject)]),
  )
}
