import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A CIDR range such as `10.0.0.0/8`, or one IP address. */
export type Range = string

/** Returns true if the string is a valid range. Its address has all its parts: `127.1` and octal numbers are none. */
export const isRange = (text: string): boolean =>
  isIP(text.split('/', 1)[0]!) !== 0 && (ipaddr.isValidCIDR(text) || ipaddr.isValid(text))

/** Returns true if the range contains the address. */
export function contains(range: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [base, bits] = ipaddr.isValidCIDR(range)
    ? ipaddr.parseCIDR(range)
    : ([ipaddr.parse(range), address.kind() === 'ipv4' ? 32 : 128] as const)
  return base.kind() === address.kind() && address.match(base as never, bits)
}

/** Returns true if the range contains the address, which is written as text. */
export const containsText = (range: Range, address: string): boolean => contains(range, ipaddr.process(address))
