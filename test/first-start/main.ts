import { parseArgs } from 'node:util'
import { writeReport } from '../agents/report.ts'
import { Checkout } from './checkout.ts'
import { Outcomes } from './outcomes.ts'
import { plain } from './set-ups/plain.ts'

const HELP = `Installs a fresh clone of what is committed, starts it as a user does, and drives its bundle.

  node test/first-start/main.ts [options]

  --only TEXT      only set-ups whose name has this text
  --checkout DIR   a clone whose packages are installed, instead of a fresh one
  --report FILE    writes the counts, as JSON
`

/** Ways to run the gateway, each started with \`npm start\`. */
const SET_UPS: { readonly [name: string]: (outcomes: Outcomes, checkout: string) => Promise<void> } = {
  'the first start': plain,
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    only: { type: 'string', default: '' },
    checkout: { type: 'string' },
    report: { type: 'string' },
  },
})

async function main(outcomes: Outcomes): Promise<void> {
  const checkout = values.checkout === undefined ? new Checkout() : undefined
  try {
    const folder = values.checkout ?? checkout!.folder
    for (const [name, run] of Object.entries(SET_UPS)) {
      if (!name.includes(values.only)) continue
      outcomes.begin(name)
      await run(outcomes, folder).catch(thrown => outcomes.try('the set-up', () => Promise.reject(thrown)))
    }
  } finally {
    checkout?.close()
  }
}

if (values.help) console.log(HELP)
else {
  const outcomes = new Outcomes()
  await main(outcomes)
  const { passed, failed, skipped } = outcomes
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
  writeReport(values.report, outcomes)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}
