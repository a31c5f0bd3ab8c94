import { cellsOf } from './cells.ts'
import type { Check } from './checks.ts'
import { FORMATS } from './formats/index.ts'
import { type RunOptions, run } from './run.ts'
import type { CellResult } from './run-cells.ts'
import { SESSION_FORMATS } from './sockets/formats.ts'
import { runSessions } from './sockets/run-sessions.ts'
import { sessionCellsOf } from './sockets/session-cells.ts'
import type { SessionScenario } from './sockets/session-scenario.ts'
import type { SessionUpstream } from './sockets/session-upstream.ts'

export interface AllOptions extends RunOptions {
  readonly sessions: readonly SessionScenario[]
  /** Upstream of sessions. Absent in live mode. */
  readonly sessionUpstream?: SessionUpstream
  /** Number of times that every cell runs. */
  readonly repeat?: number
}

/** Splits the options between the two runners. Each runner has its own formats. */
function partsOf({ sessionUpstream, ...options }: AllOptions) {
  const withKnownNames = (formats: object) => ({
    callers: options.callers.filter(name => name in formats),
    ...(options.upstreams === undefined ? {} : { upstreams: options.upstreams.filter(name => name in formats) }),
  })
  const { upstream: _, bounds: __, ...shared } = options
  return {
    cells: { ...options, ...withKnownNames(FORMATS) },
    sessions: {
      ...shared,
      ...withKnownNames(SESSION_FORMATS),
      ...(sessionUpstream === undefined ? {} : { upstream: sessionUpstream }),
    },
  }
}

/** Returns the different outcomes of a check across repetitions. */
function flakyOf(id: string, rounds: readonly (Check | undefined)[]): string[] {
  const statuses = rounds.map(check => check?.status ?? 'absent')
  if (new Set(statuses).size < 2) return []
  const details = rounds.flatMap((check, at) => check?.details?.slice(0, 1).map(one => `run ${at + 1}: ${one}`) ?? [])
  return [`${id}: ${statuses.join(', then ')}${details.length === 0 ? '' : ` (${details.join('; ')})`}`]
}

const isFailure = ({ status }: Check): boolean => status === 'fail' || status === 'harness-error'

/**
 * Merges the repetitions of a cell. The result is the first failed run, plus a check for each difference between runs.
 */
export function mergedOf(rounds: readonly CellResult[]): CellResult {
  const outcome = rounds.find(({ checks }) => checks.some(isFailure)) ?? rounds[0]!
  const ids = [...new Set(rounds.flatMap(({ checks }) => checks.map(({ rule }) => rule)))]
  const details = ids.flatMap(rule =>
    flakyOf(
      rule,
      rounds.map(({ checks }) => checks.find(check => check.rule === rule)),
    ),
  )
  if (details.length === 0) return outcome
  const cell = outcome.cell.id
  const flaky: Check = {
    ...{ id: `${cell}/flaky`, cell, rule: 'flaky', level: 'must', status: 'fail', details },
    ...{ says: 'All repetitions of a cell have the same outcome.', source: 'the kit: --repeat' },
  }
  return { ...outcome, checks: [...outcome.checks, flaky] }
}

/** Runs all selected cells and sessions one after another, with repetitions. */
export async function runAll(options: AllOptions): Promise<CellResult[]> {
  const { repeat = 1, onResult, signal } = options
  const { cells, sessions } = partsOf(options)
  const counts = [cellsOf(cells).length, sessionCellsOf(sessions).length] as const
  const count = (counts[0] + counts[1]) * repeat
  const rounds = new Map<string, CellResult[]>()
  let doneCount = 0
  const collect = (result: CellResult): void => {
    rounds.getOrInsert(result.cell.id, []).push(result)
    onResult?.(result, doneCount++, count)
  }
  for (let round = 0; round < repeat && !signal?.aborted; round++) {
    await run({ ...cells, onResult: collect })
    await runSessions({ ...sessions, onResult: collect })
  }
  return [...rounds.values()].map(mergedOf)
}
