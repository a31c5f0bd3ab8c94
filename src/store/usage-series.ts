import { createHash } from 'node:crypto'
import type { UsageRow } from '../usage/row.ts'
import type { SeriesRow } from './usage-tables.ts'

/** Characters of a name; callers and upstreams have a say in some of them. */
const LONGEST = 200

/** A text that every engine takes: of bounded length, without NUL and halves of characters. */
export function plainText(text: string | undefined, longest = LONGEST): string | null {
  if (text === undefined) return null
  const short = text.length > longest ? text.slice(0, longest) : text
  return (short.includes('\0') ? short.replaceAll('\0', '') : short).toWellFormed()
}

/** Whether a request failed. */
export const isFailed = ({ status, error }: Pick<UsageRow, 'status' | 'error'>): boolean =>
  status >= 400 || error !== undefined

/** Beyond which the series that were met are forgotten and made anew. */
const MOST = 20_000

/** Finds the series of rows: those with the same values have the same. */
export class SeriesIndex {
  private readonly known = new Map<string, SeriesRow>()

  /** The series of a request; a model that no channel was tried for is not part of it, as callers name what they like. */
  of(row: UsageRow): SeriesRow {
    const { key = '', keyName = '', group = '', model = '', channel = '', upstreamFormat = '', status } = row
    const failed = isFailed(row) ? 1 : 0
    const routed = channel === '' ? '' : model
    const name = `${key}\n${keyName}\n${group}\n${routed}\n${channel}\n${row.format}\n${upstreamFormat}\n${row.door}\n${status}\n${failed}`
    return this.known.get(name) ?? this.add(name, row, failed)
  }

  private add(name: string, row: UsageRow, failed: number): SeriesRow {
    const made: Omit<SeriesRow, 'id'> = {
      key_id: plainText(row.key),
      key_name: plainText(row.keyName),
      group_name: plainText(row.group),
      model: row.channel === undefined ? null : plainText(row.model),
      channel: plainText(row.channel),
      format: plainText(row.format)!,
      upstream_format: plainText(row.upstreamFormat),
      door: plainText(row.door)!,
      status: row.status,
      failed,
    }
    const series = { id: idOf(made), ...made }
    if (this.known.size >= MOST) this.known.clear()
    this.known.set(name, series)
    return series
  }
}

/** 53 bits of a hash, so that a series has the same number in every process: it is never looked up to be written. */
function idOf(series: Omit<SeriesRow, 'id'>): number {
  const hash = createHash('sha256')
    .update(JSON.stringify(Object.values(series)))
    .digest()
  return Number(hash.readBigUInt64BE() >> 11n)
}
