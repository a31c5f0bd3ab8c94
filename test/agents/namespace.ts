import { spawn, spawnSync } from 'node:child_process'

/* Commands that create a network with only a loopback. A client in it can reach only this machine. */

const WAYS: readonly (readonly string[])[] = [['--net'], ['--user', '--map-root-user', '--net']]

/** Returns the arguments of `unshare` that run a command in a namespace. */
export const within = (way: readonly string[], command: readonly string[]): string[] => [
  ...way,
  ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
  ...command,
]

/** Finds a way to create a namespace on this machine. Undefined if there is none. */
export function findNamespace(): readonly string[] | undefined {
  return WAYS.find(way => spawnSync('unshare', within(way, ['true'])).status === 0)
}

/** Runs a command in a namespace and returns its exit code. */
export function runWithin(way: readonly string[], command: readonly string[]): Promise<number> {
  const child = spawn('unshare', within(way, command), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => child.on('error', reject).on('close', code => resolve(code ?? 1)))
}
