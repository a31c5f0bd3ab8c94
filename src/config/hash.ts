import { hash } from 'node:crypto'

/**
 * Returns the SHA-256 of a caller's key in hex, the only form in which keys are stored. No salt is needed, because keys
 * are long and random.
 */
export const hashOf = (key: string): string => hash('sha256', key, 'hex')
