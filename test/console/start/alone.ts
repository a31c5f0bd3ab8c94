import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { findNamespace } from '../../agents/namespace.ts'
import { type Ran, runProgram } from '../../agents/program.ts'

const RELAY = join(import.meta.dirname, 'relay.ts')
const way = findNamespace()

/** Reason why clients cannot run in a network namespace here. */
export const noNamespace: string | undefined =
  way === undefined ? 'no network namespace can be made here (unshare, ip)' : undefined

interface Work {
  /** Port of the gateway. Nothing else is reachable, not even on this machine. */
  readonly port: number
  readonly home: string
  readonly work: string
  readonly env?: { readonly [name: string]: string }
  readonly seconds?: number
}

/** Runs a command that can reach the gateway at its address and nothing else. */
export async function runAlone(
  command: readonly string[],
  { port, home, work, env = {}, seconds = 60 }: Work,
): Promise<Ran> {
  // Unix sockets with a path are reachable from every network namespace.
  const socket = join(home, 'gateway.sock')
  const server = createServer(caller => {
    const gateway = connect(port, '127.0.0.1')
    caller.on('error', () => gateway.destroy())
    gateway.on('error', () => caller.destroy())
    caller.pipe(gateway).pipe(caller)
  })
  await new Promise<void>(resolve => server.listen(socket, resolve))
  const inside = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh', process.execPath, RELAY, socket, String(port)]
  try {
    return await runProgram({ run: ['unshare', ...way!, ...inside, ...command], env }, home, work, seconds)
  } finally {
    server.close()
  }
}
