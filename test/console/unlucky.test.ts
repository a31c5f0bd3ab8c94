import { describe, expect, test } from 'vitest'
import type { Request } from '../../console/src/api/types.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { PASSWORD } from '../builders/console.ts'
import { IN_BROWSER, noChromium, settled, visitor } from './browser.ts'
import { capturing } from './captured.ts'
import { admit } from './sign-in.ts'
import { answers, openBefore } from './upstreams.ts'

/*
 * Pages that meet slow answers, other tabs, other operators, misspelt addresses, an upgrade of the gateway, long lists
 * and a clipboard that refuses.
 */

describe.skipIf(noChromium)('a page', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  test('shows answers that take longer than the time between two loads', async () => {
    const { page } = await visit('/account')
    let asked = 0
    await page.route('**/admin/v1/overview', async route => {
      asked++
      await new Promise(resolve => setTimeout(resolve, 12_500))
      await route.continue().catch(() => {})
    })
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.locator('.loading').first().waitFor({ state: 'detached', timeout: 20_000 })
    expect(asked).toBeLessThan(3)
  })

  test('does not prolong the session by loads that nobody asked for', async () => {
    const { page } = await visit('/account')
    await page.clock.install()
    const loads: boolean[] = []
    await page.route('**/admin/v1/overview', async route => {
      loads.push('x-interlingua-by-itself' in route.request().headers())
      await route.continue().catch(() => {})
    })
    await page.getByRole('link', { name: 'Overview' }).click()
    await expect.poll(() => loads.length).toBe(1)
    await page.getByText('Requests').first().waitFor()
    for (const press of [false, false, true, false]) {
      const before = loads.length
      if (press) await page.keyboard.press('Shift')
      await page.clock.runFor(11_000)
      await expect.poll(() => loads.length).toBeGreaterThan(before)
      await settled(page)
    }
    expect(loads.slice(0, 5)).toEqual([false, true, true, false, true])
  })

  test('shows names that look like others, or reorder the text around them, with their hidden characters', async () => {
    const { page, gateway, goTo } = await visit('/account')
    for (const name of ['prod', 'prod\u200b', 'p\u202edorp']) await gateway.admin.post('/keys', { name })
    await goTo('/keys')
    const names = page.locator('.key-name .opener')
    await expect.poll(() => names.allTextContents()).toEqual(['dev', 'prod', 'prod\\u200b', 'p\\u202edorp'])
    await goTo('/audit?kind=key')
    await page.getByText('p\\u202edorp').first().waitFor()
  })

  test('changes only what was edited, so that the change of another operator stays', async () => {
    const { page, gateway, goTo } = await visit('/account')
    const { admin } = gateway
    const key = { name: 'bob', rpm: 5, budget: { day: 1, month: 20 }, models: ['a,b', 'c'] }
    const made = (await admin.post('/keys', key)).json as { readonly id: string }
    await admin.post('/groups', { name: 'team', rpm: 5, budget: { day: 1, month: 20 } })
    await goTo('/keys')
    await page.getByRole('button', { name: 'Open bob' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Requests per minute').fill('7')
    await page.getByLabel('Budget per day').fill('2')
    const stop = { enabled: false, tpm: 100, budget: { month: 3 } }
    await admin.patch(`/keys/${made.id}`, stop)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('bob was changed.').waitFor()
    expect(await admin.store.access.keyNamed('bob')).toMatchObject({
      ...{ enabled: false, models: ['a,b', 'c'], limits: { rpm: 7, tpm: 100, budget: { day: 2, month: 3 } } },
    })
    await goTo('/keys?view=groups')
    await page.getByRole('button', { name: 'Actions for team' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByLabel('Requests per minute').fill('7')
    await admin.patch('/groups/team', { models: ['only-this'], budget: { month: 3 } })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('team was changed.').waitFor()
    expect((await admin.store.access.groups()).find(({ name }) => name === 'team')).toMatchObject({
      ...{ models: ['only-this'], limits: { rpm: 7, budget: { day: 1, month: 3 } } },
    })
  })

  test('changes only the fields of a channel that were edited', async () => {
    const gateway = await openBefore([])
    closing.push(() => gateway.close())
    const { page } = await visit('/account', { gateway })
    const { admin } = gateway
    const config = { name: 'mine', provider: 'custom', base_url: 'http://127.0.0.1:9/v1', formats: ['chat'] }
    await admin.post('/channels', { ...config, key: 'a-key-of-mine-1234', models: ['m'], timeout: { idle: '9s' } })
    await page.goto('/console/channels?channel=mine')
    await page.getByRole('dialog', { name: 'mine' }).getByRole('button', { name: 'Change' }).click()
    await page.getByText('Order, limits and further settings').click()
    await page.getByLabel('Priority').fill('7')
    const byOther = { models: ['m', 'n'], weight: 3, key: 'another-key-of-mine-5678', timeout: null }
    await admin.patch('/channels/mine', { ...byOther, base_url: 'http://127.0.0.2:9/v1' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Change mine' }).waitFor({ state: 'detached' })
    await expect
      .poll(async () => (await admin.get('/channels/mine')).json.config)
      .toEqual({
        ...{ ...config, base_url: 'http://127.0.0.2:9/v1', models: ['m', 'n'], weight: 3, priority: 7 },
        key: { secret: expect.any(String), last_four: '5678' },
      })
  })

  test('changes only the settings of a model that were edited', async () => {
    const gateway = await openBefore([{ name: 'one', models: ['priced'], formats: ['chat'], script: answers }])
    closing.push(() => gateway.close())
    const { page } = await visit('/account', { gateway })
    const { admin } = gateway
    const settings = { price: { input: 1, output: 2 }, context: 1000, tools: true, reasoning: true }
    await admin.put('/model-settings/priced', settings)
    await page.goto('/console/models?model=priced')
    await page.getByRole('dialog', { name: 'priced' }).getByRole('button', { name: 'Settings' }).click()
    const form = page.getByRole('dialog', { name: 'Settings of priced' })
    await form.getByRole('textbox', { name: 'Input', exact: true }).fill('3')
    await form.getByRole('textbox', { name: 'Context', exact: true }).fill('')
    await admin.put('/model-settings/priced', { ...settings, price: { input: 1, output: 5 }, fallbacks: ['other'] })
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings of priced were saved.').waitFor()
    await expect
      .poll(async () => (await admin.get('/model-settings/priced')).json.settings)
      .toEqual({ price: { input: 3, output: 5 }, tools: true, reasoning: true, fallbacks: ['other'] })
  })

  test('goes on after another tab signed in again, and keeps what was typed', async () => {
    const { page, context, gateway } = await visit('/keys', { expected: [/status of 403/] })
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('typed')
    const other = await context.newPage()
    await other.goto('/healthz')
    const name = await admit(gateway)
    await other.evaluate(
      ([user, password]) =>
        fetch('/admin/v1/session', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: user, password }),
        }),
      [name, PASSWORD],
    )
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'typed was created' }).waitFor()
  })

  test('is that of the user who signed in at another tab, and changes nothing in the name of another', async () => {
    const { page, context, gateway } = await visit('/keys', { expected: [/status of 403/] })
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('typed')
    const other = await context.newPage()
    await other.goto('/healthz')
    await other.evaluate(
      ([user, password]) =>
        fetch('/admin/v1/session', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: user, password }),
        }),
      [await admit(gateway, 'viewer'), PASSWORD],
    )
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.locator('.foot').getByText('vera').waitFor()
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0)
    expect(await gateway.admin.store.access.keyNamed('typed')).toBeUndefined()
  })

  test.each(['/traffic?since=yesterday', '/usage?list=&at=yesterday&of=x', '/traffic?only=errors&until=%00'])(
    'at %s, with a time that is none, says what it can',
    async path => {
      const { page } = await visit('/account', { expected: [/status of 400/] })
      await page.goto(`/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
    },
  )

  test('whose files an upgrade of the gateway has replaced says so, and the next one opens', async () => {
    const { page } = await visit('/keys', {
      expected: [/status of 404/],
    })
    await page.route('**/assets/audit-*.js', route => route.fulfill({ status: 404, body: 'Not found.' }))
    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('alert').getByRole('button').waitFor()
    await page.getByRole('link', { name: 'Models' }).click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('lists as many requests as are asked for', async () => {
    const { page } = await visit('/account')
    const now = Date.now()
    const row = (index: number): Request => ({
      ...{ id: `r${index}`, at: new Date(now - index * 1000).toISOString(), door: '/v1/chat/completions' },
      ...{ format: 'chat', stream: false, attempts: 1, status: 200, losses: 0, duration_ms: 1, captured: false },
    })
    await page.route('**/admin/v1/requests?*', route => {
      const start = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
      const data = Array.from({ length: 100 }, (_, index) => row(start + index))
      return route.fulfill({ json: { data, next_cursor: String(start + 100) } })
    })
    await page.getByRole('link', { name: 'Traffic' }).click()
    const table = page.locator('table[aria-rowcount]')
    for (let count = 100; count <= 700; count += 100) {
      await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(count + 1))
      await page.getByRole('button', { name: 'Load more' }).click()
    }
  })

  test('shows the start of a captured text of a million lines, and more when asked', async () => {
    const { page, gateway } = await visit('/account')
    const key = await capturing(gateway)
    const { id } = await key.send('/v1/chat/completions', {
      ...{ model: 'replay', messages: [{ role: 'user', content: 'Hi.' }] },
    })
    await key.stored(id)
    await page.route('**/capture', async route => {
      const capture = await (await route.fetch()).json()
      const { body: _, ...caller } = capture.caller
      await route.fulfill({ json: { ...capture, caller: { ...caller, text: 'a\n'.repeat(500_000) } } })
    })
    await page.goto(`/console/traffic?request=${id}`)
    const shown = page.locator('.view-panel pre.plain').first()
    const length = async (): Promise<number> => ((await shown.textContent()) ?? '').length
    await expect.poll(length).toBe(20_000)
    await page.getByRole('button', { name: 'show more (980,000 characters left)' }).click()
    await expect.poll(length).toBe(120_000)
  })

  test('says that a text was not copied, instead of that it was', async () => {
    const { page } = await visit('/keys')
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))")
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('secret')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'secret was created' })
    await dialog.getByRole('button', { name: 'Copy Secret' }).click()
    await dialog.getByText('Not copied: select the text and copy it yourself.').waitFor()
    expect(await dialog.getByText('Copied', { exact: true }).count()).toBe(0)
  })
})
