import { describe, expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { IN_BROWSER, noChromium, THEMES, visitor, WIDTHS } from './browser.ts'
import { answers, lists, openBefore, type Row } from './upstreams.ts'

const ROWS: readonly Row[] = [{ name: 'filed', models: ['m'], formats: ['chat'], script: answers }]
const SECRET = 'upstream-secret-of-the-form-4711'

describe.skipIf(noChromium)('the form of a channel', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function open(role: 'admin' | 'viewer' = 'admin') {
    const upstream = await FakeUpstream.open(lists('alpha', 'beta'))
    closing.push(() => upstream.close())
    const gateway = await openBefore(ROWS)
    closing.push(() => gateway.close())
    const { page, axe } = await visit('/channels', { gateway, role, expected: [/400/, /409/] })
    return { upstream, gateway, page, axe }
  }

  test('adds a channel by its provider, after a test, changes it, and deletes it', async () => {
    const { upstream, gateway, page, axe } = await open()
    const { admin } = gateway
    // Everything by keyboard: the provider, its fields, the test.
    await page.keyboard.press('n')
    const form = page.getByRole('dialog', { name: 'Add a channel' })
    await form.getByRole('combobox', { name: 'Provider' }).fill('custom')
    await page.keyboard.press('Enter')
    await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue()).toBe('custom')
    await form.getByLabel('Name', { exact: true }).fill('lab')
    await form.getByLabel('API key').fill(SECRET)
    await form.getByLabel('Formats').fill('chat')
    // The fault stands at its field.
    await form.getByLabel('Base URL').fill('nowhere')
    await form.getByRole('button', { name: 'Test', exact: true }).click()
    await expect.poll(() => form.locator('.field.wrong').allInnerTexts()).toEqual([expect.stringMatching(/^Base URL/)])
    await form.getByLabel('Base URL').fill(`${upstream.address}/v1`)
    await form.getByRole('button', { name: 'Test', exact: true }).click()
    await form.getByText('Answered').waitFor()
    await form.getByText('Upstream lists 2 models').waitFor()
    await form.getByRole('button', { name: 'Add alpha' }).click()
    const models = form.getByLabel('Models', { exact: true })
    await models.fill(`${await models.inputValue()}\nshort = beta`)
    const yaml = await form.getByRole('region', { name: 'The same for the config file' }).innerText()
    expect(yaml).toContain('name: lab')
    expect(yaml).not.toContain(SECRET)
    await axe()
    await page.keyboard.press('Enter')
    await form.getByRole('button', { name: 'Add channel' }).click()
    await page.getByText('lab was added and accepts requests.').waitFor()
    const answer = await admin.testServer.ask('/v1/chat/completions', {
      model: 'short',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(answer.status).toBe(200)
    expect(JSON.parse(upstream.seen.at(-1)!.text)).toMatchObject({ model: 'beta' })

    // Its secret is shown nowhere again, only its end.
    await page.getByRole('button', { name: 'Open lab' }).click()
    await page.getByRole('dialog', { name: 'lab' }).getByRole('button', { name: 'Change' }).click()
    const change = page.getByRole('dialog', { name: 'Change lab' })
    const key = change.getByLabel('API key')
    await expect.poll(() => key.getAttribute('placeholder')).toBe('••••••••4711')
    expect([await key.inputValue(), await key.getAttribute('type')]).toEqual(['', 'password'])
    expect(await page.content()).not.toContain(SECRET)
    expect(await change.getByLabel('Models', { exact: true }).inputValue()).toBe('alpha\nshort = beta')
    await change.getByText('Order, limits and further settings').click()
    await change.getByLabel('Priority').fill('3')
    await change.getByLabel('Further settings').fill('{ "timeout": ')
    await change.getByRole('button', { name: 'Save' }).click()
    await change.getByText('This is no JSON').waitFor()
    await change.getByLabel('Further settings').fill('{ "timeout": { "first_byte": "2m" } }')
    await change.getByRole('button', { name: 'Save' }).click()
    await page.getByText('lab was changed.').waitFor()
    const { config } = (await admin.get('/channels/lab')).json
    expect(config).toMatchObject({
      ...{ priority: 3, timeout: { first_byte: '2m' }, models: { alpha: 'alpha', short: 'beta' } },
      key: { last_four: '4711' },
    })
    // The request used the stored secret, because it has no new one.
    await admin.post('/channels/lab/test')
    expect(upstream.seen.at(-1)!.headers['authorization']).toBe(`Bearer ${SECRET}`)

    await page.getByRole('dialog', { name: 'lab' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete lab?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('lab was deleted.').waitFor()
    expect((await admin.get('/channels/lab')).status).toBe(404)
    // The focus has a place, although the panel and the row are gone.
    await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true)
  })

  test('channels of the config file are marked and can only be read', async () => {
    const { page } = await open()
    await expect.poll(() => page.locator('tbody tr').first().innerText()).toContain('config file')
    await page.getByRole('button', { name: 'Open filed' }).click()
    const panel = page.getByRole('dialog', { name: 'filed' })
    await panel.getByText('This channel is in the config file.').waitFor()
    expect(await panel.getByRole('button', { name: /^(Change|Delete|Show YAML)$/ }).count()).toBe(0)
  })

  test('viewers add nothing', async () => {
    const { page } = await open('viewer')
    await page.getByRole('button', { name: 'Open filed' }).waitFor()
    expect(await page.getByRole('button', { name: 'Add channel' }).count()).toBe(0)
    await page.keyboard.press('n')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test.for(WIDTHS.flatMap(width => THEMES.map(theme => [width, theme] as const)))(
    'is accessible at %i px in %s, in Chinese too',
    async ([width, theme]) => {
      const gateway = await openBefore(ROWS)
      closing.push(() => gateway.close())
      const { page, axe } = await visit('/channels', { gateway, width, theme, language: width < 600 ? 'zh' : 'en' })
      await page.keyboard.press('n')
      await page.getByRole('dialog').getByRole('combobox').first().waitFor()
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    },
  )
})
