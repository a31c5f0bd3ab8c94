import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CELLS, type Cell } from './cells.ts'
import { type Effort, measure, type Outcome } from './measure.ts'
import { pinSelf } from './pin.ts'
import { openSetup, type Setup } from './setup.ts'
import { soak } from './soak.ts'
import { heading, line, verdict, writeTable } from './table.ts'
import { measureWorkers, WORKERS } from './workers.ts'

const HELP = `Measures the gateway against a bare proxy that reads nothing, on the loopback.

  npm run bench -- [options]

  --cell TEXT     only cells whose name has this text; may be given again
  --quick         under a minute: one pair of formats, fewer and shorter rounds, no memory
  --json FILE     writes the figures, too
  --readme FILE   writes the table between the bench marks of a Markdown file
  --profile DIR   has the gateway write a CPU profile there
  --soak SECONDS  instead: 500 streams coming and going, and one reader that does not read; memory all along
`

const { values: given } = parseArgs({
  options: {
    cell: { type: 'string', multiple: true },
    quick: { type: 'boolean' },
    json: { type: 'string' },
    readme: { type: 'string' },
    profile: { type: 'string' },
    soak: { type: 'string' },
    help: { type: 'boolean' },
  },
})

const FULL: Effort = { rounds: 9, warm: 1500, round: 500, paced: 100, open: 1000, sessions: 100 }
const QUICK: Effort = { rounds: 3, warm: 500, round: 250, paced: 50, open: 200, sessions: 50 }

async function measureAll(cells: readonly Cell[], effort: Effort): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let setup: Setup | undefined
  let sides: Cell['sides'] | undefined
  for (const cell of cells) {
    // A process that has done other work before would distort the memory figures, so each of these cells gets a new
    // setup.
    if (cell.kind === 'memory' || cell.sides !== sides) {
      await setup?.close()
      setup = undefined
    }
    ;({ sides } = cell)
    setup ??= await openSetup({ sides, profile: given.profile })
    try {
      const outcome = await measure(cell, setup, cell.kind === 'memory' ? { ...effort, rounds: 1 } : effort)
      outcomes.push(outcome)
      console.log(line(outcome))
    } catch (thrown) {
      process.exitCode = 1
      console.log(`${cell.name.padEnd(38)}${String(thrown)}`)
    }
  }
  await setup?.close()
  return outcomes
}

/** Whether a quick run leaves the cell out. */
const isLong = ({ name, kind }: Cell): boolean => kind === 'memory' || !/whole native|chat to messages/.test(name)

async function main(): Promise<void> {
  if (given.help) return console.log(HELP)
  if (given.soak === undefined && (given.cell?.some(text => WORKERS.includes(text)) ?? given.quick !== true))
    await measureWorkers()
  if (!pinSelf()) console.log('No cores to pin to: the figures are less exact.')
  if (given.soak !== undefined) return soak(Number(given.soak))
  const wanted = CELLS.filter(
    cell => given.cell?.some(text => cell.name.includes(text)) ?? !(given.quick && isLong(cell)),
  )
  console.log(heading())
  const outcomes = await measureAll(wanted, given.quick ? QUICK : FULL)
  if (given.json !== undefined)
    writeFileSync(
      given.json,
      `${JSON.stringify(
        outcomes.map(one => ({ ...one, verdict: verdict(one) })),
        null,
        2,
      )}\n`,
    )
  if (given.readme !== undefined) writeTable(given.readme, outcomes)
  if (outcomes.some(one => verdict(one) === 'MISSED')) process.exitCode = 1
}

await main()
