import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The proxy under measurement has a separate core; load and upstream share another. */
const CORES = { proxy: '0', load: '1' } as const

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** The command that runs this one on the core of its role. */
export const pinned = (role: keyof typeof CORES, command: readonly string[]): readonly string[] =>
  canPin ? ['taskset', '-c', CORES[role], ...command] : command

/** Moves this process to its core; true where that is possible. */
export function pinSelf(): boolean {
  if (canPin) spawnSync('taskset', ['-acp', CORES.load, `${process.pid}`])
  return canPin
}
