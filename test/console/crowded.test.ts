import { describe, expect, test } from 'vitest'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { crowd, idOf } from '../builders/crowd.ts'
import { ON_FILES } from '../builders/engines.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { IN_BROWSER, noChromium, visitor } from './browser.ts'
import { openConsoleGateway } from './gateway.ts'
import { wordsOf } from './reading.ts'

/** Number of keys. The console loads 1000 at first. */
const COUNT = 1100
/** Number of keys with requests on each of 14 days: more than 10,000 rows, which one answer of the API has. */
const ACTIVE = 750
const DAYS = 14
const DAY = 86_400_000

/** One request of each active key on each of the days. */
const rows = (now: number): UsageRow[] =>
  Array.from({ length: ACTIVE * DAYS }, (_, number) => {
    const at = now - (DAYS - 1 - Math.floor(number / ACTIVE)) * DAY
    const key = number % ACTIVE
    return {
      ...{ id: requestId(at, number.toString(16).padStart(32, '0')), at, door: CHAT_PATH, format: 'chat' },
      ...{ stream: false, attempts: 1, status: 200, losses: 0, duration: 100, channel: 'c', upstreamFormat: 'chat' },
      ...{ key: idOf(key), keyName: `key-${key}`, group: 'default', model: 'm', upstreamModel: 'm' },
    }
  })

describe.skipIf(noChromium || !ON_FILES)('the console of a large installation', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  test('counts all requests of each key, and no group short', async () => {
    const gateway = await openConsoleGateway()
    closing.push(() => gateway.close())
    const { admin } = gateway
    crowd(admin.path, COUNT)
    await admin.testServer.server.refresh()
    await admin.store.usage.add(rows(Date.now()))
    const made = (await admin.post('/keys', { name: 'zz-last', budget: { month: 8 }, group: 'group-7' })).json
    const { page, goTo } = await visit('/keys', { gateway })
    await page.getByLabel('Search keys').fill('key-10')
    const row = (name: string) => page.locator('main tbody tr').filter({ has: page.getByText(name, { exact: true }) })
    await expect.poll(() => wordsOf(row('key-10').last())).toMatch(/ 14 /)
    // It comes after the keys that are loaded at first.
    await page.getByLabel('Search keys').fill('zz-last')
    await row('zz-last').first().waitFor()
    await goTo('/keys?view=groups')
    await page.getByLabel('Search groups').fill('group-7')
    const group = row('group-7').first()
    await expect.poll(() => wordsOf(group)).toMatch(/1\+.*\$8\.00 left/)
    await goTo(`/start?key=${made.id}`)
    await expect.poll(() => page.getByRole('combobox', { name: 'Key', exact: true }).inputValue()).toBe('zz-last')
  })
})
