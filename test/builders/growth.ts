import { cpuTime } from './time.ts'

/**
 * Returns how many times longer work takes for four times the size: about 4 if it is linear, 16 if it is quadratic. Work
 * of less than two milliseconds counts as two, because it says nothing.
 */
export async function growthOf(work: (size: number) => unknown, size: number): Promise<number> {
  await work(size)
  return (await fastest(work, 4 * size)) / Math.max(await fastest(work, size), 2)
}

/** Growth below which work counts as linear, on a machine that is busy with other things. */
export const LINEAR = 10

/** Returns the shortest of several times of the processor that work takes, in milliseconds. */
async function fastest(work: (size: number) => unknown, size: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 3; run++) {
    const before = cpuTime()
    await work(size)
    best = Math.min(best, cpuTime() - before)
  }
  return best
}
