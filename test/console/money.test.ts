import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { IN_BROWSER, noChromium, THEMES, visitor, WIDTHS } from './browser.ts'
import { openConsoleGateway } from './gateway.ts'
import { wordsOf } from './reading.ts'

const NANO = 1e9

describe.skipIf(noChromium)('money', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  /** A gateway with a key that has a budget and known costs, and one whose costs are unknown. */
  async function spent() {
    const gateway = await openConsoleGateway()
    closing.push(() => gateway.close())
    const { admin } = gateway
    const now = Date.now()
    let count = 0
    const rowOf = (key: { id: string; name: string }, model: string, more: Partial<UsageRow>): UsageRow => ({
      ...{ id: requestId(now, (++count).toString(16).padStart(32, '0')), at: now, door: CHAT_PATH, format: 'chat' },
      ...{ stream: false, attempts: 1, status: 200, losses: 0, duration: 100, channel: 'c', upstreamFormat: 'chat' },
      ...{
        key: key.id,
        keyName: key.name,
        group: 'default',
        model,
        upstreamModel: model,
        input: 10,
        output: 5,
        ...more,
      },
    })
    const known = (await admin.post('/keys', { name: 'known', budget: { month: 10 } })).json
    const dark = (await admin.post('/keys', { name: '=dark' })).json
    await admin.store.usage.add([
      rowOf(known, 'gpt', { cost: 6 * NANO }),
      rowOf(known, 'claude', { cost: 2 * NANO, estimated: true }),
      rowOf(known, 'house', {}),
      rowOf(dark, 'house', {}),
      // A request that was refused cost nothing.
      rowOf(dark, 'house', { cost: 0, status: 502, error: 'unreachable' }),
    ])
    return gateway
  }

  test('trap 120: an unknown cost is never $0.00, and estimates and unknown parts are marked', async () => {
    const { page, goTo } = await visit('/keys', { gateway: await spent() })
    const row = (name: string): Promise<string> => wordsOf(page.locator('main tbody tr').filter({ hasText: name }))
    await expect.poll(() => row('=dark')).toContain('unknown')
    expect(await row('=dark')).not.toContain('$0.00')
    await expect.poll(() => row('known')).toContain('≈ $8.00 +')
    await page.getByRole('button', { name: 'Open =dark' }).click()
    await expect.poll(() => wordsOf(page.getByRole('dialog'))).toMatch(/Cost unknown/)
    await goTo('/usage?range=24h&show=cost&by=key')
    await expect.poll(() => wordsOf(page.locator('.groups tr').filter({ hasText: '=dark' }))).toContain('unknown')
    await goTo('/usage?range=24h&show=cost&by=model&key=none')
    expect(await page.locator('main').innerText()).not.toContain('undefined')
  })

  test('a budget is a bar with its used part and its rest, for keys and groups', async () => {
    const { page, goTo } = await visit('/keys', { gateway: await spent() })
    const bar = page.locator('main tbody tr').filter({ hasText: 'known' }).locator('.spend-bar')
    await expect.poll(() => bar.getAttribute('aria-label')).toBe('Budget of the month: $8.00 / $10.00 (80%)')
    await expect.poll(() => bar.getAttribute('class')).toContain('warn')
    await page.getByText('$8.00 this month, $2.00 left').first().waitFor()
    await goTo('/keys?view=groups')
    await page.getByText('$8.00 this month, $2.00 left').waitFor()
  })

  test('cost by key and model is a table that can be swapped and downloaded', async () => {
    const { page } = await visit('/usage?range=24h&show=cost&by=nothing', { gateway: await spent() })
    const table = page.locator('.pivot')
    const rows = async (): Promise<string[]> =>
      (await table.locator('tr').allInnerTexts()).map(text => text.replaceAll(/\s+/g, ' ').trim())
    await expect
      .poll(rows)
      .toEqual(['Key gpt claude house Total', 'known $6.00 ≈ $2.00 unknown ≈ $8.00 +', '=dark – – unknown unknown'])
    await page.getByRole('button', { name: 'Swap rows and columns' }).click()
    await expect.poll(async () => (await rows())[0]).toBe('Model known =dark Total')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.card').filter({ has: table }).getByRole('button', { name: 'CSV' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toBe(
      "model,known,'=dark,total,unpriced_requests\r\ngpt,6,,6,0\r\nclaude,2,,2,0\r\nhouse,,,,2\r\n",
    )
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme, in both languages',
    async ({ width, theme }) => {
      const gateway = await spent()
      const { axe, page, goTo } = await visit('/usage?range=24h&show=cost&by=nothing', { gateway, width, theme })
      await page.locator('.pivot').waitFor()
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      await goTo('/keys')
      await page.locator('.spend-bar').first().waitFor()
      await axe()
      const chinese = await visit('/usage?range=24h&show=cost&by=nothing', { gateway, width, theme, language: 'zh' })
      await chinese.page.getByText('按密钥和模型的费用').waitFor()
      await chinese.axe()
    },
  )
})
