import { randomInt } from 'node:crypto'

/** Letters that are not taken for each other, nor for digits. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz'
const GROUPS = 4
const GROUP = 5

/** A random password of 90 bits that can be typed: four groups of five letters. */
export const freshPassword = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
  ).join('-')
