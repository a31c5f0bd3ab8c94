/** Options of tests that measure time. They are repeated a little later, because a busy machine may stall. */
export const TIMED = { retry: { count: 5, delay: 500 } }

/** Timeout of `vi.waitFor`, long enough for a busy machine. */
export const SOON = { timeout: 30_000 } as const

/** Waits until a condition holds. Fails after some time. */
export async function until(condition: () => boolean, milliseconds = 30_000): Promise<void> {
  const end = Date.now() + milliseconds
  while (!condition()) {
    if (Date.now() > end) throw new Error(`no success within ${milliseconds} ms`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

export const pause = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

/** Waits for the next turn of the event loop without timers, which may be faked. */
export const tick = () => new Promise<void>(resolve => process.nextTick(resolve))

/**
 * Returns the processor time of this thread in milliseconds. Unlike a clock, it does not count what else the machine
 * does.
 */
export function cpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Runs synchronous work and returns the processor time that it took, in milliseconds. */
export function cpuTimeOf(work: () => unknown): number {
  const before = cpuTime()
  work()
  return cpuTime() - before
}
