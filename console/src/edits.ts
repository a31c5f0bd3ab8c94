import { isRecord, type JsonRecord } from './record.ts'

/**
 * Returns the fields that were edited in a form, for the gateway to change: what others changed meanwhile stays. Null
 * removes a field.
 *
 * @param before the record that the form described when it was opened.
 * @param after the record that the form describes.
 */
export function editsOf(before: JsonRecord, after: JsonRecord): JsonRecord {
  const edits: Record<string, unknown> = {}
  for (const field of editedFields(before, after)) {
    const [was, is] = [before[field], after[field]]
    edits[field] = isRecord(was) && isRecord(is) ? editsOf(was, is) : (is ?? null)
  }
  return edits
}

/** Returns the names of the fields that differ. */
export const editedFields = (before: JsonRecord, after: JsonRecord): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    field => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  )
