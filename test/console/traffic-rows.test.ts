import { describe, expect, test } from 'vitest'
import { afterGap, EMPTY, isGap, merged, nextOf } from '../../console/src/pages/traffic/merged.ts'
import type { Row } from '../../console/src/pages/traffic/row.ts'

/** A row of a request that began so many seconds after the first one. */
const row = (second: number): Row =>
  ({ id: `req_${second}`, at: new Date(1.8e12 + second * 1000).toISOString(), status: 200, losses: 0 }) as Row
const rows = (from: number, count: number): Row[] => Array.from({ length: count }, (_, at) => row(from + at))

describe('the rows of the list of requests', () => {
  test('that were dropped come back with the next page', () => {
    const full = merged(merged(EMPTY, rows(0, 100)), rows(100, 400))
    expect(nextOf(full, 'after-0')).toEqual({ cursor: 'after-0' })
    const cut = merged(full, rows(500, 30))
    expect(cut.rows).toHaveLength(500)
    // The last page ended with the first row, but the last row that is left is the 31st.
    expect(nextOf(cut, 'after-0')).toEqual({ until: new Date(1.8e12 + 30_001).toISOString() })
    const more = merged({ ...cut, isCut: false }, rows(0, 31), 600)
    expect(more).toMatchObject({ isCut: false, rows: { length: 530 } })
  })

  test('have a gap if a page of newer ones does not reach those that were known', () => {
    const page = { data: rows(200, 100).reverse() as never, next_cursor: 'after-200' }
    expect(isGap(page, row(150).at)).toBe(true)
    expect(isGap(page, row(200).at)).toBe(false)
    expect(isGap({ data: page.data }, row(150).at)).toBe(false)
    expect(isGap(page, undefined)).toBe(false)
    const joined = merged(afterGap(merged(EMPTY, [...rows(0, 151), row(299)]), row(200).at), page.data)
    expect(joined.rows.map(({ id }) => id).sort()).toEqual(
      rows(200, 100)
        .map(({ id }) => id)
        .sort(),
    )
  })
})
