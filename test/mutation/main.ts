import { globSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { changedSince } from './changed.ts'
import { lastRunOf, placesOf, storeRun, withFates } from './last-run.ts'
import { identityOf, type TestedMutant } from './mutant.ts'
import { PLANTED, wrongFates } from './planted.ts'
import { ROOMS, type Room } from './rooms.ts'
import { isDetected, isSurvivor, type Score, scoreOf } from './score.ts'
import { type Slice, sampleOf, slicesOf } from './slices.ts'
import { mutate } from './stryker.ts'
import { listedSurvivors, outdated, unlisted } from './survivors.ts'

const HELP = `Changes the code of a room in one place at a time, and counts the changes that its tests detect.

  npm run mutate -- [options]

  --room NAME     only this room; may be given again. Without it: every room
  --file PATH     only this file, as a whole; may be given again
  --sample N      instead of a room's usual size: N slices of it (functions, constants, methods)
  --seed S        selects the sample; by default the number of the week, so that weekly runs reach every slice
  --all           every slice of every room; takes days
  --changed REF   only lines of src that differ from the common ancestor with a commit
  --survivors     only the survivors of the room's last run, whose files have not changed since
  --minutes N     stops after this time; what was not reached is not counted
  --rows          also prints unlisted survivors as rows of test/mutation/survivors.json
  --planted       instead: code with known mutants, each of which must have its known fate
  --list          prints the rooms
  --help          prints this text

The exit code is 1 if the score of a room is below 85 % and one of its survivors is not in test/mutation/survivors.json.
Fewer than 100 mutants have no verdict. Results are in lib/mutation.
`

/** Minimum score of a room, in percent. */
const MIN_SCORE = 85
/** Number of mutants below which a score says too little for a verdict. */
const MIN_MUTANTS = 100
const WEEK_MS = 7 * 86_400_000

const { values: given } = parseArgs({
  options: {
    room: { type: 'string', multiple: true },
    file: { type: 'string', multiple: true },
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / WEEK_MS)) },
    all: { type: 'boolean' },
    changed: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
    survivors: { type: 'boolean' },
    rows: { type: 'boolean' },
    planted: { type: 'boolean' },
    list: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})

/** Slices of a room that a run mutates. */
interface Selection {
  readonly room: Room
  readonly slices: readonly Slice[]
  /** True if the slices were drawn at random. */
  readonly isSample: boolean
}

const filesOf = ({ files }: Room): readonly string[] => files.flatMap(glob => globSync(glob)).sort()
const cut = (files: readonly string[]) => files.flatMap(file => slicesOf(file, readFileSync(file, 'utf8')))

/** Returns what the options select of a room. */
function selectionOf(room: Room, changed: readonly Slice[] | undefined): Selection {
  if (given.survivors === true) {
    const { mutants, isSample } = lastRunOf(room.name)
    return { room, slices: placesOf(mutants), isSample }
  }
  const files = filesOf(room)
  if (changed !== undefined)
    return { room, slices: changed.filter(({ file }) => files.includes(file)), isSample: false }
  if (given.file !== undefined)
    return { room, slices: cut(files.filter(file => given.file!.includes(file))), isSample: false }
  const slices = cut(files)
  const count = given.sample === undefined ? room.sample : Number(given.sample)
  if (given.all === true || count === undefined || count >= slices.length) return { room, slices, isSample: false }
  return { room, slices: sampleOf(slices, count, Number(given.seed)), isSample: true }
}

async function main(): Promise<boolean> {
  if (given.help === true) return print(HELP)
  if (given.list === true) return print(ROOMS.map(describe).join('\n'))
  if (given.planted === true) return planted()
  const unknown = given.room?.filter(name => !ROOMS.some(room => room.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`Unknown room: ${unknown.join(', ')}.`)
  const rooms = ROOMS.filter(({ name }) => given.room === undefined || given.room.includes(name))
  const changed = given.changed === undefined ? undefined : changedSince(given.changed)
  const selections = rooms.map(room => selectionOf(room, changed)).filter(({ slices }) => slices.length > 0)
  if (selections.length === 0) return print('Nothing to mutate.')
  const end = Date.now() + Number(given.minutes) * 60_000
  let isFine = true
  for (const selection of selections) {
    if (Date.now() >= end) print(`${selection.room.name}: not reached.`)
    else isFine = (await mutateRoom(selection, end)) && isFine
  }
  return isFine
}

/** Mutates a room, prints its score and its unlisted survivors, and returns the verdict. */
async function mutateRoom({ room, slices, isSample }: Selection, end: number): Promise<boolean> {
  const tested = await mutate(room, slices, end)
  const before = given.survivors === true ? lastRunOf(room.name) : undefined
  const mutants = before === undefined ? tested.mutants : withFates(before.mutants, tested.mutants)
  const sample = before === undefined ? slices : before.slices
  storeRun(room.name, { slices: sample, isSample, mutants })
  const score = scoreOf(mutants, isSample ? sample : undefined)
  const list = listedSurvivors()
  const survivors = mutants.filter(isSurvivor)
  const missing = unlisted(survivors, list)
  const ending = tested.isComplete ? '' : ' (stopped)'
  print(`${room.name.padEnd(10)} ${scoreLine(score, mutants)}, ${missing.length} not listed${ending}`)
  for (const survivor of missing) print(describeMutant(survivor))
  if (given.rows === true) print(rowsOf(missing))
  for (const { file, identity } of outdated(mutants.filter(isDetected), survivors, list))
    print(`  detected now, remove its row: ${file}: ${identity.line}: ${identity.replacement}`)
  return missing.length === 0 || score.percent >= MIN_SCORE || score.detected + score.survived < MIN_MUTANTS
}

async function planted(): Promise<boolean> {
  const { mutants } = await mutate(PLANTED, cut(PLANTED.files), Number.POSITIVE_INFINITY)
  const faults = wrongFates(mutants)
  for (const fault of faults) print(fault)
  if (faults.length === 0) print('Every planted mutant has its fate.')
  return faults.length === 0
}

function print(text: string): true {
  console.log(text)
  return true
}

const describe = (room: Room): string => {
  const files = filesOf(room)
  const extent = room.sample === undefined ? 'the whole room' : `${room.sample} slices a week`
  return `${room.name.padEnd(10)} ${files.length} files, ${cut(files).length} slices; ${extent}`
}

const percent = (value: number): string => `${value.toFixed(1)} %`

function scoreLine({ detected, survived, percent: share, bounds }: Score, mutants: readonly TestedMutant[]): string {
  const of = (status: string) => mutants.filter(one => one.status === status).length
  const range = bounds === undefined ? '' : ` (${bounds.map(percent).join(' to ')})`
  const details = [
    `${of('Timeout')} by timeout`,
    `${of('NoCoverage')} not covered`,
    `${of('RuntimeError')} that do not load`,
  ]
  return `${percent(share)}${range}: ${detected} of ${detected + survived} (${details.join(', ')})`
}

function describeMutant(mutant: TestedMutant): string {
  const { mutator, original, replacement } = identityOf(mutant)
  return `  ${mutant.file}:${mutant.start.line} ${mutator}${mutant.status === 'NoCoverage' ? ' (not covered)' : ''}\n    - ${original}\n    + ${replacement}`
}

const rowsOf = (mutants: readonly TestedMutant[]): string =>
  JSON.stringify(
    Object.fromEntries(
      Map.groupBy(mutants, ({ file }) => file)
        .entries()
        .map(([file, ofFile]) => [file, ofFile.map(one => ({ ...identityOf(one), reason: '' }))]),
    ),
    undefined,
    2,
  )

process.exitCode = (await main()) ? 0 : 1
