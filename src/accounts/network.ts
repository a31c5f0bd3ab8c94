/** Number of 16-bit groups of an IPv6 network (/64). The owner of one address owns the entire network (RFC 6177). */
const NETWORK_GROUPS = 4
/** Number of 16-bit groups of an IPv6 site (/48). */
const SITE_GROUPS = 3
/** Number of 16-bit groups of a complete IPv6 address. */
const ADDRESS_GROUPS = 8

/** First groups of an IPv4 address that is mapped into IPv6. */
const MAPPED_IPV4 = '0:0:0:0:0:ffff'
/** Number of those groups. */
const MAPPED_GROUPS = 6

/** Returns the network under which an IP address is counted: the address itself for IPv4, its /64 for IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const groups = groupsOf(address)
  return mappedIpv4(groups) ?? firstOf(groups, NETWORK_GROUPS)
}

/** Returns the /48 of an IPv6 address, which may belong to a single site (RFC 6177), or undefined for IPv4. */
export function widerNetworkOf(address: string): string | undefined {
  if (!address.includes(':')) return undefined
  const groups = groupsOf(address)
  return mappedIpv4(groups) === undefined ? firstOf(groups, SITE_GROUPS) : undefined
}

const firstOf = (groups: readonly string[], count: number): string => groups.slice(0, count).join(':')

/** Returns the IPv4 address that is mapped into an IPv6 address, or undefined if there is none. */
function mappedIpv4(groups: readonly string[]): string | undefined {
  if (firstOf(groups, MAPPED_GROUPS) !== MAPPED_IPV4) return undefined
  return groups
    .slice(MAPPED_GROUPS)
    .map(group => Number.parseInt(group, 16))
    .map(number => `${number >> 8}.${number & 255}`)
    .join('.')
}

/** Returns the groups of an IPv6 address, normalised. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = withoutDots(address).split('::')
  const [before, after] = [groupsIn(head), groupsIn(tail ?? '')]
  const zeros = tail === undefined ? 0 : Math.max(0, ADDRESS_GROUPS - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups.map(group => group.toLowerCase().replace(/^0+(?=.)/, ''))
}

/** Writes the last two groups of an IPv6 address in hex digits if they are written like an IPv4 address. */
const withoutDots = (address: string): string =>
  address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number]
    return `${(256 * a + b).toString(16)}:${(256 * c + d).toString(16)}`
  })

const groupsIn = (text: string): string[] => (text === '' ? [] : text.split(':'))
