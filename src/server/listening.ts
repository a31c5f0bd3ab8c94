import type { Server } from 'node:http'

/**
 * Settles once a server listens at a port, and rejects where it cannot. What becomes of it later, such as a connection that
 * the system cannot give it, is passed to `onFault`: an error that nobody listens for is an uncaught fault.
 */
export function listening(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  onFault: (fault: Error) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, () => {
    server.off('error', reject).on('error', onFault)
    resolve()
  })
  return promise
}
