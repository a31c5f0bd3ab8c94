import { spawn, spawnSync } from 'node:child_process'

/* A network with a loopback and nothing else: what a client does there, it does to this machine alone. */

const WAYS: readonly (readonly string[])[] = [['--net'], ['--user', '--map-root-user', '--net']]

const within = (way: readonly string[], command: readonly string[]): string[] => [
  ...way,
  ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
  ...command,
]

/** How a namespace can be made here; undefined where it cannot. */
export function findNamespace(): readonly string[] | undefined {
  return WAYS.find(way => spawnSync('unshare', within(way, ['true'])).status === 0)
}

/** Runs a command in a namespace, and gives its exit code. */
export function runWithin(way: readonly string[], command: readonly string[]): Promise<number> {
  const child = spawn('unshare', within(way, command), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => child.on('error', reject).on('close', code => resolve(code ?? 1)))
}
