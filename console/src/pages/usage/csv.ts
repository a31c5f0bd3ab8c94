import { send } from '../../api/request.ts'
import { saveText } from '../../ui/save-text.ts'
import type { Field, Where } from './fields.ts'
import { MOST, pathOf, spanOf } from './load.ts'
import { type Range, type Span, STEPS } from './ranges.ts'

interface Csv {
  readonly range: Range
  readonly by: Field | ''
  readonly where: Where
  /** Set for one row per interval and group. The number of groups determines the size of each download. */
  readonly over?: { readonly groups: number }
}

/** Downloads usage as a CSV file, in several requests if it has more rows than one response may have. */
export async function saveCsv({ range, by, where, over }: Csv): Promise<void> {
  const { every, exact } = range
  const fixed = {
    ...{ limit: MOST, percentiles: true as const },
    ...(by === '' ? {} : { by }),
    ...(over === undefined ? {} : { every }),
    ...(exact ? { exact: true as const } : {}),
  }
  const parts: string[] = []
  for (const span of over === undefined ? [range] : spansOf(range, over.groups)) {
    const answer = await send('GET', pathOf('/usage', { ...spanOf(span), ...fixed }, where), {
      headers: { accept: 'text/csv' },
    })
    const text = await answer.text()
    parts.push(parts.length === 0 ? text : text.slice(text.indexOf('\n') + 1))
  }
  saveText(
    parts,
    `usage-${spanOf(range).since.slice(0, 10)}${by === '' ? '' : `-by-${by}`}${over ? `-by-${every}` : ''}.csv`,
  )
}

/** Splits a range into parts that fit into one response each. */
function spansOf({ since, until, every }: Range, groups: number): readonly Span[] {
  const length = Math.max(1, Math.floor(MOST / Math.max(1, groups))) * STEPS[every]
  const spans: Span[] = []
  for (let at = since; at < until; at += length) spans.push({ since: at, until: Math.min(until, at + length) })
  return spans
}
