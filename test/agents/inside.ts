import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Cell, nameOf, type Outcome, runCell } from './cell.ts'
import { CACHE, folderOf } from './install.ts'
import { excuseOf } from './known.ts'
import { matrix } from './matrix.ts'
import { readOptions } from './options.ts'
import { writeReport } from './report.ts'

/* The part that runs inside the namespace. */

/** Number of cells that run at once. Clients are separate processes, and two of them use both cores. */
const AT_ONCE = 2

/** Folder for the traffic of failed cells, until the next run. */
const KEEP = join(CACHE, 'failed')
rmSync(KEEP, { recursive: true, force: true })
mkdirSync(KEEP, { recursive: true })

const { cells: chosen, report, minutes } = readOptions()
const end = performance.now() + minutes * 60_000
/** Whether the client's package could be installed. A message about missing packages was printed before. */
const isThere = ({ client }: Cell): boolean => existsSync(folderOf(client.package))
const cells = chosen.filter(isThere)
const waiting = minutes === Number.POSITIVE_INFINITY ? [...cells] : inTurns(cells)
const outcomes: Outcome[] = []

/** Orders cells so that each client has its first cell before any has its second. */
function inTurns(list: readonly Cell[]): Cell[] {
  const counts = new Map<string, number>()
  const turns = list.map(cell => {
    const turn = counts.get(cell.client.name) ?? 0
    counts.set(cell.client.name, turn + 1)
    return { cell, turn }
  })
  return turns.toSorted((one, other) => one.turn - other.turn).map(({ cell }) => cell)
}

async function work(): Promise<void> {
  for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
    if (performance.now() > end) {
      waiting.unshift(cell)
      return
    }
    const outcome = await runCell(cell, folderOf(cell.client.package), KEEP)
    outcomes.push(outcome)
    console.log(lineOf(outcome))
  }
}

function lineOf({ cell, faults: [fault], seconds }: Outcome): string {
  const excuse = excuseOf(cell)
  const verdict = fault === undefined ? `passed${excuse === undefined ? '' : ', although it is in known.ts'}` : fault
  return `${nameOf(cell).padEnd(52)} ${seconds.toFixed(1).padStart(5)} s  ${verdict}${fault && excuse ? ` (known: ${excuse})` : ''}`
}

await Promise.all(Array.from({ length: AT_ONCE }, work))

const bad = outcomes.filter(({ faults }) => faults.length > 0)
const known = bad.filter(({ cell }) => excuseOf(cell) !== undefined).length
const failed = bad.length - known
const passed = outcomes.length - bad.length
const skipped = chosen.length - outcomes.length
if (waiting.length > 0)
  console.log(`\nNO TIME FOR ${waiting.length} CELLS, WHICH ARE SKIPPED: ${waiting.map(nameOf).join(', ')}`)
console.log(`\n${matrix(cells, outcomes)}`)
if (bad.length > 0) console.log(`\nwhat was said in cells that failed: ${KEEP}`)
console.log(`\nagents: ${passed} passed, ${failed} failed, ${known} known to fail, ${skipped} skipped`)
writeReport(report, { passed, failed, skipped: known + skipped })
process.exitCode = failed > 0 ? 1 : 0
