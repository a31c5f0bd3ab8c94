import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { writeReport } from '../agents/report.ts'
import { Checkout } from './checkout.ts'
import { Outcomes } from './outcomes.ts'
import { cascade } from './set-ups/cascade.ts'
import { image } from './set-ups/image.ts'
import { oidc } from './set-ups/oidc.ts'
import { packageOfNpm } from './set-ups/package.ts'
import { plain } from './set-ups/plain.ts'
import { release } from './set-ups/release.ts'
import { runtimeOnly } from './set-ups/runtime-only.ts'
import { shared } from './set-ups/shared.ts'
import { tls } from './set-ups/tls.ts'
import { traces } from './set-ups/traces.ts'
import { upstreams } from './set-ups/upstreams.ts'

const HELP = `Installs a fresh clone of what is committed, starts it as a user does, and drives its bundle.

  node test/first-start/main.ts [options]

  --only TEXT      only set-ups whose name has this text
  --checkout DIR   a clone whose packages are installed, instead of a fresh one
  --report FILE    writes the counts, as JSON
`

/** Ways to run the gateway, each started with \`npm start\`. */
const SET_UPS: { readonly [name: string]: (outcomes: Outcomes, checkout: string) => Promise<void> } = {
  'the first start': plain,
  'every kind of upstream': upstreams,
  'a cascade': cascade,
  TLS: tls,
  'PostgreSQL, Redis and two workers': shared,
  'traces and metrics': traces,
  'signing in': oidc,
  'without development packages': runtimeOnly,
  'the package of npm': packageOfNpm,
  'a release': release,
  'the image': image,
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
    if (checkout !== undefined) {
      outcomes.begin('installing')
      await outcomes.try('npm ci prints what it did, and nothing else', () => install(checkout))
    }
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

/** Installs, and checks the output: npm's own lines, without warnings of other Node versions or packages. */
function install(checkout: Checkout): void {
  const { out, fault } = checkout.install()
  const lines = out.split('\n').filter(line => line !== '')
  assert.equal(fault, '')
  assert.equal(lines.filter(line => !/^> |^added \d+ packages in /.test(line)).join('\n'), '')
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
