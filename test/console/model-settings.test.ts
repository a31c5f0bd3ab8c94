import { describe, expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { IN_BROWSER, noChromium, visitor } from './browser.ts'
import { answers, openBefore } from './upstreams.ts'

describe.skipIf(noChromium)('the settings of a model', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function open(width = 1280) {
    const gateway = await openBefore(
      [{ name: 'one', models: ['priceless', 'other', 'filed'], formats: ['chat'], script: answers }],
      {
        models: [{ id: 'filed', input: [], output: [], price: { input: 3, output: 4 } }],
      },
    )
    closing.push(() => gateway.close())
    const { page, axe } = await visit('/models?model=priceless', { gateway, width, expected: [/400/, /404/] })
    return { gateway, page, axe }
  }

  test('a price, fallback models and the order of channels are set, changed and deleted', async () => {
    const { gateway, page, axe } = await open()
    const read = async () => (await gateway.admin.get('/model-settings/priceless')).json
    await page.getByRole('dialog', { name: 'priceless' }).getByRole('button', { name: 'Settings' }).click()
    const form = page.getByRole('dialog', { name: 'Settings of priceless' })
    await form.getByRole('textbox', { name: 'Input', exact: true }).fill('much')
    await form.getByLabel('Fallback models').fill('other: failure, budget')
    await form.getByLabel('Order of channels').selectOption('cost')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => form.locator('.field.wrong').count()).toBe(1)
    await form.getByRole('textbox', { name: 'Input', exact: true }).fill('1.5')
    await form.getByRole('textbox', { name: 'Output', exact: true }).fill('6')
    await axe()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings of priceless were saved.').waitFor()
    expect((await read()).settings).toEqual({
      ...{ order: 'cost', price: { input: 1.5, output: 6 } },
      fallbacks: [{ model: 'other', on: ['failure', 'budget'] }],
    })
    // The page shows them at once.
    await page.getByRole('dialog', { name: 'priceless' }).getByText('$1.50').first().waitFor()
    await page.getByRole('dialog', { name: 'priceless' }).getByRole('button', { name: 'Settings' }).click()
    expect(await form.getByLabel('Fallback models').inputValue()).toBe('other: failure, budget')
    await form.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The settings of priceless were deleted.').waitFor()
    expect((await gateway.admin.get('/model-settings/priceless')).status).toBe(404)
  })

  test('settings of the config file can only be read', async () => {
    const { page, axe } = await open(390)
    await page.goto('/console/models?model=filed')
    await page.getByRole('dialog', { name: 'filed' }).getByRole('button', { name: 'Settings' }).click()
    const form = page.getByRole('dialog', { name: 'Settings of filed' })
    await form.getByText('These settings are in the config file.').waitFor()
    expect(await form.getByRole('textbox', { name: 'Input', exact: true }).inputValue()).toBe('3')
    expect(await form.getByRole('textbox', { name: 'Input', exact: true }).isEditable()).toBe(false)
    expect(await form.getByRole('button', { name: 'Save' }).count()).toBe(0)
    await axe()
  })
})
