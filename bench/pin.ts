import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The measured proxy has a core of its own. Load and upstream share another. */
const CORES = { proxy: '0', load: '1' } as const

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

export type Role = keyof typeof CORES

/** The command, started on the core of its role. */
export const pinned = (role: Role, command: readonly string[]): readonly string[] =>
  canPin ? ['taskset', '-c', CORES[role], ...command] : command

/** Moves this process to its core. Returns whether the system allows that. */
export function pinSelf(): boolean {
  if (canPin) spawnSync('taskset', ['-acp', CORES.load, `${process.pid}`])
  return canPin
}

/** Moves processes, with all of their threads, to the core of a role. */
export function pinTree(role: Role, pids: readonly number[]): void {
  if (canPin) for (const pid of pids) spawnSync('taskset', ['-acp', CORES[role], `${pid}`])
}
