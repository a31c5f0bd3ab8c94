import { DIALECT_FLAGS, jsonSchemaOf } from '../formats/dialects/index.ts'
import { CALLER_FORMATS, FORMAT_FACTS } from '../formats/index.ts'
import { describedAs, type JsonSchema } from './schema.ts'

/*
 * JSON Schemas of fields whose names are derived from the table of formats. The schemas that check the config accept
 * other names, which are reported later, with suggestions.
 */

const names = (formats: ReadonlyMap<string, unknown>): JsonSchema => ({ type: 'string', enum: [...formats.keys()] })

/** Adds the JSON Schema of a list of upstream formats. */
export const upstreamFormats = <S extends object>(schema: S): S =>
  describedAs(schema, { type: 'array', items: names(FORMAT_FACTS) })

/** Adds the JSON Schema of a list of caller formats. */
export const callerFormats = <S extends object>(schema: S): S =>
  describedAs(schema, { type: 'array', items: names(CALLER_FORMATS) })

/** Adds the JSON Schema of a map from upstream formats to URLs. */
export const urlsByFormat = <S extends object>(schema: S): S =>
  describedAs(schema, {
    ...{ type: 'object', propertyNames: names(FORMAT_FACTS) },
    additionalProperties: { type: 'string', minLength: 1 },
  })

/** Adds the JSON Schema of the dialect flags, with their values, formats and meanings. */
export const dialectFlags = <S extends object>(schema: S): S => {
  const properties = [...DIALECT_FLAGS].map(([name, flag]) => [name, jsonSchemaOf(flag)] as const)
  return describedAs(schema, { type: 'object', properties: Object.fromEntries(properties) })
}
