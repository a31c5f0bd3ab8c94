import { readdirSync, readFileSync } from 'node:fs'

/** The fields of `/proc/PID/stat` from the state on, which is the third one (proc_pid_stat(5)). */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

const STATE = 3
const [PARENT, USER, KERNEL, USER_OF_ENDED, KERNEL_OF_ENDED, PAGES] = [4, 14, 15, 16, 17, 24].map(
  field => field - STATE,
) as [number, number, number, number, number, number]

/** Microseconds of one clock tick: Linux counts CPU time in hundredths of a second. */
const TICK = 10_000
const PAGE = 4096

/** Returns a process and all that descend from it. */
export function treeOf(root: number): readonly number[] {
  const children = Map.groupBy(
    readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(Number),
    pid => Number(statOf(pid)?.[PARENT]),
  )
  const found: number[] = []
  const visit = (pid: number): void => {
    found.push(pid)
    for (const child of children.get(pid) ?? []) visit(child)
  }
  visit(root)
  return found
}

/** CPU time of processes, with their children that ended, in microseconds. */
export const cpuOf = (pids: readonly number[]): number =>
  TICK * sumOf(pids, [USER, KERNEL, USER_OF_ENDED, KERNEL_OF_ENDED])

/** Resident memory of processes, in bytes. */
export const memoryOf = (pids: readonly number[]): number => PAGE * sumOf(pids, [PAGES])

const sumOf = (pids: readonly number[], fields: readonly number[]): number =>
  pids.flatMap(pid => fields.map(field => Number(statOf(pid)?.[field] ?? 0))).reduce((sum, value) => sum + value, 0)
