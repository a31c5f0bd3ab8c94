import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ensureBundle } from './bundle.ts'
import { AGAINST_BARE, CELLS, type Cell } from './cells.ts'
import { type Effort, measure, middleOf, type Outcome, outcomeOf, type Pair } from './measure.ts'
import { pinSelf } from './pin.ts'
import { openSetup } from './setup.ts'
import { heading, line, verdict, writeTable } from './table.ts'

const HELP = `Measures the gateway against a bare proxy that reads nothing, on the loopback. Both sides run in turn. A difference is
the median over several processes of each side, since two processes of the same code differ by chance, with the interval
that contains the true median in 95 of 100 runs. A difference within its own uncertainty is called none.

  npm run bench -- [options]

  --cell TEXT     only cells whose name has this text; may be given again
  --quick         a minute: one pair of formats, shorter rounds, no memory, one process of each side, so that its
                  intervals say nothing of the chance between processes
  --pairs N       processes of each side; 9 by default, which takes an hour for all cells
  --against DIR   instead of the bare proxy: the gateway of another checkout of the project, with its packages
  --json FILE     writes the figures, too
  --readme FILE   writes the table between the bench marks of a Markdown file
  --profile DIR   has the gateway write a CPU profile there
`

const { values: given } = parseArgs({
  options: {
    cell: { type: 'string', multiple: true },
    quick: { type: 'boolean' },
    pairs: { type: 'string' },
    against: { type: 'string' },
    json: { type: 'string' },
    readme: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean' },
  },
})

const FULL: Effort = {
  pairs: 9,
  rounds: 3,
  warm: 1000,
  longestWarm: 30_000,
  round: 500,
  paced: 100,
  open: 1000,
  sessions: 100,
}
const QUICK: Effort = {
  pairs: 1,
  rounds: 6,
  warm: 500,
  longestWarm: 5000,
  round: 200,
  paced: 50,
  open: 200,
  sessions: 50,
}

/**
 * Measures cells of equal sides together, as one process of each side serves them all. Files are written after each
 * pair, so that a run that is ended early leaves what it has measured.
 */
async function measureAll(cells: readonly Cell[], effort: Effort): Promise<readonly Outcome[]> {
  const finished: Outcome[] = []
  for (const group of groupsOf(cells)) {
    const measured = new Map<Cell, Pair[]>(group.map(cell => [cell, []]))
    for (let pair = 1; pair <= effort.pairs; pair++) {
      await measurePair(measured, effort)
      writeFiles([...finished, ...outcomesOf(measured)])
      if (effort.pairs > 1)
        console.error(`pair ${pair} of ${effort.pairs}: ${measured.size} cells, ${group[0]!.name} …`)
    }
    const outcomes = outcomesOf(measured)
    for (const outcome of outcomes) console.log(line(outcome))
    finished.push(...outcomes)
  }
  return finished
}

const outcomesOf = (measured: ReadonlyMap<Cell, readonly Pair[]>): Outcome[] =>
  [...measured].map(([cell, pairs]) => outcomeOf(cell, pairs))

/** Writes the figures to the files that the options name. */
function writeFiles(outcomes: readonly Outcome[]): void {
  const records = outcomes.map(one => ({ ...one, verdict: verdict(one) }))
  if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify(records, null, 2)}\n`)
  if (given.readme !== undefined) writeTable(given.readme, outcomes)
}

/**
 * Returns the cells that share processes. A process that has done other work before would distort the memory figures, so
 * each of these cells has processes of its own.
 */
const groupsOf = (cells: readonly Cell[]): Iterable<readonly Cell[]> =>
  Map.groupBy(cells, ({ name, kind, sides }) => (kind === 'memory' ? name : sides.join(' '))).values()

/** Measures all cells with one new process of each side. A cell that fails is reported and not measured further. */
async function measurePair(measured: Map<Cell, Pair[]>, effort: Effort): Promise<void> {
  const { value: first } = measured.keys().next()
  if (first === undefined) return
  const setup = await openSetup({ sides: first.sides, profile: given.profile, against: given.against })
  for (const [cell, pairs] of measured) {
    try {
      const rounds = await measure(cell, setup, cell.kind === 'memory' ? { ...effort, rounds: 1 } : effort)
      pairs.push(...(effort.pairs === 1 ? rounds : [middleOf(rounds)]))
    } catch (thrown) {
      process.exitCode = 1
      console.log(`${cell.name}: ${String(thrown)}`)
      measured.delete(cell)
    }
  }
  await setup.close()
}

/** Whether a quick run leaves the cell out. */
const isLong = ({ name, kind }: Cell): boolean => kind === 'memory' || !/whole native|chat to messages/.test(name)

const isOfGateway = ({ sides }: Cell): boolean => sides === AGAINST_BARE

/** Compares a cell with the gateway of another checkout, than which this one may not be slower. */
const againstFormer = (cell: Cell): Cell => ({ ...cell, sides: ['former', 'gateway'], by: 'ratio', floor: 1, goal: 1 })

async function main(): Promise<void> {
  if (given.help) return console.log(HELP)
  ensureBundle()
  if (!pinSelf()) console.log('No cores to pin to: the figures are less exact.')
  const cells = given.against === undefined ? CELLS : CELLS.filter(isOfGateway).map(againstFormer)
  const wanted = cells.filter(
    cell => given.cell?.some(text => cell.name.includes(text)) ?? !(given.quick && isLong(cell)),
  )
  console.log(heading())
  const effort = given.quick ? QUICK : FULL
  const outcomes = await measureAll(wanted, { ...effort, pairs: Number(given.pairs ?? effort.pairs) })
  if (outcomes.some(one => verdict(one) === 'MISSED')) process.exitCode = 1
}

await main()
