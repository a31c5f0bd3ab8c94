import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { noChromium, open, settled, THEMES, WIDTHS } from './browser.ts'
import { type ConsoleGateway, openConsoleGateway } from './gateway.ts'
import { furnish } from './scenery.ts'

const FOLDER = join(import.meta.dirname, '../../console/shots')

interface Shot {
  readonly name: string
  readonly path: string
  /** What is done before. */
  readonly act?: (page: Page) => Promise<unknown>
  readonly role?: 'admin' | 'viewer' | null
}

/** What is looked at, a row each. */
const SHOTS: readonly Shot[] = [
  { name: 'sign-in', path: '/', role: null },
  { name: 'help', path: '/', act: page => page.keyboard.press('?') },
  { name: 'keys', path: '/keys' },
  { name: 'start', path: '/?client=claude-code&model=replay' },
  { name: 'start-made', path: '/?client=codex&model=replay', act: makeKey },
  { name: 'start-library', path: '/?client=langchain&model=replay' },
  { name: 'start-tried', path: '/?client=ai-sdk&model=replay', act: tryIt },
]

async function makeKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New key' }).click()
  // Each shot of it makes another one.
  await page.getByRole('dialog').getByLabel('Name').fill(`laptop-${Date.now()}`)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Hide' }).waitFor()
}

async function tryIt(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByText('Done', { exact: true }).waitFor()
}

/** `npm run console:shots`, or `npm run console:shots -- -t keys`: pages as they look, to be looked at. */
describe.runIf(process.env['SHOTS'] !== undefined && noChromium === undefined)('shots', () => {
  let gateway: ConsoleGateway
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true })
    gateway = await openConsoleGateway()
    await furnish(gateway)
  })
  afterAll(() => gateway?.close())

  for (const { name, path, act, role = 'admin' } of SHOTS)
    test(name, async () => {
      for (const theme of THEMES)
        for (const width of WIDTHS) {
          const visit = await open(gateway, { theme, width, role, expected: [/401/] })
          await visit.goTo(path)
          await act?.(visit.page)
          await settled(visit.page)
          await visit.page.screenshot({ path: join(FOLDER, `${name}-${theme}-${width}.png`), fullPage: true })
          await visit.close()
        }
    })
})
