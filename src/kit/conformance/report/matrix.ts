import type { Check } from '../checks.ts'
import type { Peer } from '../peer.ts'
import { DEFAULT_SPECS } from '../specs.ts'
import type { CellDocument, Results } from './results.ts'

/* The results of several gateways side by side, without their wire dumps. */

/** Counts of facts by their fate, and of broken rules, over some cells. */
export interface Shares {
  /** Cells that were judged, and those without a failure. */
  readonly cells: number
  readonly passed: number
  /** Cells that the gateway does not have. */
  readonly unsupported: number
  readonly kept: number
  readonly lostReported: number
  readonly lostSilently: number
  readonly changed: number
  /** Rules of grammar and behaviour that were checked, and broken. */
  readonly rules: number
  readonly broken: number
}

export interface PairShares extends Shares {
  /** The purpose of the caller's format, such as embeddings. */
  readonly work: string
  readonly caller: string
  readonly upstream: string
}

/** One check that failed, in how many cells, and the command that repeats one of them. */
export interface FailureGroup {
  readonly rule: string
  readonly says: string
  readonly source: string
  readonly cells: number
  readonly example: string
  readonly detail: string
  readonly command: string
}

export interface PeerRow {
  readonly name: string
  readonly title: string
  readonly home: string
  readonly about?: string
  readonly version?: string
  /** Day of the run. */
  readonly date: string
  readonly total: Shares
  readonly pairs: readonly PairShares[]
  readonly failures: readonly FailureGroup[]
}

export interface Matrix {
  readonly schema: 'interlingua-conformance-matrix-1'
  readonly kit: string
  readonly peers: readonly PeerRow[]
}

/** Failures of a peer that are listed. */
const MOST_FAILURES = 20

const isFailure = ({ status }: Check): boolean => status === 'fail' || status === 'harness-error'

/** The checks of each cell. */
type ByCell = ReadonlyMap<string, readonly Check[]>

function sharesOf(cells: readonly CellDocument[], byCell: ByCell): Shares {
  const lists = cells.map(({ id }) => byCell.get(id) ?? [])
  const judged = lists.filter(checks => checks.some(({ status }) => status !== 'unsupported'))
  const checks = judged.flat()
  const facts = (meaning: Check['meaning']): number => checks.filter(check => check.meaning === meaning).length
  const rules = checks.filter(({ meaning, level }) => meaning === undefined && level === 'must')
  return {
    cells: judged.length,
    passed: judged.filter(list => !list.some(isFailure)).length,
    unsupported: cells.length - judged.length,
    ...{ kept: facts('kept'), lostReported: facts('lost-reported') },
    ...{ lostSilently: facts('lost-silently'), changed: facts('changed') },
    rules: rules.length,
    broken: rules.filter(isFailure).length,
  }
}

function failuresOf({ checks, cells }: Results): FailureGroup[] {
  const commands = new Map(cells.map(({ id, command }) => [id, command]))
  const groups = Map.groupBy(checks.filter(isFailure), ({ rule }) => rule.replaceAll(/\[\d+\]/g, '[#]'))
  return [...groups]
    .map(([rule, list]): FailureGroup => {
      const { says, source, id, details = [], cell } = list[0]!
      const count = new Set(list.map(check => check.cell)).size
      const detail = (details[0] ?? '').slice(0, 200)
      return { rule, says, source, cells: count, example: id, detail, command: commands.get(cell) ?? '' }
    })
    .sort((a, b) => b.cells - a.cells)
    .slice(0, MOST_FAILURES)
}

function pairsOf(cells: readonly CellDocument[], byCell: ByCell): PairShares[] {
  const pairs = Map.groupBy(cells, ({ caller, upstream = '' }) => `${caller} ${upstream}`)
  return [...pairs.values()].map(list => {
    const { caller, upstream = '', work = 'session' } = list[0]!
    return { work, caller, upstream, ...sharesOf(list, byCell) }
  })
}

/** The version of a peer, and those of formats that are not the ones of a run without `--spec`. */
function versionOf({ target, specs = {} }: Results): string | undefined {
  const others = Object.entries(DEFAULT_SPECS).flatMap(([format, first]) => {
    const version = specs[format]?.version ?? first
    return version === first ? [] : [`${format}@${version}`]
  })
  return others.length === 0 ? target.version : [target.version ?? '', `with ${others.join()}`].join(' ').trim()
}

/** The row of one peer, from the results of a whole run. */
export function peerRow({ name, title, home, about }: Peer, results: Results): PeerRow {
  const byCell: ByCell = Map.groupBy(results.checks, ({ cell }) => cell)
  const version = versionOf(results)
  return {
    ...{ name, title, home },
    ...(about === undefined ? {} : { about }),
    ...(version === undefined ? {} : { version }),
    date: results.started.slice(0, 10),
    total: sharesOf(results.cells, byCell),
    pairs: pairsOf(results.cells, byCell),
    failures: failuresOf(results),
  }
}
