import { isObject, type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'

/*
 * Spellings that Google's parsers accept: field names as in the proto files, and null for absent fields.
 * Source: https://protobuf.dev/programming-guides/json/
 */

/** Fields that contain arbitrary JSON or names chosen by the caller. */
const FREE_FORM_FIELDS = new Set([
  'args',
  'response',
  'parametersJsonSchema',
  'responseJsonSchema',
  'default',
  'example',
  'enum',
])

/**
 * Enums whose values are also accepted in lower case, as the publisher's own examples write them.
 * Source: https://ai.google.dev/gemini-api/docs/function-calling, https://ai.google.dev/gemini-api/docs/thinking
 */
const LOWERCASE_ENUMS = new Set(['type', 'mode', 'thinkingLevel'])

const camel = (name: string): string =>
  name.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const withoutNulls = (value: JsonObject): [string, Json][] => Object.entries(value).filter(([, one]) => one !== null)

function fieldAsRead(name: string, value: Json): Json {
  if (FREE_FORM_FIELDS.has(name)) return value
  if (LOWERCASE_ENUMS.has(name)) return textOf(value)?.toUpperCase() ?? value
  if (name !== 'properties') return valueAsRead(value)
  return Object.fromEntries(withoutNulls(objectOf(value)).map(([key, one]) => [key, valueAsRead(one)]))
}

function valueAsRead(value: Json): Json {
  if (Array.isArray(value)) return value.map(valueAsRead)
  if (!isObject(value)) return value
  const fields = withoutNulls(value).map(([name, one]): [string, Json] => [camel(name), one])
  return Object.fromEntries(fields.map(([name, one]) => [name, fieldAsRead(name, one)]))
}

/** Normalizes a request as Google's parser reads it. */
export const requestAsRead = (body: JsonObject): JsonObject => objectOf(valueAsRead(body))

/** Removes null fields from an answer. Names and enums in answers have only one spelling. */
export function answerAsRead(body: JsonObject): JsonObject {
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return listOf(value).map(visit)
    if (!isObject(value)) return value
    return Object.fromEntries(
      withoutNulls(value).map(([name, one]) => [name, FREE_FORM_FIELDS.has(name) ? one : visit(one)]),
    )
  }
  return objectOf(visit(body))
}
