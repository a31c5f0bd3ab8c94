import { type Counts, Steps } from './steps.ts'

/* Finds work that takes more than twice the steps for twice the nodes. */

/** Number of nodes of the smaller of two values. The larger has twice as many. */
export const N = Number(process.env['NODES'] ?? 96)

/** Allowed growth: twice, and the additions of logarithms, growing tables and cuts in byte streams. */
const FACTOR = 2.5
/** Number of steps per node that are ignored, because they happen only now and then. */
const NOISE = 10
/**
 * Number of steps per node that are ignored if they were not counted at the smaller size. The engine forgets functions
 * that it recompiles.
 */
const UNKNOWN = 150

export interface Fault {
  readonly shape: string
  readonly where: string
  readonly steps: string
}

const steps = new Steps(url => /\/(src|linear\/quadratic)\b/.test(url) || url.includes('/eventsource-parser/'))

/**
 * Files whose work for a request has a bound, whatever its size, but begins only above a size: samples of large bodies.
 */
const BOUNDED = /\/src\/gateway\/request-memory\.ts/

type Cells = (n: number) => Iterable<readonly [cell: string, run: () => unknown]>

/**
 * Runs the cells of a shape at both sizes. A cell is, for example, a pair of formats. Functions are counted over all
 * cells. Only what grows in a second measurement, too, is a fault: the engine forgets functions that it recompiles.
 */
export async function grown(shape: string, cells: Cells): Promise<readonly Fault[]> {
  const faults = await measured(shape, cells)
  if (faults.length === 0) return faults
  const again = new Set((await measured(shape, cells)).map(nameOf))
  return faults.filter(fault => again.has(nameOf(fault)))
}

const nameOf = ({ shape, where }: Fault): string => `${shape} ${where}`

async function measured(shape: string, cells: Cells): Promise<readonly Fault[]> {
  const count = async (n: number) => {
    const builtIn = new Map<string, Counts>()
    steps.blocks()
    for (const [cell, run] of cells(n)) {
      steps.builtIn()
      await run()
      builtIn.set(cell, steps.builtIn())
    }
    return { builtIn, blocks: steps.blocks() }
  }
  const once = await count(N)
  const twice = await count(2 * N)
  const faults = [...faultsIn(shape, once.blocks, twice.blocks)]
  for (const [cell, counts] of twice.builtIn)
    faults.push(...faultsIn(`${shape}, ${cell}`, once.builtIn.get(cell) ?? new Map(), counts))
  return faults
}

function* faultsIn(shape: string, once: Counts, twice: Counts): Generator<Fault> {
  for (const [where, count] of twice) {
    if (BOUNDED.test(where)) continue
    const before = once.get(where)
    if (count <= FACTOR * (before ?? UNKNOWN * N) + NOISE * N) continue
    yield { shape, where: where.replace(/file:.*\/(?=src\/|test\/)/, ''), steps: `${before ?? '?'} to ${count}` }
  }
}
