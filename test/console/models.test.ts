import { describe, expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { noChromium, visitor } from './browser.ts'
import { openBeforeVendors } from './vendors.ts'

describe.skipIf(noChromium)('the page of models', () => {
  const closing = closingAfterEach()
  const visit = visitor()

  test('probe', async () => {
    const gateway = await openBeforeVendors()
    closing.push(() => gateway.close())
    const { data } = (await gateway.admin.get('/models')).json
    console.log(JSON.stringify(data, null, 1).slice(0, 5000))
    console.log(JSON.stringify((await gateway.admin.get('/channels')).json.data, null, 1).slice(0, 6000))
    const { page, axe } = await visit('/models', { gateway })
    await page.getByText('gpt-5.6').first().waitFor()
    await axe()
    expect(1).toBe(1)
  })
})
