import { hash } from 'node:crypto'

/** SHA-256 of a caller's key, in hex: the only form in which a key is stored. Keys are long and random, so no salt. */
export const hashOf = (key: string): string => hash('sha256', key, 'hex')
