import type { Check } from '../checks.ts'
import type { Peer } from '../peer.ts'
import { DEFAULT_SPECS } from '../specs.ts'
import type { CellDocument, Results } from './results.ts'

/* Builds the comparison table of several gateways from their results, leaving out wire dumps. */

/** Totals over a set of cells: how many facts were kept, lost or changed, and how many rules were broken. */
export interface Totals {
  /** Cells that were judged. */
  readonly cells: number
  readonly passed: number
  /** Cells that the gateway does not support. */
  readonly unsupported: number
  readonly kept: number
  readonly lostReported: number
  readonly lostSilently: number
  readonly changed: number
  /** Rules of grammar and behaviour that were checked. */
  readonly rules: number
  readonly broken: number
}

export interface PairTotals extends Totals {
  /** The purpose of the caller's format, such as embeddings. */
  readonly work: string
  readonly caller: string
  readonly upstream: string
}

/** A failed check, the number of cells in which it failed, and a command that reproduces one of the failures. */
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
  /** Date of the run. */
  readonly date: string
  readonly total: Totals
  readonly pairs: readonly PairTotals[]
  readonly failures: readonly FailureGroup[]
}

export interface Matrix {
  readonly schema: 'interlingua-conformance-matrix-1'
  readonly kit: string
  readonly peers: readonly PeerRow[]
}

/** Maximum number of failures listed per peer. */
const MAX_FAILURES = 20

const isFailure = ({ status }: Check): boolean => status === 'fail' || status === 'harness-error'

/** Checks by cell id. */
type ChecksByCell = ReadonlyMap<string, readonly Check[]>

function totalsOf(cells: readonly CellDocument[], byCell: ChecksByCell): Totals {
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
    .slice(0, MAX_FAILURES)
}

function pairsOf(cells: readonly CellDocument[], byCell: ChecksByCell): PairTotals[] {
  const pairs = Map.groupBy(cells, ({ caller, upstream = '' }) => `${caller} ${upstream}`)
  return [...pairs.values()].map(list => {
    const { caller, upstream = '', work = 'session' } = list[0]!
    return { work, caller, upstream, ...totalsOf(list, byCell) }
  })
}

/** Returns the version of a peer, plus the formats whose version differs from the default of `--spec`. */
function versionOf({ target, specs = {} }: Results): string | undefined {
  const otherVersions = Object.entries(DEFAULT_SPECS).flatMap(([format, first]) => {
    const version = specs[format]?.version ?? first
    return version === first ? [] : [`${format}@${version}`]
  })
  return otherVersions.length === 0
    ? target.version
    : [target.version ?? '', `with ${otherVersions.join()}`].join(' ').trim()
}

/** Builds a peer's row from the results of a complete run. */
export function peerRow({ name, title, home, about }: Peer, results: Results): PeerRow {
  const byCell: ChecksByCell = Map.groupBy(results.checks, ({ cell }) => cell)
  const version = versionOf(results)
  return {
    ...{ name, title, home },
    ...(about === undefined ? {} : { about }),
    ...(version === undefined ? {} : { version }),
    date: results.started.slice(0, 10),
    total: totalsOf(results.cells, byCell),
    pairs: pairsOf(results.cells, byCell),
    failures: failuresOf(results),
  }
}
