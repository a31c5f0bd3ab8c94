import { invalidInput } from './problem.ts'

/** A place in a list for its client to bring back; what is in it is no business of theirs. */
export const cursorOf = (place: string): string => Buffer.from(place).toString('base64url')

/** Throws Problem `invalid-input` for a text that is no cursor to a place of that form. */
export function placeOf(cursor: string, form: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString()
  if (form.test(place) && cursorOf(place) === cursor) return place
  throw invalidInput({ parameter: 'cursor', detail: 'is no cursor of this list' })
}
