import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { wantsWebSocket } from './wants-websocket.ts'

/* Addresses that each serve one format, for gateways that replace the path of a base URL. */

/** Opens a loopback server that forwards requests to another server and prepends a prefix to their paths. */
export async function openOrigin(server: Server, prefix: string): Promise<Server> {
  const origin = createServer({ shouldUpgradeCallback: wantsWebSocket })
  for (const event of ['request', 'upgrade'])
    origin.on(event, (message, ...rest) => {
      message.url = `${prefix}${message.url}`
      server.emit(event, message, ...rest)
    })
  await new Promise<void>((resolve, reject) => {
    origin.once('error', reject)
    origin.listen(0, '127.0.0.1', resolve)
  })
  return origin
}

/** Returns the base URL of a server on the loopback interface. */
export const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
