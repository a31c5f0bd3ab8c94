import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'

/* The map of attacks: its links, its kinds, the numbers of its summary, and the folders that it covers. */

const PAGE = 'docs/development/attacks.md'
const TEXT = readFileSync(PAGE, 'utf8')

const KINDS: readonly string[] = [
  ...['wrong types', 'size', 'quadratic work', 'order', 'timing and races', 'cuts', 'duplicate and conflicting fields'],
  ...['encodings', 'identity and permission', 'injection', 'resource exhaustion', 'clock', 'disk', 'network'],
  'dependency failure',
]

/** Number of areas that the map must have. */
const AREAS = 35

interface Cell {
  readonly kind: string
  readonly tests: string
  readonly faults: string
  readonly latest: string
}

interface Area {
  readonly name: string
  readonly cells: readonly Cell[]
  /** Kinds that cannot apply. */
  readonly excluded: readonly string[]
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim())

/** Returns the rows of the tables in a section, without their headings. */
const rowsOf = (section: string): string[][] =>
  section
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(cellsOf)
    .slice(1)

/** Returns the sections of the page, by their headings. */
const SECTIONS: ReadonlyMap<string, string> = new Map(
  TEXT.split(/^## /m)
    .slice(1)
    .map(section => [section.slice(0, section.indexOf('\n')), section] as const),
)

/** Returns the sections whose table has a row per kind. */
const MAP: readonly Area[] = [...SECTIONS].flatMap(([name, section]) => {
  if (!section.includes('| Kind |')) return []
  const cells = rowsOf(section).map(([kind, tests, faults, latest]): Cell => {
    return { kind: kind!, tests: tests!, faults: faults!, latest: latest! }
  })
  const excluded = [...section.matchAll(/\*\*([^*]+)\*\*, because /g)].map(([, kind]) => kind!)
  return [{ name, cells, excluded }]
})

const isOpen = ({ tests }: Cell): boolean => tests === 'open'

/** Returns the tests that a cell links, by their paths from the root. */
const testsOf = ({ tests }: Cell): string[] =>
  [...tests.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => posix.join(posix.dirname(PAGE), link!))

const faultsOf = ({ faults }: Cell): number => (faults === '–' ? 0 : Number(/^\d+/.exec(faults)![0]))

const ALL_TESTS = MAP.flatMap(({ cells }) => cells.flatMap(testsOf))

test('the map has every area', () => {
  expect(MAP).toHaveLength(AREAS)
})

describe.each(MAP.map(area => [area.name, area] as const))('%s', (_, { cells, excluded }) => {
  test('has every kind once: attacked, open or not applicable', () => {
    expect([...cells.map(({ kind }) => kind), ...excluded].sort()).toEqual([...KINDS].sort())
  })

  test('has tests, faults and a date where it is attacked, and nothing where it is open', () => {
    for (const cell of cells) {
      if (isOpen(cell)) expect(cell).toMatchObject({ faults: '–', latest: '–' })
      else {
        expect(testsOf(cell), cell.kind).not.toEqual([])
        expect(cell.faults, cell.kind).toMatch(/^(0|[1-9]\d*: .+)$/)
        expect(cell.latest, cell.kind).toMatch(/^20\d\d-\d\d-\d\d$/)
      }
    }
  })
})

test('every linked test exists, and no cell links one twice', () => {
  expect(ALL_TESTS.length).toBeGreaterThan(300)
  expect(ALL_TESTS.filter(path => !/^test\/.+\.test\.ts$/.test(path) || !existsSync(path))).toEqual([])
  for (const cell of MAP.flatMap(({ cells }) => cells)) expect(new Set(testsOf(cell)).size).toBe(testsOf(cell).length)
})

test('the summary has the numbers of the tables', () => {
  const counted = MAP.map(({ name, cells, excluded }) => [
    name,
    cells.filter(cell => !isOpen(cell)).length,
    cells.filter(isOpen).length,
    excluded.length,
    cells.reduce((sum, cell) => sum + faultsOf(cell), 0),
  ])
  const totals = [1, 2, 3, 4].map(column => counted.reduce((sum, row) => sum + Number(row[column]), 0))
  const nameOf = (cell: string): string => /^\[([^\]]+)\]/.exec(cell)?.[1] ?? cell
  const stated = rowsOf(SECTIONS.get('Summary')!).map(([area, ...numbers]) => [nameOf(area!), ...numbers.map(Number)])
  expect(stated).toEqual([...counted, ['**Total**', ...totals]])
})

test('open cells are listed, and no others', () => {
  const listed = [...SECTIONS.get('Open cells')!.matchAll(/^- \[([^\]]+)\]\([^)]*\), \*\*([^*]+)\*\*/gm)]
  const open = MAP.flatMap(({ name, cells }) => cells.filter(isOpen).map(({ kind }) => `${name}: ${kind}`))
  expect(listed.map(([, name, kind]) => `${name}: ${kind}`).sort()).toEqual(open.sort())
})

test('every folder of test is cited, or listed as not cited', () => {
  const folders = readdirSync('test', { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => `test/${name}`)
  const cited = new Set(ALL_TESTS.map(path => path.split('/').slice(0, 2).join('/')))
  const section = SECTIONS.get('Folders of tests that no table cites')!
  const listed = [...section.matchAll(/^- `([^`]+)`/gm)].map(([, folder]) => folder!)
  expect([...cited, ...listed].sort()).toEqual(folders.sort())
})
