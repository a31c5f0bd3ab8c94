import { spawn, spawnSync } from 'node:child_process'

/*
 * Runs this program again in a network namespace with only a loopback interface, so that a gateway under test cannot
 * connect to anything else.
 */

/** Options of `unshare` to try, in order. */
const UNSHARE_OPTIONS: readonly (readonly string[])[] = [['--net'], ['--user', '--map-root-user', '--net']]

/** Signals that end a run. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Environment variable that is set in the namespace. */
const INSIDE_VARIABLE = 'INTERLINGUA_ISOLATED'

const unshareArguments = (options: readonly string[], command: readonly string[]): string[] => [
  ...options,
  ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
  ...command,
]

/** Returns true if this process runs in the namespace. */
export const isInside = (): boolean => process.env[INSIDE_VARIABLE] === '1'

/**
 * Runs this process's command line in a namespace, and resolves to its exit code. Rejects if no namespace can be
 * created.
 */
export async function runIsolated(): Promise<number> {
  const options = UNSHARE_OPTIONS.find(one => spawnSync('unshare', unshareArguments(one, ['true'])).status === 0)
  if (options === undefined) throw new Error('--isolated needs Linux with unshare and ip')
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const child = spawn('unshare', unshareArguments(options, command), {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE_VARIABLE]: '1' },
  })
  // The inner run only ends its gateway by itself after SIGINT.
  const forwardSignal = (): void => {
    child.kill('SIGINT')
  }
  for (const signal of SIGNALS) process.on(signal, forwardSignal)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      for (const signal of SIGNALS) process.off(signal, forwardSignal)
      resolve(code ?? 1)
    })
  })
}
