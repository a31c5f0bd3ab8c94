import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Json } from '../../src/canonical/node.ts'
import { seedOfRun } from '../seed.ts'
import { Reached } from './coverage.ts'
import type { Finding } from './finding.ts'
import type { Target } from './target.ts'

const HELP = `Fuzzes every reader: mutates inputs, keeps those that reach new code, and checks laws that hold for any input.

  npm run fuzz -- [options]

  --target TEXT   only targets whose name has this text; may be given again
  --seconds N     time for each target; 60 by default
  --runs N        instead of a time: this many inputs for each target, so that equal seeds do equal work
  --seed N        seed of all random values; by default a hash of the tree, as in the tests
  --input FILE    instead: runs the input of one finding again, for the one target that is named
  --out DIR       folder of the findings, lib/fuzz by default
  --planted       instead: readers with planted faults, all of which it must find
  --json          prints the outcome as JSON
  --list          prints the targets
  --help          prints this text

Findings are printed and written as JSON, as small as they could be made. The exit code is 1 if there is any. While a
run has a time, \`running.json\` in the folder is the input that runs, in case that it never ends.
`

const { values: given } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: [''] },
    seconds: { type: 'string', default: '60' },
    runs: { type: 'string' },
    seed: { type: 'string' },
    input: { type: 'string' },
    out: { type: 'string', default: join(import.meta.dirname, '../../lib/fuzz') },
    planted: { type: 'boolean' },
    json: { type: 'boolean' },
    list: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})

async function main(): Promise<void> {
  if (given.help === true) {
    process.stdout.write(HELP)
    return
  }
  // Modules are counted from here on.
  const all =
    given.planted === true ? (await import('./planted.ts')).PLANTED : (await import('./targets/index.ts')).TARGETS
  const targets = all.filter(({ name }) => given.target.some(text => name.includes(text)))
  if (targets.length === 0) throw new Error(`No target has ${given.target.join(' or ')} in its name.`)
  if (given.list === true) for (const { name, inputs } of targets) console.log(`${name.padEnd(28)} ${inputs}`)
  else if (given.input !== undefined) await again(targets, given.input)
  else await run(targets)
}

async function run(targets: readonly Target[]): Promise<void> {
  const { fuzz } = await import('./fuzzer.ts')
  const seed = seedOfRun(given.seed === undefined ? process.env : { SEED: given.seed })
  const outcomes = []
  mkdirSync(given.out, { recursive: true })
  for (const target of targets) {
    const reached = new Reached()
    const end = Date.now() + Number(given.seconds) * 1000
    const isOver = (executions: number, findings: number): boolean =>
      (given.planted === true && findings > 0) ||
      (given.runs === undefined ? Date.now() >= end : executions >= Number(given.runs))
    const outcome = await fuzz(target, reached, { seed, isOver, ...(given.runs === undefined ? { running } : {}) })
    const share = reached.share(target.files)
    outcomes.push({ target: target.name, ...outcome, blocks: share.reached, allBlocks: share.all })
    if (given.json !== true) report(target, outcome, share)
    if (outcome.findings.length > 0) process.exitCode = 1
  }
  if (given.json === true) console.log(JSON.stringify({ seed, outcomes: outcomes.map(printable) }))
  else console.log(`Random values were drawn from seed ${seed}: --seed ${seed} draws them again.`)
}

/** Returns an outcome whose inputs are texts, as they may be nested deeply. */
const printable = <T extends { readonly findings: readonly Finding[] }>(outcome: T) => ({
  ...outcome,
  findings: outcome.findings.map(({ input, ...finding }) => ({
    ...finding,
    input: JSON.stringify(input).slice(0, 2000),
  })),
})

/** Keeps the input that runs in a file, in case that it never ends. */
function running(input: Json): void {
  writeFileSync(join(given.out, 'running.json'), `{"input":${JSON.stringify(input)}}`)
}

type Run = Awaited<ReturnType<typeof import('./fuzzer.ts')['fuzz']>>

function report({ name }: Target, outcome: Run, share: { readonly reached: number; readonly all: number }): void {
  const { executions, seeds, kept, findings } = outcome
  const percent = ((100 * share.reached) / Math.max(share.all, 1)).toFixed()
  console.log(
    `${name.padEnd(28)} ${String(executions).padStart(8)} runs, ${seeds} seeds, ${kept} kept, ${share.reached} of ${share.all} blocks (${percent} %), ${findings.length} findings`,
  )
  for (const [index, { law, message, input }] of findings.entries()) {
    const file = join(given.out, `${name.replaceAll(':', '-')}-${index + 1}.json`)
    // Text is joined, because the input may be nested as deeply as can be written.
    const head = JSON.stringify({ target: name, law, message }).slice(0, -1)
    writeFileSync(file, `${head},"input":${JSON.stringify(input)}}\n`)
    console.log(`  ${law}: ${message.split('\n').slice(0, 6).join('\n    ').slice(0, 1500)}\n    ${file}`)
  }
}

async function again([target]: readonly Target[], file: string): Promise<void> {
  const { broken } = await import('./oracles.ts')
  const { sizeOf } = await import('./finding.ts')
  const { readFileSync } = await import('node:fs')
  const { input } = JSON.parse(readFileSync(file, 'utf8'))
  target!.seeds(1)
  const fault = await broken(target!, input, sizeOf(input) ?? 0)
  console.log(fault === undefined ? 'It breaks no law.' : `${fault.law}: ${fault.message}`)
  if (fault !== undefined) process.exitCode = 1
}

await main()
// Readers of forms and files may leave timers behind.
process.exit()
