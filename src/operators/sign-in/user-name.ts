import { networkOf, widerNetworkOf } from '../../accounts/network.ts'
import { hashOf } from '../../config/hash.ts'
import type { PasswordAttempt } from '../../store/console-records.ts'

/** Maximum length of a user name, in characters. */
export const MAX_NAME_LENGTH = 64

/**
 * Pattern of a user name: letters of any script, digits and a few marks, but no characters with a meaning in URL paths.
 */
export const USER_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+()-]*$/u

/**
 * Normalizes a user name for storage and comparison, so that names that differ only in case or compatibility forms are
 * equal.
 */
export const userName = (input: string): string => input.normalize('NFKC').toLowerCase().trim()

export const isUserName = (name: string): boolean => name.length <= MAX_NAME_LENGTH && USER_NAME.test(name)

/** Hashes the name under which attempts are counted, so that a password typed into the name field is never stored. */
export const accountHash = (name: string): string => hashOf(`name\n${name}`)

/**
 * Returns the identifiers under which a password attempt is counted.
 *
 * @param address an IP address, or undefined if a signed-in user confirms the password.
 */
export function attemptFor(name: string, address?: string): PasswordAttempt {
  const account = accountHash(name)
  const hashed = (network: string) => hashOf(`${account}\n${network}`).slice(0, NETWORK_HASH_LENGTH)
  if (address === undefined) return { account, network: 'session' }
  const wider = widerNetworkOf(address)
  return { account, network: hashed(networkOf(address)), ...(wider !== undefined && { widerNetwork: hashed(wider) }) }
}

/** Length of the stored part of a network hash, in characters. */
const NETWORK_HASH_LENGTH = 32
