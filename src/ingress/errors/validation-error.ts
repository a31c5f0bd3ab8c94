import * as v from 'valibot'
import { GatewayError } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { WrongType } from '../fields.ts'

/**
 * Runs a reader over a caller's body. Reading is cheap and only knows that something is wrong; the schema then says
 * what. Both must come to the same verdict, which a law checks.
 */
export function readValidated<T>(schema: Schema, body: JsonObject, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof WrongType) throw invalid(typeof schema === 'function' ? schema() : schema, body)
    throw thrown
  }
}

/** A schema, or how to make one that depends on more than the body. */
type Schema = v.GenericSchema | (() => v.GenericSchema)

function invalid(schema: v.GenericSchema, body: JsonObject): GatewayError {
  const issue = v.safeParse(schema, body, { abortEarly: true }).issues?.[0]
  const param = issue === undefined ? undefined : v.getDotPath(issue)
  const message =
    issue === undefined ? 'A field of the request has the wrong type.' : `${param ?? 'body'}: ${issue.message}`
  return new GatewayError({ kind: 'invalid-request', message, ...(param == null ? {} : { param }) })
}

/** How many of something are wanted: none and half a one are nothing to ask for. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(1))

/** An object of known fields and any others; unlike valibot's own, a list is none. Options of a variant do without. */
export const shape = <T extends v.ObjectEntries>(entries: T) =>
  v.pipe(v.custom<object>(isObject, 'Invalid type: Expected Object'), v.looseObject(entries))

/**
 * An object whose shape depends on the word in one of its fields; `other` is for words of no shape here, `absent` for
 * no word at all. Unlike valibot's variant it never looks at fields of another word's shape.
 */
export const byWord = (
  field: string,
  shapes: { readonly [word: string]: v.GenericSchema },
  other: v.GenericSchema,
  absent = other,
): v.GenericSchema =>
  v.lazy(input => {
    const word = isObject(input) ? input[field] : undefined
    if (word === undefined || word === null) return absent
    return typeof word === 'string' && Object.hasOwn(shapes, word) ? shapes[word]! : other
  })
