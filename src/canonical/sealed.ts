/**
 * The prefix of encrypted values that a caller keeps for the gateway, by which the gateway recognizes them when they
 * are returned. The digit is the version of the encryption.
 */
export const SEAL = 'il1.'

export const isSealed = (value: unknown): value is string => typeof value === 'string' && value.startsWith(SEAL)
