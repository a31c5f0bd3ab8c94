import * as v from 'valibot'
import { defined, type Json } from '../canonical/node.ts'

/** Documentation of a setting, for the JSON Schema of the config and docs/settings.md. */
export interface Described {
  /** Kind of value, if it is not plain from the schema: `duration`. */
  readonly valueKind?: string
  readonly meaning?: string
  /** The value that a config without the setting has. */
  readonly usual?: Json
}

/** Names the kind of values that a new schema accepts. */
export const called = <S extends object>(valueKind: string, schema: S): S => Object.assign(schema, { valueKind })

/** A setting that a config may lack, with its meaning and its default. */
export const optional = <S extends v.GenericSchema>(schema: S, meaning: string, usual?: Json) =>
  Object.assign(v.optional(schema), defined({ meaning, usual }))

/** A setting that its map needs. */
export const required = <S extends v.GenericSchema>(schema: S, meaning: string) =>
  Object.assign(v.pipe(schema, v.description(meaning)), { meaning })
