import { spawn } from 'node:child_process'

/** Runs a program to its end. Resolves to its exit code and everything that it printed. */
export function ran(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly printed: string }> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (printed += chunk))
  return new Promise(resolve => child.once('close', code => resolve({ code, printed })))
}
