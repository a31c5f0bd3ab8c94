import { describe, expect, test } from 'vitest'
import { hasOpenssl } from '../builders/certificate.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { openBroken } from './broken.ts'
import { IN_BROWSER, noChromium, THEMES, visitor, WIDTHS } from './browser.ts'
import { wordsOf } from './reading.ts'

describe.skipIf(noChromium !== undefined || !hasOpenssl)('overview', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function broken() {
    const gateway = await openBroken()
    closing.push(() => gateway.close())
    return gateway
  }

  test('shows all four faults of a set-up that is broken on purpose, each with a link to its page', async () => {
    const { page, goTo } = await visit('/', { gateway: await broken() })
    await expect.poll(() => page.locator('h1').innerText()).toBe('Overview')
    const rows = page.locator('.overview-concerns > li')
    const said = (text: string): Promise<string> => wordsOf(rows.filter({ hasText: text }).first())
    await expect
      .poll(() => said('Upstream key refused'))
      .toMatch(/pool …1111 tries again .* You exceeded your current quota/)
    await expect
      .poll(() => said('Channel failing'))
      .toMatch(/wrong-certificate since .* TLS failed .* its certificate is signed by itself/)
    await expect
      .poll(() => said('Model without a price'), { timeout: 20_000 })
      .toMatch(/house-model 2 requests of unknown cost today/)
    await expect.poll(() => said('Key at its limit'), { timeout: 20_000 }).toMatch(/limited-app 3 requests refused/)
    await expect
      .poll(() => wordsOf(page.locator('.overview-verdict')))
      .toMatch(/3 problems · 1 thing to watch 2 of 3 channels are OK/)
    for (const [link, at] of [
      ['wrong-certificate', /channels\?channel=wrong-certificate&view=errors$/],
      ['pool …1111', /channels\?channel=pool$/],
      ['house-model', /models\?model=house-model$/],
      ['limited-app', /traffic\?key=\w+&only=errors$/],
    ] as const) {
      await goTo('/')
      await rows.getByRole('link', { name: link }).click()
      await expect.poll(() => page.url()).toMatch(at)
    }
  })

  test('a failed request links to the errors of its channel, and back', async () => {
    const { page } = await visit('/', { gateway: await broken() })
    const failures = page.locator('.card').filter({ hasText: 'Failures in the last hour' })
    await failures.locator('li').filter({ hasText: 'wrong-certificate' }).getByRole('link').click()
    await page.getByText('Why it failed').waitFor()
    await expect.poll(() => wordsOf(page.locator('.failure-facts'))).toContain('its certificate is signed by itself')
    await page.getByRole('link', { name: 'Errors on wrong-certificate' }).click()
    await expect.poll(() => wordsOf(page.locator('.channels-errors'))).toMatch(/TLS failed 3×/)
    await page.getByRole('link', { name: 'Latest request' }).click()
    await page.getByText('Why it failed').waitFor()
    await page.goto('/console/traffic?only=errors')
    await expect.poll(() => wordsOf(page.locator('.failure-groups'))).toMatch(/3× TLS failed/)
  })

  test('says that all is well, to viewers on its own page', async () => {
    const { page, goTo } = await visit('/overview', { role: 'viewer' })
    await page.getByText('All is well').waitFor()
    await goTo('/')
    await expect.poll(() => page.locator('h1').innerText()).not.toBe('Overview')
  })

  test('a budget of nothing is used up', async () => {
    const { page, gateway, goTo } = await visit('/account')
    await gateway.admin.post('/keys', { name: 'paused', budget: { day: 0 } })
    await goTo('/')
    await expect
      .poll(() => wordsOf(page.locator('.overview-concerns > li').filter({ hasText: 'paused' })))
      .toMatch(/\$0\.00 of \$0\.00 this day \(100%\)/)
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme, in both languages',
    async ({ width, theme }) => {
      const gateway = await broken()
      const { axe, page } = await visit('/', { gateway, width, theme })
      await page.locator('.overview-concerns').waitFor()
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      const chinese = await visit('/', { gateway, width, theme, language: 'zh' })
      await chinese.page.getByText('渠道持续失败').waitFor()
      await chinese.axe()
      await expect.poll(() => wordsOf(chinese.page.locator('main'))).not.toMatch(/undefined|Channel failing/)
    },
  )
})
