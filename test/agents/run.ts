import { spawnSync } from 'node:child_process'

/** Reason why a package cannot be installed here: a tool or its registry is missing. */
export class Unavailable extends Error {}

/** Time limit of one step of an installation, in milliseconds. */
const PATIENCE = 900_000

interface Surroundings {
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string }
}

/** Runs a program to its end. @throws Error with the line of its output that says most. */
export function run(program: string, args: readonly string[], { cwd, env }: Surroundings = {}): void {
  const options = {
    encoding: 'utf8',
    timeout: PATIENCE,
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  } as const
  const { status, stderr, stdout, error } = spawnSync(program, args, options)
  if (status === 0) return
  const lines = `${stderr ?? ''}\n${stdout ?? ''}`.split('\n')
  const complaint = error?.message ?? lines.find(line => /error/i.test(line)) ?? `exit code ${status}`
  throw new Error(`${program} ${args.join(' ')}: ${complaint}`)
}

/** The same for what comes from a registry. @throws Unavailable */
export function download(program: string, args: readonly string[], surroundings?: Surroundings): void {
  try {
    run(program, args, surroundings)
  } catch (thrown) {
    throw new Unavailable((thrown as Error).message)
  }
}

/** @throws Unavailable where a program is not installed. */
export function need(program: string): void {
  if (spawnSync('sh', ['-c', 'command -v "$0"', program]).status !== 0) throw new Unavailable(`there is no ${program}`)
}
