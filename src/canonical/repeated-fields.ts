import type { Json } from './node.ts'

/**
 * Returns true if any object in a JSON text has a duplicate field, of which the parsed value has only the last one. Takes
 * linear time.
 */
export const hasRepeatedFields = (text: string, value: Json): boolean =>
  (text.replace(STRING, '').match(/:/g)?.length ?? 0) !== countFields(value)

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/gs

const countFields = (value: Json): number => {
  if (typeof value !== 'object' || value === null) return 0
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const item of Object.values(value)) count += countFields(item)
  return count
}
