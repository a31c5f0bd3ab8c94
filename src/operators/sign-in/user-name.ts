import { networkOf, widerNetworkOf } from '../../accounts/network.ts'
import { hashOf } from '../../config/hash.ts'
import type { PasswordTry } from '../../store/console-records.ts'

/** Characters a name may have. */
export const LONGEST_NAME = 64

/** Letters of any script, digits, and a few marks inside; never what means something in a path by itself. */
export const USER_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+()-]*$/u

/** A name as it is stored and compared: what looks the same is the same. */
export const userName = (written: string): string => written.normalize('NFKC').toLowerCase().trim()

export const isUserName = (name: string): boolean => name.length <= LONGEST_NAME && USER_NAME.test(name)

/** What attempts for a name are counted under; those who type their password into the field of the name leave no trace. */
export const subjectOf = (name: string): string => hashOf(`name\n${name}`)

/**
 * What a password that is tried for a name is counted under.
 *
 * @param address an IP address; undefined where somebody who is signed in confirms the password.
 */
export function tryOf(name: string, address?: string): PasswordTry {
  const account = subjectOf(name)
  const hashed = (network: string) => hashOf(`${account}\n${network}`).slice(0, NETWORK_HASH)
  if (address === undefined) return { account, network: 'session' }
  const wider = widerNetworkOf(address)
  return { account, network: hashed(networkOf(address)), ...(wider !== undefined && { around: hashed(wider) }) }
}

/** Characters of a network's hash that distinguish it from others. */
const NETWORK_HASH = 32
