import * as v from 'valibot'
import { type GatewayError, invalid as refused } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { Settings, SettingType } from '../../canonical/settings.ts'
import { excerpt } from '../../canonical/text.ts'
import { WrongType } from '../fields.ts'

/**
 * Runs a reader on a caller's body. If the reader detects a fault, the schema is used to identify the field and the
 * fault. Valid requests thus avoid the cost of the schema. A law checks that reader and schema reach the same verdict.
 *
 * @throws GatewayError `invalid-request`.
 */
export function readOrExplain<T>(schema: Schema, body: JsonObject, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof WrongType) throw invalid(typeof schema === 'function' ? schema() : schema, body)
    throw thrown
  }
}

/** A schema, or a function that returns a schema that depends on more than the body. */
type Schema = v.GenericSchema | (() => v.GenericSchema)

function invalid(schema: v.GenericSchema, body: JsonObject): GatewayError {
  const issue = v.safeParse(schema, body, { abortEarly: true }).issues?.[0]
  const param = issue === undefined ? undefined : v.getDotPath(issue)
  if (issue === undefined) return refused('A field of the request has the wrong type.')
  return refused(`${excerpt(param ?? 'body')}: ${excerpt(issue.message, MAX_FAULT_LENGTH)}`, param ?? undefined)
}

/** Maximum length of a fault in the error message, in UTF-16 units. A fault may quote the value of the field. */
const MAX_FAULT_LENGTH = 300

/** A value that may be absent or null. */
export const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
export const maybeText = maybe(v.string())
export const maybeNumber = maybe(v.number())

/** A whole number of at least 1, such as the number of answers. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(1))

/**
 * Schema of an object that allows unknown fields. Unlike valibot's looseObject, it rejects lists. Options of a variant
 * use looseObject itself.
 */
export const shape = <T extends v.ObjectEntries>(entries: T) =>
  v.pipe(v.custom<object>(isObject, 'Invalid type: Expected Object'), v.looseObject(entries))
/** An object with any fields. */
export const json = shape({})

/**
 * Schema of an object whose shape depends on the value of one field. Unlike valibot's variant, it never validates
 * fields of another value's shape.
 *
 * @param other the shape for values without one in `shapes`.
 * @param absent the shape if the field has no value.
 */
export const byValue = (
  field: string,
  shapes: { readonly [value: string]: v.GenericSchema },
  other: v.GenericSchema,
  absent = other,
): v.GenericSchema =>
  v.lazy(input => {
    const value = isObject(input) ? input[field] : undefined
    if (value === undefined || value === null) return absent
    return typeof value === 'string' && Object.hasOwn(shapes, value) ? shapes[value]! : other
  })

const SCHEMA: { readonly [T in SettingType]: v.GenericSchema } = {
  number: v.nullish(v.number()),
  count: v.nullish(count),
  flag: v.nullish(v.boolean()),
  text: v.nullish(v.string()),
  object: v.nullish(shape({})),
}

/**
 * Returns schema entries for the settings in a body.
 *
 * @param formatSchemas schemas of types that the format writes in a different way.
 */
export const settingEntries = (
  { read }: Settings,
  formatSchemas: { readonly [T in SettingType]?: v.GenericSchema } = {},
): { readonly [wire: string]: v.GenericSchema } =>
  Object.fromEntries(read.map(({ wire, type }) => [wire, formatSchemas[type] ?? SCHEMA[type]]))
