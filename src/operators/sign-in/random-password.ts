import { randomInt } from 'node:crypto'

/** Letters that are hard to confuse with each other or with digits. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz'
/** Number of groups of letters in a password. */
const GROUP_COUNT = 4
/** Number of letters per group. */
const GROUP_LENGTH = 5

/** Generates a random 90-bit password that is easy to type: four groups of five letters. */
export const randomPassword = (): string =>
  Array.from({ length: GROUP_COUNT }, () =>
    Array.from({ length: GROUP_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
  ).join('-')
