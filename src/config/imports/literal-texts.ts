import { isObject } from '../../canonical/node.ts'

/** Matches the beginning of a variable of this gateway's configs. */
const VARIABLE_START = /\$\{/g

/**
 * Returns a copy of another gateway's file in which `${` is escaped, because it has no meaning there. Otherwise whoever
 * wrote the file could have this gateway's variables sent to an address of their own. Values that aliases share stay
 * shared.
 *
 * @throws Error if a value contains itself.
 */
export function withLiteralTexts(value: unknown, copies: Map<object, unknown> = new Map()): unknown {
  if (typeof value === 'string') return value.replace(VARIABLE_START, '$$$${')
  if (!Array.isArray(value) && !isObject(value)) return value
  if (copies.has(value)) {
    const copy = copies.get(value)
    if (copy === undefined) throw new Error('an alias contains itself')
    return copy
  }
  copies.set(value, undefined)
  const copy = Array.isArray(value)
    ? value.map(one => withLiteralTexts(one, copies))
    : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withLiteralTexts(one, copies)]))
  copies.set(value, copy)
  return copy
}

/** Returns the text of the other gateway's file, with `${` as it was written there. */
export const literalText = (text: string): string => text.replaceAll('$${', '${')

/** Returns true if a text of the new config has a variable, rather than an escaped `${` of the other gateway's file. */
export const hasVariable = (text: string): boolean => text.replaceAll('$${', ' ').includes('${')

/** Returns true if a value contains an escaped `${`: the other gateway's file is a template. */
export const hasLiteralVariable = (value: unknown): boolean => JSON.stringify(value).includes('$${')
