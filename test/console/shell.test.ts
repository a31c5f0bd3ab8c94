import { describe, expect, test } from 'vitest'
import { noChromium, visitor } from './browser.ts'

/** The pages by their keys. */
const PATHS = {
  ...{ s: '/', m: '/models', k: '/keys', u: '/usage', t: '/traffic', x: '/translator', c: '/channels' },
}

describe.skipIf(noChromium)('the frame of the console', () => {
  const visit = visitor()

  test('shows every page by its link and by its keys', async () => {
    const { page } = await visit('/account')
    const links = page.getByRole('navigation').getByRole('link')
    expect(await links.allInnerTexts()).toEqual([
      ...['Start', 'Models', 'Keys', 'Usage', 'Traffic', 'Translator', 'Channels'],
    ])
    for (const [key, path] of Object.entries(PATHS)) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForURL(`**/console${path}`)
      await page.screenshot({path: `/tmp/il/skel/console/shots/${key}.png`})
    }
  })
})
