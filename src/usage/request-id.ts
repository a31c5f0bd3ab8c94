import { flatJoin } from '../canonical/flat.ts'

/** The time at which an id was made that `requestIdOf` made; Unix milliseconds. */
export function timeOfId(id: string): number | undefined {
  const match = /^req_([0-9a-f]{12})[0-9a-f]{20}$/.exec(id)
  return match === null ? undefined : Number.parseInt(match[1]!, 16)
}

/**
 * The id of a request, for its caller and the log: `req_` and 32 hexadecimal digits, of which 12 are its time, so that its
 * row is found, and the others random.
 *
 * @param at Unix milliseconds.
 * @param random 32 random hexadecimal digits.
 */
export const requestIdOf = (at: number, random: string): string =>
  flatJoin('req_', `${at.toString(16).padStart(12, '0')}${random.slice(12)}`)
