import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { column } from '../rows/index.ts'
import type { Flags, FlagType } from './flag.ts'

/** Flags of each format that has any. */
export const FLAGS_OF: { readonly [format: Format]: Flags } = Object.fromEntries(column(({ flags }) => flags))

/** A flag, merged from all formats that have it. */
export interface DialectFlag {
  readonly formats: readonly Format[]
  /** Values allowed in any of the formats, or the name of their type. */
  readonly values: readonly string[] | FlagType
  readonly meaning: string
}

/** All dialect flags that have an effect. Any other flag is ignored. */
export const DIALECT_FLAGS: ReadonlyMap<string, DialectFlag> = mergedFlags()

function mergedFlags(): Map<string, DialectFlag> {
  const flags = new Map<string, DialectFlag>()
  for (const [format, table] of Object.entries(FLAGS_OF))
    for (const [name, { values, meaning }] of Object.entries(table)) {
      const other = flags.get(name)
      const all = other === undefined ? values : union(other.values, values)
      flags.set(name, { formats: [...(other?.formats ?? []), format], values: all, meaning })
    }
  return flags
}

/** Merges the values of a flag in two formats. The type of a flag is the same in all formats. */
function union(some: DialectFlag['values'], others: DialectFlag['values']): DialectFlag['values'] {
  return typeof some === 'string' || typeof others === 'string' ? some : [...new Set([...some, ...others])]
}

/**
 * Describes a flag's allowed values if the given value is not one of them. Returns undefined for a valid value or an
 * unknown flag.
 */
export function expectedOf(name: string, value: Json): string | undefined {
  const values = DIALECT_FLAGS.get(name)?.values
  if (values === undefined) return undefined
  if (typeof values !== 'string') return values.includes(value as string) ? undefined : values.join(' or ')
  return FLAG_TYPES[values].has(value) ? undefined : FLAG_TYPES[values].description
}

const isString = (value: unknown): boolean => typeof value === 'string'

interface FlagTypeFacts {
  readonly description: string
  /** JSON Schema of the type. */
  readonly json: JsonObject
  has(value: Json): boolean
}

const FLAG_TYPES: { readonly [T in FlagType]: FlagTypeFacts } = {
  boolean: { description: 'true or false', json: { type: 'boolean' }, has: value => typeof value === 'boolean' },
  number: { description: 'a number', json: { type: 'number' }, has: value => typeof value === 'number' },
  string: { description: 'a string', json: { type: 'string' }, has: isString },
  efforts: {
    description: 'a list of strings',
    json: { type: 'array', items: { type: 'string' } },
    has: value => Array.isArray(value) && value.every(isString),
  },
  'string-map': {
    description: 'a map of strings',
    json: { type: 'object', additionalProperties: { type: 'string' } },
    has: value => isObject(value) && Object.values(value).every(isString),
  },
}

/** Returns a flag's JSON Schema, whose description states the flag's formats and meaning. */
export const jsonSchemaOf = ({ formats, values, meaning }: DialectFlag): JsonObject => ({
  ...(typeof values === 'string' ? FLAG_TYPES[values].json : { type: 'string', enum: [...values] }),
  description: `${formats.join(', ')}: ${meaning}.`,
})

/** Describes the values of a flag in Markdown. */
export const describeValues = ({ values }: DialectFlag): string =>
  typeof values === 'string'
    ? FLAG_TYPES[values].description.replace(' or ', ', ')
    : values.map(one => `\`${one}\``).join(', ')
