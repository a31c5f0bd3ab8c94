import { type GatewayError, invalid } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { excerpt } from '../../canonical/text.ts'

/*
 * Typed access to the fields of a caller's event. Absent fields and null yield undefined. A value of the wrong type
 * throws an error with the field's path.
 */

export function textAt(value: Json | undefined, path: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw wrongType(path, 'a string')
}

export function requiredTextAt(value: Json | undefined, path: string): string {
  const text = textAt(value, path)
  if (text === undefined) throw missing(path)
  return text
}

export function numberAt(value: Json | undefined, path: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw wrongType(path, 'a number')
}

export function flagAt(value: Json | undefined, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value
  throw wrongType(path, 'a boolean')
}

export function objectAt(value: Json | undefined, path: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  if (isObject(value)) return value
  throw wrongType(path, 'an object')
}

export function requiredObjectAt(value: Json | undefined, path: string): JsonObject {
  const object = objectAt(value, path)
  if (object === undefined) throw missing(path)
  return object
}

export function listAt(value: Json | undefined, path: string): readonly Json[] | undefined {
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value)) return value
  throw wrongType(path, 'an array')
}

/**
 * Refuses fields whose name differs from a known name only in case. Upstreams written in Go ignore case when they match
 * names, so such a field would escape the gateway's checks and still take effect.
 *
 * @param path the object's path, for errors; empty for the event itself.
 * @throws GatewayError `invalid-request`.
 */
export function checkCase(object: JsonObject, { exact, anyCase }: ExactNames, path = ''): void {
  for (const field in object)
    if (anyCase.test(field) && !exact.has(field)) {
      const at = path === '' ? field : `${path}.${field}`
      throw invalid(`'${excerpt(at)}' is not a field; names are case-sensitive.`, at, 'invalid_value')
    }
}

/** Field names that are valid only in their exact spelling. */
export interface ExactNames {
  readonly exact: ReadonlySet<string>
  readonly anyCase: RegExp
}

/** Builds the names with Unicode's simple case folding, like Go's `encoding/json`. For example, `\u017f` matches s. */
export const exactNames = (...names: readonly string[]): ExactNames => ({
  exact: new Set(names),
  anyCase: new RegExp(`^(?:${names.join('|')})$`, 'iu'),
})

/** Returns the fields of an object that are not in `known`, or undefined if there are none. */
export function fieldsExcept(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: Record<string, Json> | undefined
  for (const key in object)
    if (!known.has(key) && object[key] !== undefined) {
      rest ??= {}
      rest[key] = object[key]!
    }
  return rest
}

const wrongType = (path: string, expected: string): GatewayError =>
  invalid(`Invalid type for '${path}': expected ${expected}.`, path, 'invalid_type')

const missing = (path: string): GatewayError =>
  invalid(`Missing required parameter: '${path}'.`, path, 'missing_required_parameter')
