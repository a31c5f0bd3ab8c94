import { spawn } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestedMutant } from './mutant.ts'
import type { Room } from './rooms.ts'
import type { Slice } from './slices.ts'

/** Mutants of a run. */
export interface Tested {
  readonly mutants: readonly TestedMutant[]
  /** False if the time was over before all mutants were tested. */
  readonly isComplete: boolean
}

const ROOT = join(import.meta.dirname, '../..')
/** Folder of results, and of copies of the project in which Stryker changes sources. */
export const OUT = join(ROOT, 'lib/mutation')

/** Seed of all random values, the same for each mutant, so that no mutant is detected because values changed. */
const SEED = '1'

/** Folders that no test of the rooms reads. */
const LEFT_OUT = ['dist', 'lib', 'bench', 'deploy', 'console/dist', 'building/site', 'conformance/scenarios', '.ci']

/** Writes a slice as Stryker does, which counts columns from 0. */
const patternOf = ({ file, from, to, columns }: Slice): string =>
  columns === undefined ? `${file}:${from}-${to}` : `${file}:${from}:${columns[0] - 1}-${to}:${columns[1] - 1}`

/** Settings of Stryker. https://stryker-mutator.io/docs/stryker-js/configuration */
const settingsFor = (slices: readonly Slice[]) => ({
  mutate: slices.map(patternOf),
  testRunner: 'vitest',
  // All test files of the config belong to the room, also those that reach the mutated file by a detour.
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false, pool: 'threads' },
  coverageAnalysis: 'perTest',
  plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'reporter.ts')],
  reporters: ['lines'],
  concurrency: 1,
  ignorePatterns: LEFT_OUT.map(folder => `/${folder}`),
  tempDirName: join(OUT, 'copies'),
  cleanTempDir: 'always',
  // Node runs the sources as they are.
  disableTypeChecks: false,
  // Stryker would rewrite the project's file, with an API that TypeScript 7 lacks.
  tsconfigFile: 'none',
  timeoutMS: 20_000,
  dryRunTimeoutMinutes: 10,
  logLevel: 'warn',
  allowConsoleColors: false,
  warnings: { slow: false },
})

/**
 * Runs Stryker on slices of a room.
 *
 * @param end time at which it is stopped, in Unix milliseconds.
 */
export async function mutate(
  { name, tests, runs, withRedis = false }: Room,
  slices: readonly Slice[],
  end: number,
): Promise<Tested> {
  mkdirSync(OUT, { recursive: true })
  const settings = join(OUT, `${name}.settings.json`)
  const results = join(OUT, `${name}.jsonl`)
  const temporary = mkdtempSync(join(tmpdir(), 'mu-'))
  writeFileSync(settings, JSON.stringify(settingsFor(slices), undefined, 2))
  writeFileSync(results, '')
  const env = {
    ...process.env,
    ...{ SEED, RUNS: String(runs), TMPDIR: temporary, MUTATION_RESULTS: results },
    // Servers would start anew for each mutant, and loads take seconds.
    ...{ POSTGRES_BIN: 'none', SECONDS: '0.2', ...(withRedis ? {} : { REDIS_SERVER: 'none' }) },
    MUTATION_TESTS: JSON.stringify(tests.flatMap(glob => globSync(glob, { cwd: ROOT }))),
  }
  const stryker = join(ROOT, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const clean = (): void => {
    for (const folder of [temporary, join(OUT, 'copies')])
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  try {
    const isComplete = await ended(process.execPath, [stryker, 'run', settings], { env, end, clean })
    return { mutants: readResults(results), isComplete }
  } finally {
    clean()
  }
}

interface Running {
  readonly env: NodeJS.ProcessEnv
  readonly end: number
  /** Called before this process ends because of a signal. */
  readonly clean: () => void
}

/** Runs a program until it ends or the time is over, and returns whether it ended by itself. */
async function ended(program: string, args: readonly string[], { env, end, clean }: Running): Promise<boolean> {
  // A group of its own, so that the processes that it starts can be stopped with it.
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true })
  const stop = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
  const timer = Number.isFinite(end) ? setTimeout(stop, Math.max(0, end - Date.now())) : undefined
  const interrupted = (): void => {
    stop()
    clean()
    process.exit(130)
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) =>
      child.once('error', reject).once('exit', (...outcome) => resolve(outcome)),
    )
    if (code !== 0 && signal !== 'SIGKILL') throw new Error('Stryker failed. Its messages are above.')
    return signal === null
  } finally {
    clearTimeout(timer)
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
  }
}

const readResults = (path: string): readonly TestedMutant[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as TestedMutant)
