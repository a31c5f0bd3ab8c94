import { isObject, type Json, type JsonObject } from '../canonical/node.ts'

/*
 * JSON Schema for upstreams that take only OpenAPI's older subset of it (trap 55). `narrowed` gives the part of a schema
 * they understand, still in JSON Schema; `openApiOf` spells that in their dialect.
 */

/** How deep references are followed; a schema that refers to itself would never end. */
const DEEPEST = 6

type Fields = { [key: string]: Json }

/** The schema without what the subset lacks: references inlined, unions as `anyOf`, unknown keywords gone. */
export function narrowed(schema: JsonObject): JsonObject {
  return new Narrower(schema).schema(schema, 0)
}

const KEPT = new Set([
  ...['type', 'title', 'description', 'enum', 'items', 'maxItems', 'minItems', 'properties', 'required'],
  ...['minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern', 'anyOf', 'default', 'minimum', 'maximum'],
])

const FORMATS: { readonly [type: string]: ReadonlySet<Json> } = {
  string: new Set(['date-time', 'enum']),
  number: new Set(['float', 'double']),
  integer: new Set(['int32', 'int64']),
}

class Narrower {
  private readonly root: JsonObject

  constructor(root: JsonObject) {
    this.root = root
  }

  schema(wire: Json, depth: number): JsonObject {
    if (!isObject(wire)) return {}
    const whole = this.merged(this.resolved(wire, depth), depth)
    const { type, nullable } = typeOf(whole)
    const out: Fields = {}
    for (const [key, value] of Object.entries(whole)) if (KEPT.has(key)) out[key] = value
    if (Array.isArray(type)) {
      delete out['type']
      return unioned(
        type.map(one => this.schema({ ...out, type: one }, depth)),
        nullable,
      )
    }
    if (type !== undefined) out['type'] = type
    this.values(out, whole)
    this.children(out, depth)
    const format = whole['format']
    if (FORMATS[String(out['type'])]?.has(format ?? null)) out['format'] = format!
    const choices = this.choices(whole, depth)
    if (choices !== undefined) return this.withChoices(out, choices, nullable)
    return nullable ? orNull(out) : out
  }

  /** What a reference points to, with what stands beside it; a reference too deep or to nothing says nothing. */
  private resolved(wire: JsonObject, depth: number): JsonObject {
    const { $ref, ...beside } = wire
    if (typeof $ref !== 'string') return wire
    if (depth > DEEPEST) return beside
    return { ...this.resolved(this.at($ref), depth + 1), ...beside }
  }

  private at(reference: string): JsonObject {
    let found: Json | undefined = this.root
    for (const step of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
    }
    return isObject(found) ? found : {}
  }

  /** All of `allOf` in one: properties and required names added up, later words winning elsewhere. */
  private merged(wire: JsonObject, depth: number): JsonObject {
    const { allOf, ...beside } = wire
    if (!Array.isArray(allOf)) return wire
    let out: JsonObject = {}
    for (const piece of [...allOf, beside]) {
      if (!isObject(piece)) continue
      const one = this.merged(this.resolved(piece, depth), depth + 1)
      const properties = { ...(out['properties'] as JsonObject), ...(one['properties'] as JsonObject) }
      const required = [...new Set([...names(out['required']), ...names(one['required'])])]
      out = { ...out, ...one }
      if (Object.keys(properties).length > 0) out = { ...out, properties }
      if (required.length > 0) out = { ...out, required }
    }
    return out
  }

  /** Only texts can be listed; one constant is a list of one. */
  private values(out: Fields, whole: JsonObject): void {
    const listed = Array.isArray(whole['enum']) ? whole['enum'] : 'const' in whole ? [whole['const']!] : undefined
    delete out['enum']
    const texts = listed?.filter(value => value !== null)
    if (texts === undefined || texts.length === 0 || !texts.every(value => typeof value === 'string')) return
    out['type'] = 'string'
    out['enum'] = texts
  }

  private children(out: Fields, depth: number): void {
    const { properties, items } = out
    delete out['anyOf']
    delete out['properties']
    delete out['items']
    if (isObject(properties)) {
      const entries = Object.entries(properties).map(([name, one]) => [name, this.schema(one, depth + 1)] as const)
      out['properties'] = Object.fromEntries(entries)
      out['type'] ??= 'object'
    }
    const required = names(out['required']).filter(name => isObject(properties) && Object.hasOwn(properties, name))
    delete out['required']
    if (required.length > 0) out['required'] = required
    if (isObject(items)) out['type'] ??= 'array'
    if (out['type'] === 'array') out['items'] = isObject(items) ? this.schema(items, depth + 1) : { type: 'string' }
  }

  private choices(whole: JsonObject, depth: number): readonly JsonObject[] | undefined {
    const listed = whole['anyOf'] ?? whole['oneOf']
    if (!Array.isArray(listed) || depth > DEEPEST) return undefined
    return listed.map(one => this.schema(one, depth + 1))
  }

  private withChoices(out: Fields, choices: readonly JsonObject[], nullable: boolean): JsonObject {
    const some = choices.filter(one => one['type'] !== 'null')
    const orNothing = nullable || some.length < choices.length
    if (some.length === 0) return out
    const union = some.length === 1 ? some[0]! : { anyOf: some }
    const { title, description } = out
    const words = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
    const said = { ...union, ...words }
    return orNothing ? orNull(said) : said
  }
}

/** One type, several, or none, and whether null is one of them. */
function typeOf({ type }: JsonObject): { readonly type: Json | undefined; readonly nullable: boolean } {
  if (!Array.isArray(type)) return { type, nullable: false }
  const others = type.filter(one => one !== 'null')
  return { type: others.length === 1 ? others[0]! : others, nullable: others.length < type.length }
}

const names = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter(one => typeof one === 'string') : []

const unioned = (choices: readonly JsonObject[], nullable: boolean): JsonObject => {
  const union: JsonObject = choices.length === 0 ? {} : { anyOf: choices }
  return nullable && choices.length > 0 ? orNull(union) : union
}

/** The schema or null. */
function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
}

/** A narrowed schema in the subset's own spelling: type names in upper case, null as `nullable`. */
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
