import { createHash } from 'node:crypto'
import { isFailed, type UsageRow } from './usage/row.ts'
import { SeriesModels } from './usage-models.ts'
import type { SeriesRow } from './usage-tables.ts'

/** Maximum length of a name, in characters. Callers and upstreams choose some of the names. */
const MAX_NAME_LENGTH = 200

/** Makes text storable by every engine: limits its length and removes NUL and lone surrogates. */
export function plainText(text: string | undefined, maxLength = MAX_NAME_LENGTH): string | null {
  if (text === undefined) return null
  const short = text.length > maxLength ? text.slice(0, maxLength) : text
  return (short.includes('\0') ? short.replaceAll('\0', '') : short).toWellFormed()
}

/** Maximum number of series in memory. At the limit, all of them are dropped and computed again. */
const MAX_SERIES = 20_000

/** Tree of series with one field per level. Lookups are faster than building a combined key. */
type Level = Map<string | number, Level | SeriesRow>

/** Finds the series of a row. Rows with equal fields share a series. */
export class SeriesIndex {
  private readonly known: Level = new Map()
  private readonly models = new SeriesModels()
  private count = 0

  /** Returns the series of a row. `SeriesModels` says whether it includes the model, because callers can invent names. */
  of(row: UsageRow): SeriesRow {
    const { key = '', keyName = '', group = '', channel = '', upstreamFormat = '', status } = row
    const failed = isFailed(row) ? 1 : 0
    const model = this.models.of(row)
    let level = childOf(this.known, key)
    level = childOf(level, keyName)
    level = childOf(level, group)
    level = childOf(level, model ?? '')
    level = childOf(level, channel)
    level = childOf(level, row.format)
    level = childOf(level, upstreamFormat)
    level = childOf(level, row.door)
    const last = 2 * status + failed
    return (level.get(last) as SeriesRow | undefined) ?? this.add(level, last, row, model, failed)
  }

  private add(level: Level, last: number, row: UsageRow, model: string | undefined, failed: number): SeriesRow {
    const fields: Omit<SeriesRow, 'id'> = {
      key_id: plainText(row.key),
      key_name: plainText(row.keyName),
      group_name: plainText(row.group),
      model: plainText(model),
      channel: plainText(row.channel),
      format: plainText(row.format)!,
      upstream_format: plainText(row.upstreamFormat),
      door: plainText(row.door)!,
      status: row.status,
      failed,
    }
    const series = { id: idOf(fields), ...fields }
    level.set(last, series)
    if (++this.count > MAX_SERIES) {
      this.known.clear()
      this.count = 0
    }
    return series
  }
}

function childOf(level: Level, value: string): Level {
  const known = level.get(value)
  if (known !== undefined) return known as Level
  const child: Level = new Map()
  level.set(value, child)
  return child
}

/** Returns 53 bits of a hash, so that every process computes the same id without a lookup. */
function idOf(series: Omit<SeriesRow, 'id'>): number {
  const hash = createHash('sha256')
    .update(JSON.stringify(Object.values(series)))
    .digest()
  return Number(hash.readBigUInt64BE() >> 11n)
}
