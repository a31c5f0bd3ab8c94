/* Converts published schemas for a validator, so that its messages are about the intended branch of a union. */

// biome-ignore lint/suspicious/noExplicitAny: a schema may hold anything.
export type Schema = { readonly [keyword: string]: any }
export type Schemas = { readonly [name: string]: Schema }

type Word = string | undefined

/** Fields that distinguish the branches of a union. */
const TELLING = ['type', 'role', 'object', 'mode'] as const

/** Keywords without effect on validity, and names that current validators do not know. */
const IGNORED = new Set([
  ...['description', 'example', 'examples', 'default', 'discriminator', 'title', 'format', 'externalDocs'],
  ...['deprecated', 'nullable', 'readOnly', '$recursiveAnchor'],
])

/** Returns all schemas of the description. Closed schemas allow no field that they do not name. */
export const narrowed = (schemas: Schemas, closed: boolean): Schemas => {
  const narrower = new Narrower(schemas, closed)
  return Object.fromEntries(Object.keys(schemas).flatMap(name => narrower.named(name)))
}

/** Returns the name of a schema as a part of others. */
const partOf = (name: string): string => `${name}.part`

const nameIn = (ref: string): string => ref.split('/').at(-1)!
const unionOf = (schema: Schema): readonly Schema[] | undefined => schema['anyOf'] ?? schema['oneOf']
const isOpenEnded = (schema: Schema): boolean =>
  schema['additionalProperties'] === undefined && Object.keys(schema['properties'] ?? {}).length > 0

class Narrower {
  private readonly schemas: Schemas
  private readonly closed: boolean
  /** Schemas that are a part of others. If they were closed, they would refuse the others' fields. */
  private readonly parts = new Set<string>()

  constructor(schemas: Schemas, closed: boolean) {
    this.schemas = schemas
    this.closed = closed
    this.findParts(schemas)
  }

  named(name: string): (readonly [name: string, schema: Schema])[] {
    const schema = this.schemas[name]!
    const whole = [name, this.narrow(schema, false)] as const
    return this.parts.has(name) ? [whole, [partOf(name), this.narrow(schema, true)]] : [whole]
  }

  private findParts(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    const all = (value as Schema)['allOf']
    if (Array.isArray(all) && all.length > 1) for (const one of all) this.addPart(one)
    for (const inside of Object.values(value)) this.findParts(inside)
  }

  private addPart(schema: Schema): void {
    if (schema['$ref'] === undefined) return
    const name = nameIn(schema['$ref'])
    if (this.parts.has(name)) return
    this.parts.add(name)
    const { allOf = [], anyOf = [], oneOf = [] } = this.schemas[name] ?? {}
    for (const one of [...allOf, ...anyOf, ...oneOf]) this.addPart(one)
  }

  private resolved(schema: Schema): Schema {
    return schema['$ref'] === undefined ? schema : this.resolved(this.schemas[nameIn(schema['$ref'])]!)
  }

  private narrow(schema: Schema, isPart: boolean): Schema {
    const out: { [keyword: string]: unknown } = {}
    const parts: Schema[] = []
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties')
        out[keyword] = Object.fromEntries(
          Object.entries(value as Schemas).map(([name, one]) => [name, this.narrow(one, false)]),
        )
      else if (keyword === 'anyOf' || keyword === 'oneOf') parts.push(this.union(value, isPart))
      else if (keyword === 'allOf')
        parts.push(...(value as Schema[]).map(one => this.narrow(one, isPart || value.length > 1)))
      else if (keyword === '$ref') out[keyword] = isPart && this.parts.has(nameIn(value)) ? partOf(value) : value
      else if (keyword === '$recursiveRef') out['$ref'] = '#/components/schemas/CompoundFilter'
      else if (keyword === 'items' || keyword === 'additionalProperties')
        out[keyword] = typeof value === 'object' ? this.narrow(value, false) : value
      else if (!IGNORED.has(keyword) && !keyword.startsWith('x-')) out[keyword] = value
    }
    if (parts.length > 0) out['allOf'] = parts
    if (this.closed && !isPart && (isOpenEnded(schema) || schema['allOf']?.length > 1))
      out['unevaluatedProperties'] = false
    return schema['nullable'] === true ? { if: { type: 'null' }, else: out } : out
  }

  /** Flattens branches of branches. */
  private flat(branches: readonly Schema[]): readonly Schema[] {
    return branches.flatMap(branch => {
      const schema = this.resolved(branch)
      const inner = unionOf(schema)
      const isUnion = inner !== undefined && schema['properties'] === undefined && schema['allOf'] === undefined
      return isUnion && schema['nullable'] !== true ? this.flat(inner) : [branch]
    })
  }

  private union(given: readonly Schema[], isPart: boolean): Schema {
    const branches = this.flat(given)
    const byKind = Map.groupBy(branches, branch => this.kindOf(branch))
    if (byKind.has('any')) return { anyOf: branches.map(one => this.narrow(one, isPart)) }
    const scalars = byKind.get('scalar')
    let out: Schema | undefined = scalars && { anyOf: scalars.map(one => this.narrow(one, isPart)) }
    for (const [kind, alike] of byKind) {
      if (kind === 'scalar') continue
      const inside = kind === 'null' ? {} : this.alike(alike, isPart)
      // biome-ignore lint/suspicious/noThenProperty: it is a keyword of schemas.
      out = out === undefined ? { type: kind, allOf: [inside] } : { if: { type: kind }, then: inside, else: out }
    }
    return out!
  }

  private kindOf(branch: Schema): string {
    const { type, properties, allOf, enum: values, const: value } = this.resolved(branch)
    if (properties !== undefined || allOf !== undefined) return 'object'
    if (type === 'array' || type === 'null' || type === 'object') return type
    return typeof type === 'string' || values !== undefined || value !== undefined ? 'scalar' : 'any'
  }

  /** Groups objects by their distinguishing word, if all of them have one. */
  private alike(branches: readonly Schema[], isPart: boolean): Schema {
    if (branches.length === 1) return this.narrow(branches[0]!, isPart)
    for (const key of TELLING) {
      const words = branches.map(branch => this.wordsOf(branch, key))
      if (words.some(one => one === undefined)) continue
      const byWord = new Map<Word, Schema[]>()
      for (const [index, branch] of branches.entries())
        for (const word of words[index]!) byWord.set(word, [...(byWord.get(word) ?? []), branch])
      if (byWord.size > 1) return this.told(key, byWord, isPart)
    }
    return { anyOf: branches.map(one => this.narrow(one, isPart)) }
  }

  private told(key: string, byWord: ReadonlyMap<Word, readonly Schema[]>, isPart: boolean): Schema {
    const absent = { anyOf: [{ not: { required: [key] } }, { properties: { [key]: { type: 'null' } } }] }
    const known = [...byWord.keys()].map(word => word ?? null)
    return {
      type: 'object',
      ...(byWord.has(undefined) ? {} : { required: [key] }),
      properties: { [key]: { enum: known } },
      allOf: [...byWord].map(([word, branches]) => ({
        if: word === undefined ? absent : { properties: { [key]: { const: word } }, required: [key] },
        // biome-ignore lint/suspicious/noThenProperty: it is a keyword of schemas.
        then:
          branches.length === 1
            ? this.narrow(branches[0]!, isPart)
            : { anyOf: branches.map(one => this.narrow(one, isPart)) },
      })),
    }
  }

  /** Returns the words that a field of the branch may have, including undefined if it is optional. */
  private wordsOf(branch: Schema, key: string): readonly Word[] | undefined {
    const schema = this.resolved(branch)
    for (const one of schema['allOf'] ?? []) {
      const words = this.wordsOf(one, key)
      if (words !== undefined) return words
    }
    const field = schema['properties']?.[key]
    if (field === undefined) return undefined
    const direct = this.resolved(field)
    const [only, ...others] = (unionOf(direct) ?? [direct]).filter(one => this.resolved(one)['type'] !== 'null')
    if (only === undefined || others.length > 0) return undefined
    const { const: value, enum: values = value === undefined ? [] : [value] } = this.resolved(only)
    if (values.length === 0 || !(values as unknown[]).every(one => typeof one === 'string')) return undefined
    return schema['required']?.includes(key) ? values : [...values, undefined]
  }
}
