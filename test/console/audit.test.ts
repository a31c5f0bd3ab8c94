import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { AUDITED, type AuditEntry } from '../../src/store/audit-records.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { DAY } from '../builders/units.ts'
import { IN_BROWSER, noChromium, THEMES, visitor, WIDTHS } from './browser.ts'
import { openConsoleGateway } from './gateway.ts'
import { HOSTILE, isUnharmed } from './hostile.ts'
import { wordsOf } from './reading.ts'

describe.skipIf(noChromium)('audit log', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function changed() {
    const gateway = await openConsoleGateway()
    closing.push(() => gateway.close())
    const { admin } = gateway
    const { id } = (await admin.post('/keys', { name: HOSTILE[0], rpm: 10 })).json
    await admin.patch(`/keys/${id}`, { rpm: 20 })
    await admin.put('/groups/team', { budget: { month: 5 } })
    return gateway
  }

  test('shows who changed what, narrows it, and downloads it', async () => {
    const { page } = await visit('/audit', { gateway: await changed() })
    const rows = page.locator('main tbody tr')
    await expect.poll(() => rows.count()).toBe(3)
    await expect
      .poll(() => wordsOf(rows.nth(0)))
      .toMatch(/tests admin token team Group set .*budget\.month not set → ?to 5/)
    await expect.poll(() => wordsOf(rows.nth(1))).toMatch(/Key changed rpm 10 → ?to 20/)
    await isUnharmed(page)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ])
    expect(
      readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\r\n'),
    ).toHaveLength(4)
    await page.getByLabel('Kind').selectOption('Group')
    await expect.poll(() => rows.count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByLabel('Kind').selectOption('')
    await page.keyboard.press('Tab')
    await page.getByLabel('Search changes').fill('rpm')
    await expect.poll(() => rows.count()).toBe(2)
  })

  test('has the changes of all days that are stored', async () => {
    const gateway = await changed()
    const entry = { actor: 'ops', actorKind: 'user', action: 'deleteGroup', kind: 'group', target: 'old', name: 'old' }
    await gateway.admin.store.audit.add({
      ...entry,
      id: 'old-entry',
      at: Date.now() - 80 * DAY,
      changes: [],
    } as AuditEntry)
    const { page } = await visit('/audit', { gateway })
    const rows = page.locator('main tbody tr')
    await expect.poll(() => rows.count()).toBe(4)
    await expect.poll(() => wordsOf(rows.nth(3))).toMatch(/ops user old Group deleted/)
  })

  test('says how many changes it searched if there are more', async () => {
    const gateway = await changed()
    const { audit } = gateway.admin.store
    const entry = { actor: 'ops', actorKind: 'user', action: 'deleteGroup', kind: 'group', target: 'x', changes: [] }
    for (let count = 0; count < 101; count++) {
      const name = count === 0 ? 'the-oldest' : `group-${count}`
      await audit.add({ ...entry, id: `entry-${count}`, at: Date.now() - DAY + count * 1000, name } as AuditEntry)
    }
    const { page } = await visit('/audit', { gateway })
    await page.getByLabel('Search changes').fill('the-oldest')
    await page.getByText('Only the latest 100 changes were searched.').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.locator('main tbody tr').getByText('the-oldest').waitFor()
    expect(await page.getByText('Only the latest').count()).toBe(0)
  })

  test('narrows the list to each kind of thing that is audited', async () => {
    const { page } = await visit('/audit', { gateway: await changed() })
    const values = page
      .getByLabel('Kind')
      .locator('option')
      .evaluateAll(all => all.map(one => one.getAttribute('value')))
    expect(await values).toEqual(['', ...AUDITED])
  })

  test('is for administrators', async () => {
    const { page } = await visit('/audit', { role: 'viewer' })
    await page.getByText('Only administrators can see the audit log.').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme, in both languages',
    async ({ width, theme }) => {
      const gateway = await changed()
      const { axe, page } = await visit('/audit', { gateway, width, theme })
      await page.locator('main tbody tr').first().waitFor()
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      const chinese = await visit('/audit', { gateway, width, theme, language: 'zh' })
      await chinese.page.locator('tbody').getByText('管理令牌').first().waitFor()
      await chinese.axe()
    },
  )
})
