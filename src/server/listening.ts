import type { Server } from 'node:http'

/**
 * Listens on a port. Resolves when listening, and rejects if that fails. Passes later errors, such as a failed accept,
 * to `onFault`, because an unhandled `error` event would crash the process.
 *
 * @param setting the setting to change if the address cannot be used, for example `server.port`.
 * @throws the system's error. If the address is in use, not local or forbidden, the message names `setting`.
 */
export function startListening(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  onFault: (fault: Error) => void,
  setting: string,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onRefused = (fault: NodeJS.ErrnoException): void => reject(advised(fault, { host, port }, setting))
  server.once('error', onRefused)
  server.listen(port, host, () => {
    server.off('error', onRefused).on('error', onFault)
    resolve()
  })
  return promise
}

/** Explanations of the system's error codes for addresses that cannot be used. */
const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: 'is in use by another program',
  EADDRNOTAVAIL: 'is not an address of this machine',
  EACCES: 'may not be used by this user',
}

/** Adds advice to a listen error with a known code: which setting to change. */
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
