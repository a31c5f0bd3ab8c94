/**
 * What the gateway hands to a caller to keep, encrypted, begins with these letters, so that it knows its own again when
 * the caller hands it back. The digit is the version of how it is sealed.
 */
export const SEAL = 'il1.'

export const isSealed = (value: unknown): value is string => typeof value === 'string' && value.startsWith(SEAL)
