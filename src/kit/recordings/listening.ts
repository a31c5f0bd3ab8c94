import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ListenOptions {
  readonly host?: string
  /** Port to listen on. 0 means any free port. */
  readonly port?: number
}

/** Starts to listen. Returns the base URL of the server, and a function that closes the server and its connections. */
export async function listening(
  server: Server,
  { host = '127.0.0.1', port = 0 }: ListenOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: boundPort } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
