import { invalidInput } from './problem.ts'

/** Encodes a list position as an opaque cursor for clients. */
export const cursorOf = (place: string): string => Buffer.from(place).toString('base64url')

/** Decodes a cursor. Throws Problem `invalid-input` if the result does not match the pattern of a position. */
export function placeOf(cursor: string, form: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString()
  if (form.test(place) && cursorOf(place) === cursor) return place
  throw invalidInput({ parameter: 'cursor', detail: 'is not a cursor of this list' })
}
