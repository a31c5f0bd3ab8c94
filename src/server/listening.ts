import type { Server } from 'node:http'

/**
 * Listens at a port; settles when listening, and rejects if that fails. Later errors, such as a failed accept, go to
 * `onFault`, because an unhandled `error` event would crash the process.
 *
 * @param setting what to change if the address cannot be used, e.g. `server.port`.
 * @throws the system's error; if the address is in use, not local or forbidden, its message names `setting`.
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

/** Explains the system's error codes for an address that cannot be used. */
const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: 'is in use by another program',
  EADDRNOTAVAIL: 'is not an address of this machine',
  EACCES: 'may not be used by this user',
}

/** Adds advice on what to change to a listen error with a known code. */
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
