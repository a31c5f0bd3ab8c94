import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port of the loopback on which nobody listens at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  await new Promise(done => server.close(done))
  return port
}
