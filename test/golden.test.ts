import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { testedTable } from '../building/site/client-pages.ts'
import { providerTable } from '../building/site/provider-pages.ts'
import { dialectTable } from './dialect-table.ts'
import { fieldTables } from './field-table.ts'
import { flagList, mappingTable, missingTable, PAGED } from './format-pages.ts'
import { expectSection, UPDATE } from './generated-page.ts'
import { FIXTURES, goldensOf, goldensThere } from './golden.ts'
import { lossTable } from './known-losses.ts'
import { routeTable } from './route-table.ts'
import { PAGE_SECTIONS, SETTINGS, settingTable } from './setting-tables.ts'
import { trapsIn, withTests } from './trap-table.ts'

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
  expectSection('docs/losses.md', 'losses', lossTable())
})

describe('the page of formats', () => {
  test('lists every endpoint of a format', () => {
    expectSection('docs/formats.md', 'endpoints', routeTable())
  })

  test('shows every field where the writers put it', () => {
    expectSection('docs/formats.md', 'fields', fieldTables())
  })
})

describe.each(PAGED)('the page of %s', format => {
  const page = `docs/formats/${format}.md`

  test.each(['request', 'result'] as const)('shows where each field of a %s is, and what loses it', direction => {
    expectSection(page, direction, mappingTable(format, direction))
    expectSection(page, `${direction}-missing`, missingTable(format, direction))
  })

  test('names the flags', () => expectSection(page, 'flags', flagList(format)))
})

test('the page of dialects lists every flag', () => {
  expectSection('docs/dialects.md', 'flags', dialectTable())
})

test('the page of clients lists the tested packages', () => {
  expectSection('docs/clients.md', 'tested', testedTable())
})

test('the page of providers lists every preset', () => {
  expectSection('docs/providers.md', 'providers', providerTable())
})

describe('the page of settings', () => {
  test.each(Object.keys(PAGE_SECTIONS))('lists every setting of %s', section => {
    expectSection('docs/settings.md', section, settingTable(section))
  })

  test('has every setting', () => {
    const listed = new Set(Object.values(PAGE_SECTIONS).flat())
    expect(SETTINGS.filter(({ path }) => !listed.has(path[0]!))).toEqual([])
  })
})

describe('the page of traps', () => {
  const page = readFileSync('docs/traps.md', 'utf8')

  test('names the tests of every trap', () => {
    const fresh = withTests(page)
    if (UPDATE) writeFileSync('docs/traps.md', fresh)
    else expect(page).toBe(fresh)
  })

  test('has a row for every trap that is cited, and a test for every row', () => {
    const rows = new Set([...page.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number)))
    const cited = trapsIn(globSync('{src,test}/**/*.ts'))
    expect([...cited.keys()].filter(number => !rows.has(number))).toEqual([])
    const tested = trapsIn(globSync('test/**/*.ts'))
    expect([...rows].filter(number => !tested.has(number))).toEqual([])
  })
})
