import { isIP } from 'node:net'

/** An IPv4 address as IPv6 sockets show it. */
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[([0-9a-f:.]+)\](?::\d+)?$/i

/** The IP address in what a proxy states, which may have a port; undefined for names such as `unknown` or `_hidden`. */
export function ipIn(text: string): string | undefined {
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const address = (v4 ?? v6 ?? text).replace(MAPPED, '')
  return isIP(address) === 0 ? undefined : address
}
