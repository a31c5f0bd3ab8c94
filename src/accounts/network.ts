/** Groups of an IPv6 address that name a network: whoever has one address of it has all of them (RFC 6177). */
const NETWORK = 4
/** Groups of what a site is given. */
const SITE = 3
const GROUPS = 8

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The network that an IP address stands for where addresses are counted: of IPv4 itself, of IPv6 its first 64 bits. */
export function networkOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1]
  return mapped !== undefined || !address.includes(':') ? (mapped ?? address) : groupsOf(address, NETWORK)
}

/** The first 48 bits of an IPv6 address, which one site has all of (RFC 6177); IPv4 has no such network. */
export function widerNetworkOf(address: string): string | undefined {
  return MAPPED.test(address) || !address.includes(':') ? undefined : groupsOf(address, SITE)
}

/** The first groups of an IPv6 address, however it is written. */
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
