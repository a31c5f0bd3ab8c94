/** Number of 16-bit groups of an IPv6 network (/64). The owner of one address owns the entire network (RFC 6177). */
const NETWORK_GROUPS = 4
/** Number of 16-bit groups of an IPv6 site (/48). */
const SITE_GROUPS = 3
/** Number of 16-bit groups of a complete IPv6 address. */
const ADDRESS_GROUPS = 8

/** Pattern of an IPv4 address mapped into IPv6. */
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Returns the network under which an IP address is counted: the address itself for IPv4, its /64 for IPv6. */
export function networkOf(address: string): string {
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  return mapped !== undefined || !address.includes(':') ? (mapped ?? address) : groupsOf(address, NETWORK_GROUPS)
}

/** Returns the /48 of an IPv6 address, which may belong to a single site (RFC 6177), or undefined for IPv4. */
export function widerNetworkOf(address: string): string | undefined {
  return MAPPED_IPV4.test(address) || !address.includes(':') ? undefined : groupsOf(address, SITE_GROUPS)
}

/** Returns the first groups of an IPv6 address, normalised. */
function groupsOf(address: string, count: number): string {
  const [head = '', tail] = address.split('::')
  const [before, after] = [groupsIn(head), groupsIn(tail ?? '')]
  const zeros = tail === undefined ? 0 : Math.max(0, ADDRESS_GROUPS - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups
    .slice(0, count)
    .map(group => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}

const groupsIn = (text: string): string[] => (text === '' ? [] : text.split(':'))
