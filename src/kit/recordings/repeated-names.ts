import { isObject, type Json } from '../../canonical/node.ts'

/** Matches a string in JSON, and the colon after it if the string is the name of a field. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs

/** Returns true if an object in a JSON text has several fields of one name. The parsed value has only the last one. */
export function hasRepeatedNames(text: string, value: Json): boolean {
  let count = 0
  for (const { 1: colon } of text.matchAll(STRING)) if (colon !== undefined) count++
  return count !== nameCount(value)
}

/** Returns the number of fields of a value and of all values in it. */
function nameCount(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((count, item) => count + nameCount(item), 0)
  if (!isObject(value)) return 0
  return Object.values(value).reduce<number>((count, item) => count + 1 + nameCount(item), 0)
}
