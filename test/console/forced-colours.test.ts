import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { IN_BROWSER, noChromium, visitor } from './browser.ts'
import { furnish } from './scenery.ts'

/** Colours of an element as the screen shows them. */
const coloursOf = (one: Locator): Promise<string> =>
  one.evaluate(element => {
    const { backgroundColor, color, borderBottomColor } = element.ownerDocument.defaultView!.getComputedStyle(element)
    return [backgroundColor, color, borderBottomColor].join(' ')
  })

/** Number of different colours that a chart has. */
const coloursIn = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector('.time-chart canvas')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const counts = new Map()
    for (let at = 0; at < data.length; at += 4) {
      const colour = data.slice(at, at + 4).join()
      counts.set(colour, (counts.get(colour) ?? 0) + 1)
    }
    return [...counts.values()].filter(count => count > 1500).length
  })()`)

describe.skipIf(noChromium)('with colours of the system (Windows high contrast)', IN_BROWSER, () => {
  const visit = visitor()

  test('charts, bars, and what is chosen can be told apart', async () => {
    const { page, gateway, goTo } = await visit('/account')
    await furnish(gateway, 2000)
    await page.emulateMedia({ forcedColors: 'active' })
    await goTo('/usage?range=30d')
    await page.getByRole('application').waitFor()
    // The background, and a colour for each of at least four models.
    await expect.poll(() => coloursIn(page)).toBeGreaterThanOrEqual(5)
    const swatches = page.locator('.legend .swatch')
    expect(await coloursOf(swatches.nth(0))).not.toBe(await coloursOf(swatches.nth(1)))
    const range = (name: string) => page.getByRole('button', { name, exact: true })
    expect(await coloursOf(range('30 days'))).not.toBe(await coloursOf(range('7 days')))
    const link = (name: string) => page.getByRole('link', { name, exact: true })
    expect(await coloursOf(link('Usage'))).not.toBe(await coloursOf(link('Traffic')))
    const track = page.locator('.share .track').first()
    expect(await coloursOf(track)).not.toBe(await coloursOf(track.locator('span')))
    await goTo('/keys')
    const tab = (name: string) => page.getByRole('tab', { name })
    expect(await coloursOf(tab('Keys'))).not.toBe(await coloursOf(tab('Groups')))
    const bar = page.locator('.spend-bar').first()
    expect(await coloursOf(bar)).not.toBe(await coloursOf(bar.locator('span')))
    await goTo('/traffic')
    const waterfall = page.locator('.waterfall').first()
    expect(await coloursOf(waterfall)).not.toBe(await coloursOf(waterfall.locator('span').first()))
  })
})
