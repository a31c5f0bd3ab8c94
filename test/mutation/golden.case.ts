import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FIXTURES, goldensOf } from '../golden.ts'

/* The goldens of `test/golden.test.ts`, without its pages, which take a minute. */

const GOLDENS = FIXTURES.flatMap(goldensOf).map(golden => [golden.path, golden] as const)

test.each(GOLDENS)('%s', (path, { make }) => {
  expect(existsSync(path) ? readFileSync(path, 'utf8') : '').toBe(make())
})
