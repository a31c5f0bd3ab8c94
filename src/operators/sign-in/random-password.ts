import { randomInt } from 'node:crypto'

/** Letters that are hard to confuse with each other or with digits. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz'
const GROUPS = 4
const GROUP = 5

/** Generates a random 90-bit password that is easy to type: four groups of five letters. */
export const randomPassword = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
  ).join('-')
