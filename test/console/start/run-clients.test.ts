import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderOf } from '../../agents/install.ts'
import { noChromium, open, type Visit } from '../browser.ts'
import { type ConsoleGateway, openConsoleGateway } from '../gateway.ts'
import { noNamespace } from './alone.ts'
import { pasteAndRun, pastedFrom } from './pasted.ts'
import { RUNS, type Run } from './runs.ts'

const FORMATS = ['Chat', 'Responses', 'Messages', 'Contents'] as const

/** Running all clients takes minutes. The default is the clients available everywhere and one agent. */
const WANTED =
  process.env['CLIENTS'] === 'all' ? RUNS : RUNS.filter(({ from, role }) => from === undefined || role === 'once')

/** Packages that are not installed. Their clients are skipped, and the packages are listed. */
const missing = new Set(WANTED.flatMap(({ from }) => (from === undefined || existsSync(folderOf(from)) ? [] : [from])))
if (noNamespace !== undefined) console.warn(`Clients with settings of the page are NOT RUN: ${noNamespace}`)
else if (missing.size > 0)
  console.warn(
    `Clients with settings of the page are NOT RUN (npm run agents installs them): ${[...missing].join(', ')}`,
  )

const nameOf = ({ client, format, language, role }: Run): string =>
  [client, format, language, role].filter(Boolean).join(' ')

describe.skipIf(noChromium ?? noNamespace)('settings as they are on the page make the real client work', () => {
  let gateway: ConsoleGateway
  let visit: Visit & { close(): Promise<void> }
  let key: { readonly id: string; readonly secret: string }

  beforeAll(async () => {
    gateway = await openConsoleGateway()
    visit = await open(gateway)
    await visit.goTo('/start?model=replay')
    key = await keyMadeOn(visit.page, gateway)
  })
  afterAll(async () => {
    await visit?.close()
    await gateway?.close()
  })

  for (const run of WANTED)
    test.skipIf(run.from !== undefined && missing.has(run.from))(nameOf(run), async () => {
      const { page } = visit
      await choose(page, run)
      const pasted = (await pastedFrom(page)).filter(one => run.role === undefined || one.role === run.role)
      expect(pasted.map(({ text }) => text).join('')).toContain(key.secret)
      const folder = run.from === undefined ? '' : folderOf(run.from)
      const before = (await requestsOf(gateway, key.id)).filter(one => one.format === run.format).length
      const ran = await pasteAndRun(pasted, {
        port: Number(new URL(gateway.address).port),
        ...(run.programs === undefined ? {} : { programs: run.programs(folder) }),
        ...(run.run === undefined ? {} : { run: run.run(folder) }),
        ...(run.modules === undefined ? {} : { modules: run.modules(folder) }),
      })
      expect(ran.code, ran.err).toBe(0)
      expect(ran.out).toMatch(/\S/)
      // Requests are recorded a moment after their end. Some clients also request a title, which may end later.
      const own = async () => (await requestsOf(gateway, key.id)).filter(one => one.format === run.format)
      await expect.poll(async () => (await own()).length).toBeGreaterThan(before)
      const asked = await own()
      for (const { status, model } of asked.slice(0, asked.length - before))
        expect([status, model]).toEqual([200, 'replay'])
    })
})

async function keyMadeOn(page: Page, { admin }: ConsoleGateway) {
  await page.getByRole('button', { name: 'New key' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('clients')
  await page.keyboard.press('Enter')
  const secret = (await page.locator('.secret-given code').textContent())!
  const { json } = await admin.get('/keys?name=clients')
  return { id: json.data[0].id as string, secret }
}

async function choose(page: Page, { client, format, language }: Run): Promise<void> {
  await page.getByRole('tab', { name: client, exact: true }).click()
  const panel = page.getByRole('tabpanel')
  const spoken = FORMATS.find(one => one.toLowerCase() === format)!
  for (const name of [spoken, language ?? '']) {
    const choice = panel.getByRole('radio', { name, exact: true })
    if (name !== '' && (await choice.count()) > 0) await choice.check()
  }
}

/** Requests of a key, newest first. */
async function requestsOf({ admin }: ConsoleGateway, key: string) {
  const { json } = await admin.get(`/requests?key=${key}&limit=500`)
  return json.data as readonly { readonly format: string; readonly status: number; readonly model: string }[]
}
