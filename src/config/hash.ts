import { hash } from 'node:crypto'

/**
 * Returns the SHA-256 of a caller's key in hex, the only form in which keys are stored. Keys are long and random, so no
 * salt is needed.
 */
export const hashOf = (key: string): string => hash('sha256', key, 'hex')
