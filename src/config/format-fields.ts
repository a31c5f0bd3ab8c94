import { DIALECT_FLAGS, jsonSchemaOf } from '../formats/dialects/index.ts'
import { CALLER_FORMATS, FORMAT_FACTS } from '../formats/index.ts'
import { describedAs, type JsonSchema } from './schema.ts'

/*
 * JSON Schemas of the fields whose names follow from the rows of formats. The config's own checks accept other names
 * and report them afterwards, with suggestions.
 */

const names = (formats: ReadonlyMap<string, unknown>): JsonSchema => ({ type: 'string', enum: [...formats.keys()] })

/** Describes a list of formats that upstreams speak. */
export const upstreamFormats = <S extends object>(schema: S): S =>
  describedAs(schema, { type: 'array', items: names(FORMAT_FACTS) })

/** Describes a list of formats that callers speak. */
export const callerFormats = <S extends object>(schema: S): S =>
  describedAs(schema, { type: 'array', items: names(CALLER_FORMATS) })

/** Describes a map from formats of upstreams to URLs. */
export const urlsByFormat = <S extends object>(schema: S): S =>
  describedAs(schema, {
    ...{ type: 'object', propertyNames: names(FORMAT_FACTS) },
    additionalProperties: { type: 'string', minLength: 1 },
  })

/** Describes the dialect flags with their values, formats and meanings. */
export const dialectFlags = <S extends object>(schema: S): S => {
  const properties = [...DIALECT_FLAGS].map(([name, flag]) => [name, jsonSchemaOf(flag)] as const)
  return describedAs(schema, { type: 'object', properties: Object.fromEntries(properties) })
}
