import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FIXTURES, goldensOf, goldensThere } from './golden.ts'
import { lossTable, withLossTable } from './known-losses.ts'

/** `npm run golden` writes what it would otherwise compare with. */
const UPDATE = process.env['UPDATE'] === '1'

const LOSSES = 'docs/losses.md'

const GOLDENS = FIXTURES.flatMap(goldensOf)

describe('every fixture in every other format', () => {
  test.each(GOLDENS.map(golden => [golden.path, golden] as const))('%s', (path, { make }) => {
    const made = make()
    if (UPDATE) writeFileSync(path, made)
    expect(existsSync(path) ? readFileSync(path, 'utf8') : 'There is no such golden: run `npm run golden`.').toBe(made)
  })
})

test('no golden without a fixture', () => {
  const known = new Set(GOLDENS.map(({ path }) => path))
  const orphans = goldensThere().filter(path => !known.has(path))
  if (UPDATE) for (const path of orphans) rmSync(path)
  else expect(orphans).toEqual([])
})

test('the table of known losses is that of the goldens', () => {
  const page = readFileSync(LOSSES, 'utf8')
  const fresh = withLossTable(page, lossTable())
  if (UPDATE) writeFileSync(LOSSES, fresh)
  else expect(page).toBe(fresh)
})
