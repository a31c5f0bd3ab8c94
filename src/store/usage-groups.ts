import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { defined } from '../canonical/node.ts'
import type { Tables } from './tables.ts'
import { percentilesOf } from './usage/histogram.ts'
import { DURATION_OFFSET, emptySum, FIRST_BYTE_OFFSET, LATER_OFFSET, type Sum } from './usage-parts.ts'
import type { UsageField, UsageFilter, UsageGroup, UsageRank } from './usage-records.ts'
import { plainText } from './usage-series.ts'
import { type SeriesRow, SUM_COLUMNS } from './usage-tables.ts'

/** Column of `usage_series` for each field. */
export const FIELD_COLUMNS: { readonly [F in UsageField]: keyof SeriesRow } = {
  ...{ key: 'key_id', model: 'model', channel: 'channel', format: 'format', upstreamFormat: 'upstream_format' },
  ...{ door: 'door', group: 'group_name', status: 'status' },
}

type Where = NonNullable<UsageFilter['where']>

/**
 * Builds the condition on series for a filter. An empty value matches series without that field. Names are compared as
 * they are stored.
 */
export function matches(where: Where) {
  return (row: ExpressionBuilder<Tables, 'usage_series'>): Expression<SqlBool> =>
    row.and(
      Object.entries(where).flatMap(([field, value]) => {
        const column = FIELD_COLUMNS[field as UsageField]
        if (value === undefined || column === undefined) return []
        if (column === 'status') return [row(column, '=', /^\d{3}$/.test(value) ? Number(value) : -1)]
        return [value === '' ? row(column, 'is', null) : row(column, '=', plainText(value))]
      }),
    )
}

interface Group {
  readonly by: UsageGroup['by']
  readonly sum: Sum
  keyName: string | undefined
  readonly others?: true
  /** Position in the order of the values of the fields. */
  position: number
}

/** A series in its group, with the name of its key if the groups are those of keys. */
interface Member {
  readonly group: Group
  readonly keyName: string | undefined
}

interface GroupsOptions {
  readonly percentiles?: boolean
  /** Names of the groups to show. All other groups are combined into one. */
  readonly shown?: ReadonlySet<string> | undefined
}

/** Columns that each ranking adds up. */
const RANKS: { readonly [R in UsageRank]: readonly (typeof SUM_COLUMNS)[number][] } = {
  ...{ requests: ['requests'], errors: ['errors'], tokens: ['input', 'output'], cost: ['cost'], losses: ['losses'] },
}

/** Groups series by fields and collects the sums of each group. */
export class Groups {
  private readonly groups: ReadonlyMap<string, Group>
  private readonly bySeries = new Map<number, Member>()
  /** Groups to which a sum was added since the last drain. There may be many more groups than in one interval. */
  private readonly changed = new Set<Group>()
  private readonly percentiles: boolean

  constructor(series: readonly SeriesRow[], fields: readonly UsageField[], options: GroupsOptions = {}) {
    const { percentiles = false, shown } = options
    const groups = new Map<string, Group>()
    const others: Group = { by: {}, sum: emptySum(), keyName: undefined, others: true, position: 0 }
    for (const one of series) {
      const values = fields.map(field => one[FIELD_COLUMNS[field]])
      const name = JSON.stringify(values)
      const isOther = shown !== undefined && !shown.has(name)
      const group = isOther
        ? others
        : (groups.get(name) ?? { by: byOf(fields, values), sum: emptySum(), keyName: undefined, position: 0 })
      groups.set(isOther ? '' : name, group)
      const keyName = !isOther && fields.includes('key') ? (one.key_name ?? undefined) : undefined
      this.bySeries.set(Number(one.id), { group, keyName })
    }
    this.percentiles = percentiles
    this.groups = new Map([...groups].sort(([, a], [, b]) => compareValues(a, b, fields)))
    for (const [position, group] of [...this.groups.values()].entries()) group.position = position
  }

  /** Returns the sum to which a series is added, or undefined if the filter excludes the series. */
  readonly sumOf = (series: number): Sum | undefined => {
    const member = this.bySeries.get(series)
    if (member === undefined) return undefined
    const { group, keyName } = member
    // Sums are added oldest first, so that the latest name stays.
    if (keyName !== undefined) group.keyName = keyName
    this.changed.add(group)
    return group.sum
  }

  /** Returns the names of the `count` groups with the highest rank. */
  top(count: number, rank: UsageRank): ReadonlySet<string> {
    const rankOf = ({ sum }: Group): number => RANKS[rank].reduce((all, column) => all + sum[SUM_INDEXES[column]]!, 0)
    const ranked = [...this.groups].filter(([, { sum }]) => sum[0]! > 0).sort(([, a], [, b]) => rankOf(b) - rankOf(a))
    return new Set(ranked.slice(0, count).map(([name]) => name))
  }

  /** Returns the groups that have requests, largest first, and resets their sums. */
  drain(at: number | undefined): UsageGroup[] {
    const nonEmpty = [...this.changed].filter(({ sum }) => sum[0]! > 0)
    this.changed.clear()
    return nonEmpty
      .sort((a, b) => b.sum[0]! - a.sum[0]! || a.position - b.position)
      .map(group => {
        const result = groupOf(group, at, this.percentiles)
        group.sum.fill(0)
        return result
      })
  }
}

/** Compares groups by the values of the fields. */
function compareValues(a: Group, b: Group, fields: readonly UsageField[]): number {
  const value = ({ by }: Group, field: UsageField): string => by[field] ?? ''
  const field = fields.find(one => value(a, one) !== value(b, one))
  return field === undefined ? 0 : value(a, field) < value(b, field) ? -1 : 1
}

const byOf = (fields: readonly UsageField[], values: readonly (string | number | null)[]): UsageGroup['by'] =>
  Object.fromEntries(fields.flatMap((field, at) => (values[at] === null ? [] : [[field, String(values[at])]])))

const SUM_INDEXES = Object.fromEntries(SUM_COLUMNS.map((column, at) => [column, at])) as {
  readonly [C in (typeof SUM_COLUMNS)[number]]: number
}

function groupOf({ by, sum, keyName, others }: Group, at: number | undefined, percentiles: boolean): UsageGroup {
  const value = (column: (typeof SUM_COLUMNS)[number]): number => sum[SUM_INDEXES[column]]!
  return {
    by,
    ...defined({ at, keyName, others }),
    ...{ requests: value('requests'), errors: value('errors'), input: value('input'), output: value('output') },
    ...{ cacheRead: value('cache_read'), cacheWrite: value('cache_write'), reasoning: value('reasoning') },
    ...{ inputAudio: value('input_audio'), outputAudio: value('output_audio') },
    ...{ cost: value('cost'), unpriced: value('unpriced'), losses: value('losses') },
    ...{ cancelled: sum[LATER_OFFSET]!, estimated: sum[LATER_OFFSET + 1]! },
    lossKinds: { dropped: sum[LATER_OFFSET + 2]!, changed: sum[LATER_OFFSET + 3]!, moved: sum[LATER_OFFSET + 4]! },
    ...(percentiles &&
      defined({
        firstByte: percentilesOf(sum.slice(FIRST_BYTE_OFFSET, DURATION_OFFSET)),
        duration: percentilesOf(sum.slice(DURATION_OFFSET, LATER_OFFSET)),
      })),
  }
}
