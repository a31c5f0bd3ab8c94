/** Options of tests that measure time: they are repeated, a little later, since a busy machine may stall. */
export const TIMED = { retry: { count: 5, delay: 500 } }

/** How long `vi.waitFor` waits for what must happen, on a busy machine, too. */
export const SOON = { timeout: 30_000 } as const

/** Waits until a condition holds; fails after some time. */
export async function until(condition: () => boolean, milliseconds = 30_000): Promise<void> {
  const end = Date.now() + milliseconds
  while (!condition()) {
    if (Date.now() > end) throw new Error(`no success within ${milliseconds} ms`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

export const pause = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

/** The next turn of the event loop before timers, which may be faked. */
export const tick = () => new Promise<void>(resolve => process.nextTick(resolve))
