import { spawn, spawnSync } from 'node:child_process'

/* Runs this program again in a network namespace that has a loopback alone, so that a gateway under test reaches nobody. */

const WAYS: readonly (readonly string[])[] = [['--net'], ['--user', '--map-root-user', '--net']]

/** Signals that end a run. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Set in the namespace. */
const INSIDE = 'INTERLINGUA_ISOLATED'

const within = (way: readonly string[], command: readonly string[]): string[] => [
  ...way,
  ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
  ...command,
]

/** Whether this process runs in the namespace. */
export const isInside = (): boolean => process.env[INSIDE] === '1'

/** Runs this process's command line in a namespace, and resolves to its exit code. Rejects where none can be made. */
export async function runIsolated(): Promise<number> {
  const way = WAYS.find(one => spawnSync('unshare', within(one, ['true'])).status === 0)
  if (way === undefined) throw new Error('--isolated needs Linux with unshare and ip')
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const child = spawn('unshare', within(way, command), { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } })
  // The run inside ends its gateway by itself after an interruption alone.
  const pass = (): void => {
    child.kill('SIGINT')
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      for (const signal of SIGNALS) process.off(signal, pass)
      resolve(code ?? 1)
    })
  })
}
