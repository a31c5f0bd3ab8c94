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
  { name: 'translator-empty', path: '/translator' },
  { name: 'translator', path: '/translator', act: page => begin(page, /Messages/) },
  { name: 'translator-stream', path: '/translator', act: page => begin(page, /Responses/) },
  { name: 'translator-one', path: '/translator', act: chat },
  {
    name: 'translator-examples',
    path: '/translator',
    act: page => page.getByRole('button', { name: 'Examples' }).first().click(),
  },
  { name: 'keys-form', path: '/keys', act: page => page.keyboard.press('n') },
  {
    ...{ name: 'keys-panel', path: '/keys' },
    act: page => page.getByRole('button', { name: 'Open nightly-evals' }).click(),
  },
  {
    ...{ name: 'keys-secret', path: '/keys' },
    act: async page => {
      await page.getByRole('button', { name: 'Actions for playground' }).click()
      await page.getByRole('menuitem', { name: 'Rotate' }).click()
      await page.getByRole('button', { name: 'Rotate', exact: true }).click()
      await page.getByText('has a new secret').waitFor()
    },
  },
  {
    ...{ name: 'keys-menu', path: '/keys' },
    act: page => page.getByRole('button', { name: 'Actions for codex-ci' }).click(),
  },
  { name: 'groups', path: '/keys?view=groups' },
  { name: 'account', path: '/account' },
]

/** Begins with one of the examples that the translator offers. */
async function begin(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('main').getByRole('button', { name }).first().click()
  await page.getByRole('tab', { name: 'All', exact: true }).waitFor()
}

async function chat(page: Page): Promise<void> {
  await begin(page, /Chat/)
  await page.getByRole('tab', { name: /^Messages/ }).click()
  await page.locator('.losses button').nth(1).focus()
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
          await visit.page.screenshot({ path: join(FOLDER, `${name}-${theme}-${width}.png`) })
          await visit.close()
        }
    })
})
