import { InvalidArgumentError } from 'commander'

/** Parses the port of a command line option. */
export function portOf(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Expected a port number.')
}

/** Parses a host. An empty one, as of an unset variable, would listen on every address of the machine. */
export function hostOf(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('Expected a host.')
}
