import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cellsOf } from '../../../src/kit/conformance/cells.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { judge } from '../../../src/kit/conformance/judge.ts'
import { readScenarios } from '../../../src/kit/conformance/scenario.ts'
import { idealRecords } from './ideal-target.ts'
import { rightVariants } from './right-variants.ts'

/* A right target that spells its messages otherwise passes. `RUNS` is the number of cells to draw, up to all. */

const ALL = Object.keys(FORMATS)
const CELLS = cellsOf({ scenarios: readScenarios(), callers: ALL, upstreams: ALL })
const RUNS = Math.min(CELLS.length, Number(process.env['RUNS'] ?? 16))
const drawn = fc.sample(fc.subarray(CELLS, { minLength: RUNS, maxLength: RUNS }), 1)[0]!

test.each(drawn.map(cell => [cell.id, cell] as const))('%s', async (_, cell) => {
  const records = await idealRecords(cell)
  for (const { name, value } of rightVariants(records, cell.caller.turns !== undefined)) {
    const failed = judge(cell, value).filter(({ status }) => status === 'fail' || status === 'harness-error')
    expect(
      failed.map(({ rule, details }) => `${rule}: ${details}`),
      name,
    ).toEqual([])
  }
})
