import type { Server } from 'node:http'

/**
 * Settles once a server listens at a port, and rejects where it cannot. What becomes of it later, such as a connection that
 * the system cannot give it, is passed to `onFault`: an error that nobody listens for is an uncaught fault.
 *
 * @param setting what to change where the address cannot be used, e.g. `server.port`.
 * @throws the system's error, with that advice in its message where the address is taken, not this machine's or forbidden.
 */
export function listening(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  onFault: (fault: Error) => void,
  setting: string,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refused = (fault: NodeJS.ErrnoException): void => reject(advised(fault, { host, port }, setting))
  server.once('error', refused)
  server.listen(port, host, () => {
    server.off('error', refused).on('error', onFault)
    resolve()
  })
  return promise
}

/** Why an address cannot be listened at, by the code of the system's error. */
const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: 'is in use by another program',
  EADDRNOTAVAIL: 'is no address of this machine',
  EACCES: 'may not be used by this user',
}

/** The error with a message that says what to change, where listening at the address is what failed. */
export function advised(
  fault: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Error {
  const reason = REASONS[fault.code ?? '']
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (reason !== undefined) fault.message = `${address} ${reason} (${fault.code}): change ${setting}`
  return fault
}
