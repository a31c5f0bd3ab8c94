/** For tests that look at the clock: a machine that is busy elsewhere stalls now and then. */
export const TIMED = { retry: 3 }

export async function until(condition: () => boolean, milliseconds = 20_000): Promise<void> {
  const end = Date.now() + milliseconds
  while (!condition()) {
    if (Date.now() > end) throw new Error('waited in vain')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

export const pause = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

/** The next turn of the event loop before timers, which may be faked. */
export const tick = () => new Promise<void>(resolve => process.nextTick(resolve))
