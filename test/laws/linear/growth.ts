import { type Counts, Steps } from './steps.ts'

/* What takes more than twice the steps for twice the nodes. */

/** Nodes of the smaller of two values; the larger has twice as many. */
export const N = Number(process.env['NODES'] ?? 96)

/** Twice, and what logarithms, tables that grow and cuts in streams of bytes add. */
const FACTOR = 2.5
/** Steps per node that say nothing: of what is done now and then, and not for each node. */
const NOISE = 10
/** Steps per node of what was not counted at the smaller size, as the engine forgets functions it compiles anew. */
const UNKNOWN = 150

export interface Fault {
  readonly shape: string
  readonly where: string
  readonly steps: string
}

const steps = new Steps(url => /\/(src|linear\/quadratic)\b/.test(url) || url.includes('/eventsource-parser/'))

/** Runs the cells of a shape at both sizes. A cell is one pair of formats, say; functions are counted over all cells. */
export async function grown(
  shape: string,
  cells: (n: number) => Iterable<readonly [cell: string, run: () => unknown]>,
): Promise<readonly Fault[]> {
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
    const before = once.get(where)
    if (count <= FACTOR * (before ?? UNKNOWN * N) + NOISE * N) continue
    yield { shape, where: where.replace(/file:.*\/(?=src\/|test\/)/, ''), steps: `${before ?? '?'} to ${count}` }
  }
}
