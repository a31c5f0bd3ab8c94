import { describe, expect, test } from 'vitest'
import { IN_BROWSER, noChromium, settled, visitor } from './browser.ts'

describe.skipIf(noChromium)('messages of actions', IN_BROWSER, () => {
  const visit = visitor()

  test('are above the panel in which the action was', async () => {
    const { page } = await visit('/channels')
    await page.getByRole('button', { name: 'Open replay', exact: true }).click()
    const panel = page.getByRole('dialog', { name: 'replay' })
    await settled(page)
    await panel.getByRole('button', { name: 'Drain' }).click()
    await page.getByRole('dialog').last().getByRole('button', { name: 'Drain' }).click()
    const message = page.locator('.toast').filter({ hasText: 'replay' })
    await message.waitFor()
    const { x, y } = (await message.boundingBox())!
    const atItsPlace = `document.elementFromPoint(${x + 8}, ${y + 8}).closest('.toast') !== null`
    expect(await page.evaluate(atItsPlace)).toBe(true)
    // Elements outside of a modal dialog can neither be pressed nor do screen readers say them.
    expect(await panel.getByRole('status').filter({ hasText: 'replay' }).count()).toBe(1)
    await message.getByRole('button', { name: 'Close' }).click({ timeout: 3000 })
    await message.waitFor({ state: 'detached' })
    await panel.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').last().getByRole('button', { name: 'Resume' }).click()
    await message.waitFor()
    await panel.getByRole('button', { name: 'Close' }).first().click()
    await panel.waitFor({ state: 'detached' })
    expect(await message.count()).toBe(1)
  })
})
