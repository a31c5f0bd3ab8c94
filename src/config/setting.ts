import * as v from 'valibot'
import { defined, type Json } from '../canonical/node.ts'

/** Documentation of a setting, for the JSON Schema of the config and docs/settings.md. */
export interface Described {
  /** Kind of value, such as `duration`, if the schema does not show it. */
  readonly valueKind?: string
  readonly meaning?: string
  /** Default value. */
  readonly usual?: Json
}

/** Adds the name of a kind of value to a new schema. */
export const withValueKind = <S extends object>(valueKind: string, schema: S): S => Object.assign(schema, { valueKind })

/** Returns the schema of an optional setting, with its meaning and default. */
export const optional = <S extends v.GenericSchema>(schema: S, meaning: string, usual?: Json) =>
  Object.assign(v.optional(schema), defined({ meaning, usual }))

/** Returns the schema of a required setting, with its meaning. */
export const required = <S extends v.GenericSchema>(schema: S, meaning: string) =>
  Object.assign(v.pipe(schema, v.description(meaning)), { meaning })
