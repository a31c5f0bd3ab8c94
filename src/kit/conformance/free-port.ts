import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Ports below those that systems assign to connections and to listeners without a port of their own. */
const RANGE = { from: 20_000, to: 32_000 }
const MAX_TRIES = 100

const isFree = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/**
 * Returns a free port of the loopback interface for a process that takes a port number. The system assigns none of
 * these ports by itself, so that no other program answers there before the process listens.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(RANGE.from, RANGE.to)
    if (await isFree(port)) return port
  }
  throw new Error(`No port between ${RANGE.from} and ${RANGE.to} is free.`)
}
