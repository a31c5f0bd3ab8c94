import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { trapsIn } from './trap-table.ts'

/*
 * Checks that citations of documentation lead somewhere: to a page, a heading, a row of the table of traps, or a
 * source.
 */

const CODE = '{src,console,bench,building,bin,test}/**/*.{ts,tsx,js,cjs,mjs,css,html}'
const PAGES = [...globSync('*.md'), ...globSync('docs/**/*.md')]
const FILES = [
  ...globSync(CODE).filter(file => !file.includes('node_modules') && !file.includes('/dist/')),
  ...['.ci/run', 'interlingua.example.yaml'].filter(file => existsSync(file)),
  ...PAGES,
].sort()

const TEXTS: ReadonlyMap<string, string> = new Map(FILES.map(file => [file, readFileSync(file, 'utf8')]))

interface Citation {
  readonly from: string
  readonly page: string
  readonly anchor?: string | undefined
}

/**
 * Returns the anchors of a page's headings by GitHub's rules: lower case, without punctuation, with a number for
 * repeated ones.
 */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const [, heading] of withoutFences(markdown).matchAll(/^#{1,6} +(.*?) *#*$/gm)) {
    const slug = slugOf(heading!)
    let anchor = slug
    while (anchors.has(anchor)) {
      const next = (seen.get(slug) ?? 0) + 1
      seen.set(slug, next)
      anchor = `${slug}-${next}`
    }
    anchors.add(anchor)
  }
  return anchors
}

const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')

const withoutFences = (markdown: string): string => markdown.replace(/^ *```[\s\S]*?^ *```/gm, '')

const withoutCode = (markdown: string): string => withoutFences(markdown).replace(/`[^`\n]*`/g, '')

/** Returns the paths below `docs` in any file, such as `docs/wire/messages.md#thinking`. */
const citedPaths = (from: string, text: string): Citation[] =>
  [...text.matchAll(/\bdocs\/((?:[\w-]+\/)*[\w.-]+\.md)(?:#([\w-]+))?/g)].map(([, page, anchor]) => ({
    from,
    page: `docs/${page}`,
    anchor,
  }))

/** Returns the relative links of a page to pages and headings, such as `[usage](chat.md#usage)`. */
const linkedPages = (from: string, text: string): Citation[] =>
  [...withoutCode(text).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
    .filter(([, page]) => page === '' || page!.endsWith('.md'))
    .map(([, page, anchor]) => ({
      from,
      page: page === '' ? from : posix.join(posix.dirname(from), page!),
      anchor,
    }))

const ANCHORS = new Map<string, ReadonlySet<string>>()

function leadsNowhere({ page, anchor }: Citation): boolean {
  if (!existsSync(page)) return true
  if (anchor === undefined) return false
  const anchors = ANCHORS.get(page) ?? anchorsOf(readFileSync(page, 'utf8'))
  ANCHORS.set(page, anchors)
  return !anchors.has(anchor)
}

const shown = ({ from, page, anchor }: Citation): string =>
  `${from}: ${page}${anchor === undefined ? '' : `#${anchor}`}`

/** This file itself contains citations that lead nowhere. */
const OWN = 'test/citations.test.ts'

test('anchors follow the rules of GitHub', () => {
  const page = [
    '# `A` b, c!',
    '## Usage',
    '### Usage',
    '## Usage-1',
    '```',
    '# no heading',
    '```',
    '## On [x](y.md) öß_',
  ]
  expect([...anchorsOf(page.join('\n'))]).toEqual(['a-b-c', 'usage', 'usage-1', 'usage-1-1', 'on-x-öß_'])
})

test('every cited page and heading of docs is there', () => {
  const cited = [...TEXTS].flatMap(([file, text]) => (file === OWN ? [] : citedPaths(file, text)))
  expect(cited.length).toBeGreaterThan(100)
  expect(cited.filter(leadsNowhere).map(shown)).toEqual([])
})

test('every link between pages leads to a page and a heading', () => {
  const linked = PAGES.flatMap(page => linkedPages(page, TEXTS.get(page)!))
  expect(linked.length).toBeGreaterThan(50)
  expect(linked.filter(leadsNowhere).map(shown)).toEqual([])
})

test('nothing cites a document that is not in the repository', () => {
  const absent = /\b(?:FORMATS|CLIENTS|DESIGN|SERVICE|STYLE|NEWER|TRAPS|HOUSE)(?:\.md\b|[\s*/]*§)/g
  const cited = [...TEXTS].flatMap(([file, text]) =>
    file === OWN ? [] : [...text.matchAll(absent)].map(({ index }) => `${file}:${lineOf(text, index)}`),
  )
  expect(cited).toEqual([])
})

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length

test('every trap that is cited has its row', () => {
  const rows = new Set([...TEXTS.get('docs/traps.md')!.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number)))
  const cited = trapsIn(FILES.filter(file => file !== 'docs/traps.md'))
  expect(cited.size).toBeGreaterThan(80)
  expect([...cited].filter(([number]) => !rows.has(number))).toEqual([])
})

/**
 * Returns the marks of sources, such as `[oa-types]`, and the marks that "Sources" defines at the start of a list
 * entry.
 */
function marksOf(markdown: string): { readonly used: ReadonlySet<string>; readonly defined: ReadonlySet<string> } {
  const [, body, sources] = /^([\s\S]*?)^## Sources$([\s\S]*)/m.exec(withoutCode(markdown)) ?? [undefined, markdown, '']
  const marks = (text: string): string[] => [...text.matchAll(/\[([a-z][a-z0-9-]*)\](?!\()/g)].map(([, mark]) => mark!)
  const heads = [...sources!.matchAll(/^- ((?:\[[a-z][a-z0-9-]*\](?:, )?)+):/gm)].map(([, head]) => head!)
  return { used: new Set(marks(body!)), defined: new Set(heads.flatMap(marks)) }
}

test('every mark of a source on the pages of the wire formats is defined there, and every source is used', () => {
  const faults = PAGES.filter(page => page.startsWith('docs/wire/')).flatMap(page => {
    const { used, defined } = marksOf(TEXTS.get(page)!)
    return [
      ...[...used].filter(mark => !defined.has(mark)).map(mark => `${page}: [${mark}] is not defined`),
      ...[...defined].filter(mark => !used.has(mark)).map(mark => `${page}: [${mark}] is not used`),
    ]
  })
  expect(faults).toEqual([])
})
