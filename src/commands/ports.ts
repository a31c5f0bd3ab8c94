import { InvalidArgumentError } from 'commander'

/** Parses the port of a command line option. */
export function portOf(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Expected a port number.')
}
