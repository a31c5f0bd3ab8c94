import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { readMatrix } from '../../../src/commands/conformance-matrix.ts'
import { type Check, countsOf, type Status } from '../../../src/kit/conformance/checks.ts'
import { html } from '../../../src/kit/conformance/report/html.ts'
import { matrixHtml } from '../../../src/kit/conformance/report/matrix-html.ts'
import type { Dump, Results } from '../../../src/kit/conformance/report/results.ts'
import { IN_BROWSER, THEMES, WIDTHS } from '../../console/browser.ts'
import { browser, noChromium } from '../../console/chromium.ts'

/* The kit's HTML pages in a browser: a run's report, and the matrix of gateways. `SHOTS=FOLDER` keeps screenshots. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const STATUSES: readonly Status[] = ['pass', 'pass', 'fail', 'advice', 'unsupported', 'pass', 'harness-error', 'pass']
const DUMP: Dump = {
  head: 'POST http://127.0.0.1:1/v1',
  headers: { accept: '*/*' },
  body: `{"a":"${'a'.repeat(200)}"}`,
  bytes: 208,
}

/** A run of several pairs with a check of each status. */
function reportOf(): Results {
  const pairs = ['chat', 'messages', 'responses', 'contents'].flatMap(one =>
    ['chat', 'messages', 'contents'].map(other => [one, other] as const),
  )
  const cells = pairs.flatMap(([caller, upstream]) =>
    STATUSES.map((_, index) => {
      const id = `${caller}-${upstream}/scenario-${index}/whole`
      const step = { request: DUMP, answer: { ...DUMP, head: 'HTTP 200' }, upstream: [DUMP] }
      const wire = { ...step, later: [step] }
      return {
        id,
        caller,
        upstream,
        scenario: `scenario-${index}`,
        mode: 'whole',
        command: `interlingua conformance --only '${id}'`,
        wire,
      }
    }),
  )
  const checks = cells.map(({ id }, index): Check => {
    const status = STATUSES[index % STATUSES.length]!
    const more = status === 'pass' ? {} : { details: [`lost-silently: ${'a text '.repeat(20)}`] }
    return {
      id: `${id}/answer.rule`,
      cell: id,
      rule: 'answer.rule',
      level: 'must',
      status,
      says: 'It holds.',
      source: 'https://example.org',
      ...more,
    }
  })
  return {
    ...{ schema: 'interlingua-conformance-1', kit: '1.0.0', started: '2026-11-24T00:00:00.000Z', mode: 'translation' },
    ...{
      target: { name: 'A gateway', version: '1.2.3' },
      counts: countsOf(checks),
      meanings: { kept: 5 },
      cells,
      checks,
    },
  }
}

const PAGES = {
  report: () => html(reportOf()),
  matrix: () => matrixHtml(readMatrix('docs/conformance.json')),
} as const
type Name = keyof typeof PAGES

const folder = mkdtempSync(join(tmpdir(), 'conformance-pages-'))
const closings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

/** Opens a page of the kit. Its faults end the test. */
async function open(name: Name, width: number, theme: 'light' | 'dark'): Promise<Page> {
  const file = join(folder, `${name}.html`)
  writeFileSync(file, PAGES[name]())
  const context = await (await browser()).newContext({
    viewport: { width, height: 860 },
    colorScheme: theme,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', fault => faults.push(fault.message))
  page.on('console', message => faults.push(message.text()))
  page.on('request', one => {
    if (!one.url().startsWith('file:')) faults.push(one.url())
  })
  closings.push(async () => {
    await context.close()
    expect(faults).toEqual([])
  })
  await page.goto(pathToFileURL(file).href)
  return page
}

describe.skipIf(noChromium)('the page', () => {
  describe.each(Object.keys(PAGES) as Name[])('%s', name => {
    const views = WIDTHS.flatMap(width => THEMES.map(theme => [width, theme] as const))
    test.each(views)('%i px wide, %s: axe finds nothing, and nothing overflows', IN_BROWSER, async (width, theme) => {
      const page = await open(name, width, theme)
      await page.locator('details summary').first().click()
      await page.evaluate(AXE)
      const run =
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html + nodes[0].failureSummary))"
      expect(await page.evaluate(run)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      const shots = process.env['SHOTS']
      if (shots === undefined) return
      mkdirSync(shots, { recursive: true })
      await page.screenshot({ path: join(shots, `${name}-${width}-${theme}.png`), fullPage: width < 600 })
    })
  })

  test('report: a square is reached and opened by keyboard, and its failure shows both sides', IN_BROWSER, async () => {
    const page = await open('report', 1280, 'light')
    const square = page.getByRole('button', { name: 'chat-chat/scenario-2/whole: fail' })
    await square.focus()
    await page.keyboard.press('Enter')
    await page.getByText('1 checks.').or(page.getByText('1 check.')).waitFor()
    await page.locator('details summary').focus()
    await page.keyboard.press('Enter')
    await page.getByText('What arrived at the upstream').first().waitFor()
    await page.getByText('Step 2').waitFor()
    await page.getByText("interlingua conformance --only 'chat-chat/scenario-2/whole'").waitFor()
  })

  test('matrix: a failure is opened by keyboard and shows the command that repeats it', IN_BROWSER, async () => {
    const page = await open('matrix', 1280, 'light')
    const peers = readMatrix('docs/conformance.json').peers
    expect(await page.locator('#summary tbody tr').count()).toBe(peers.length)
    await page.locator('details summary').first().focus()
    await page.keyboard.press('Enter')
    await page.locator('details[open] pre', { hasText: 'interlingua conformance --peer' }).waitFor()
  })

  test('matrix: a field of a pair is chosen by keyboard and shows its numbers', IN_BROWSER, async () => {
    const page = await open('matrix', 390, 'dark')
    const field = page.getByRole('button', { name: /^chat → messages: [\d.]+ % of cells without a failure/ }).first()
    await field.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('lost with a report').first().waitFor()
    expect(await field.getAttribute('aria-pressed')).toBe('true')
  })
})
