import { hashOf } from '../config/hash.ts'

/** Characters a name may have. */
export const LONGEST_NAME = 64

/** Letters of any script, digits, and a few marks inside; never what means something in a path by itself. */
export const USER_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+()-]*$/u

/** A name as it is stored and compared: what looks the same is the same. */
export const userName = (written: string): string => written.normalize('NFKC').toLowerCase().trim()

export const isUserName = (name: string): boolean => name.length <= LONGEST_NAME && USER_NAME.test(name)

/** What attempts for a name are counted under; those who type their password into the field of the name leave no trace. */
export const subjectOf = (name: string): string => hashOf(`name\n${name}`)
