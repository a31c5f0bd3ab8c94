import { nameOf } from './cell.ts'
import { install } from './install.ts'
import { findNamespace, runWithin } from './namespace.ts'
import { readOptions } from './options.ts'
import { writeReport } from './report.ts'
import { Unavailable } from './run.ts'
import type { Package } from './versions.ts'

const HELP = `Runs real clients through the gateway, before strict upstreams, in a network of their own.

  npm run agents -- [options]

  --all            every client × upstream × scenario; otherwise those that CI runs
  --cell TEXT      only cells whose name has this text; may be given again: then it has all of them
  --list           only says which cells they are
  --minutes N      begins no cell after N minutes; clients take turns, and the others are counted as skipped
  --report FILE    writes the counts, as JSON
`

/** Exit code that CI interprets as "not run" (EX_TEMPFAIL). */
const NOT_RUN = 75

const { cells, list, help, report } = readOptions()

/** Installs missing packages and continues inside a namespace. Returns the exit code of the inner program. */
async function run(): Promise<number> {
  const way = findNamespace()
  if (way === undefined) return notRun('no network namespace can be made here (unshare, ip)')
  const packages = new Set(cells.map(({ client }) => client.package))
  const installed = [...packages].filter(isInstalled)
  if (installed.length === 0) return notRun('no client can be installed')
  return runWithin(way, [process.execPath, `${import.meta.dirname}/inside.ts`, ...process.argv.slice(2)])
}

/** Installs a package. Without it, prints which cells are skipped. */
function isInstalled(name: Package): boolean {
  try {
    install(name)
    return true
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown
    const count = cells.filter(({ client }) => client.package === name).length
    console.log(`\nWITHOUT ${name.toUpperCase()}, ${count} CELLS ARE SKIPPED: ${thrown.message}\n`)
    return false
  }
}

function notRun(why: string): number {
  console.log(`\nAGENTS NOT RUN: ${why}`)
  writeReport(report, { passed: 0, failed: 0, skipped: cells.length })
  return NOT_RUN
}

if (help) console.log(HELP)
else if (list) for (const cell of cells) console.log(nameOf(cell))
else process.exitCode = await run()
