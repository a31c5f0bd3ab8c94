import * as v from 'valibot'
import { text } from '../../config/schema.ts'
import { invalidInput } from './problem.ts'

/** Parameter with a cursor. A position may contain the name of a record. */
export const cursorParameter = v.optional(text(4000))

/** Encodes a list position as an opaque cursor for clients. */
export const cursorOf = (position: string): string => Buffer.from(position).toString('base64url')

/** Decodes a cursor. Throws Problem `invalid-input` if the result does not match the pattern. */
export function positionOf(cursor: string, form: RegExp): string {
  const position = Buffer.from(cursor, 'base64url').toString()
  if (form.test(position) && cursorOf(position) === cursor) return position
  throw invalidInput({ parameter: 'cursor', detail: 'is not a cursor of this list' })
}
