/** Number of 16-bit groups of an IPv6 network (/64). The owner of one address owns the entire network (RFC 6177). */
const NETWORK = 4
/** Number of 16-bit groups of an IPv6 site (/48). */
const SITE = 3
const GROUPS = 8

/** Pattern of an IPv4 address mapped into IPv6. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Returns the network under which an IP address is counted: the address itself for IPv4, its /64 for IPv6. */
export function networkOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1]
  return mapped !== undefined || !address.includes(':') ? (mapped ?? address) : groupsOf(address, NETWORK)
}

/** Returns the /48 of an IPv6 address, which may belong to a single site (RFC 6177), or undefined for IPv4. */
export function widerNetworkOf(address: string): string | undefined {
  return MAPPED.test(address) || !address.includes(':') ? undefined : groupsOf(address, SITE)
}

/** Returns the first groups of an IPv6 address, normalised. */
function groupsOf(address: string, count: number): string {
  const [head = '', tail] = address.split('::')
  const [before, after] = [groupsIn(head), groupsIn(tail ?? '')]
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups
    .slice(0, count)
    .map(group => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}

const groupsIn = (text: string): string[] => (text === '' ? [] : text.split(':'))
