import { describe, expect, test } from 'vitest'
import { CHAT_PATH } from '../builders/paths.ts'
import { IN_BROWSER, noChromium, settled, THEMES, type Visit, visitor, WIDTHS } from './browser.ts'
import { furnish } from './scenery.ts'

const REFUSED = { expected: [/status of 4\d\d/] }

/** Finds a stored key by name. */
const stored = ({ gateway }: Visit, name: string) => gateway.admin.store.access.keyNamed(name)

/** Status of a request with a secret. */
async function statusWith({ gateway }: Visit, secret: string): Promise<number> {
  const body = { model: 'replay', messages: [{ role: 'user', content: 'Hi.' }] }
  const headers = { authorization: `Bearer ${secret}` }
  return (await gateway.admin.testServer.ask(CHAT_PATH, body, { headers })).status
}

const clipboard = ({ page }: Visit): Promise<string> => page.evaluate('navigator.clipboard.readText()')

describe.skipIf(noChromium)('keys', IN_BROWSER, () => {
  const visit = visitor()

  test('made, its settings copied, and revoked by keyboard alone', async () => {
    const seen = await visit('/start')
    const { keyboard } = seen.page
    const type = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await keyboard.press(key)
    }
    /** Presses Tab until the element with this name has the focus. */
    const tabTo = async (name: string): Promise<void> => {
      const focused = 'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent'
      for (let steps = 0; (await seen.page.evaluate(focused)) !== name; steps++) {
        if (steps > 60) throw new Error(`Tab does not lead to ${name}`)
        await keyboard.press('Tab')
      }
    }
    await type('g', 'k')
    await seen.page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await settled(seen.page)
    await type('n')
    await seen.page.getByRole('dialog', { name: 'New key' }).waitFor()
    await keyboard.type('by-keyboard')
    await type('Enter')
    const secretDialog = seen.page.getByRole('dialog', { name: 'by-keyboard was created' })
    await secretDialog.waitFor()
    // The copy button has the focus.
    await type('Enter')
    await secretDialog.getByRole('button', { name: 'Copied' }).waitFor()
    const secret = await clipboard(seen)
    expect(secret).toMatch(/^il-/)
    expect(await statusWith(seen, secret)).toBe(200)
    await tabTo('Copy Shell settings')
    await type('Enter')
    await expect.poll(() => clipboard(seen)).toContain(`export ANTHROPIC_AUTH_TOKEN=${secret}`)
    await expect.poll(() => clipboard(seen)).toContain(`export OPENAI_BASE_URL=${seen.gateway.address}/v1`)
    await tabTo('Done')
    await type('Enter')
    await secretDialog.waitFor({ state: 'detached' })
    await type('/')
    await keyboard.type('by-key')
    await tabTo('Actions for by-keyboard')
    await type('Enter', 'End', 'Enter')
    await seen.page.getByRole('dialog', { name: 'Revoke by-keyboard?' }).waitFor()
    await type('Tab', 'Enter')
    await seen.page.getByText('by-keyboard was revoked.').waitFor()
    expect(await stored(seen, 'by-keyboard')).toBeUndefined()
    expect(await statusWith(seen, secret)).toBe(401)
  })

  test('made with limits and permissions, which are stored as they were written', async () => {
    const seen = await visit('/keys', REFUSED)
    const { page, gateway } = seen
    await gateway.admin.post('/groups', { name: 'team' })
    await page.reload()
    await settled(page)
    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog', { name: 'New key' })
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('Enter a name.').waitFor()
    await dialog.getByLabel('Name').fill('limited')
    await dialog.getByLabel('Group').selectOption('team')
    await dialog.getByLabel('Note').fill('For <b>Ada</b>')
    await dialog.getByLabel('Requests per minute').fill('many')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('Enter a number, 0 or more.').waitFor()
    await dialog.getByLabel('Requests per minute').fill('60')
    await dialog.getByLabel('Concurrent requests').fill('2.5')
    await dialog.getByLabel('Budget per month').fill('12.5')
    await dialog.getByLabel('Models', { exact: true }).fill('gpt-*\nreplay')
    await dialog.getByLabel('chat', { exact: true }).check()
    await dialog.getByLabel('Expires').fill('2030-01-31T12:30')
    await dialog.getByLabel('If something is lost in translation').selectOption('Refuse the request')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    // The gateway's error message is shown at its field.
    await dialog.getByText('expected a whole number').waitFor()
    expect(await stored(seen, 'limited')).toBeUndefined()
    await dialog.getByLabel('Concurrent requests').fill('2')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'limited was created' }).waitFor()
    expect(await stored(seen, 'limited')).toMatchObject({
      ...{ group: 'team', note: 'For <b>Ada</b>', models: ['gpt-*', 'replay'], doors: ['chat'], onLoss: 'refuse' },
      ...{ limits: { rpm: 60, concurrent: 2, budget: { month: 12.5 } }, expiresAt: Date.parse('2030-01-31T12:30:00Z') },
    })
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('limited')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('alert').getByText('name').waitFor()
  })

  test('that would never be valid are not made, and expired ones can be changed', async () => {
    const seen = await visit('/account')
    const { page, gateway, goTo } = seen
    await gateway.admin.post('/keys', { name: 'over', expires_at: '2020-01-01T00:00:00Z' })
    await goTo('/keys')
    await page.keyboard.press('n')
    await page.getByLabel('Name').fill('late')
    await page.getByLabel('Expires').fill(new Date(Date.now() - 60_000).toISOString().slice(0, 16))
    await page.keyboard.press('Enter')
    await page.getByText('This time is past.').waitFor()
    await page.getByLabel('Expires').fill(new Date(Date.now() + 3_600_000).toISOString().slice(0, 16))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'late was created' }).getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Open over' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Note').fill('an old one')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('over was changed.').waitFor()
  })

  test('changed: what is emptied is removed, what is not touched stays', async () => {
    const seen = await visit('/account')
    const { page, gateway } = seen
    const end = '2031-05-06T07:08:09.000Z'
    await gateway.admin.post('/keys', { name: 'bob', rpm: 5, tpm: 1000, models: ['a'], expires_at: end })
    await seen.goTo('/keys')
    await page.getByRole('button', { name: 'Open bob' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Requests per minute').fill('')
    await page.getByLabel('Models', { exact: true }).fill('')
    await page.getByLabel('Name').fill('robert')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('robert was changed.').waitFor()
    const key = (await stored(seen, 'robert'))!
    expect(key.limits).toEqual({ tpm: 1000 })
    expect(key.models).toBeUndefined()
    expect(key.expiresAt).toBe(Date.parse(end))
    await page.getByRole('button', { name: 'Actions for robert' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await page.getByRole('row').filter({ hasText: 'robert' }).getByText('Disabled').waitFor()
    expect((await stored(seen, 'robert'))!.enabled).toBe(false)
  })

  test('rotated: the old secret works for the grace time', async () => {
    const seen = await visit('/account')
    const { page, gateway } = seen
    const { secret } = (await gateway.admin.post('/keys', { name: 'bob' })).json
    await seen.goTo('/keys')
    await page.getByRole('button', { name: 'Actions for bob' }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByLabel('Grace period for the old secret').selectOption('1 hour')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'bob has a new secret' })
    const fresh = (await dialog.locator('.secret code').textContent())!
    expect(await Promise.all([statusWith(seen, secret), statusWith(seen, fresh)])).toEqual([200, 200])
    const [old] = (await stored(seen, 'bob'))!.secrets.filter(one => one.expiresAt !== undefined)
    expect(old!.expiresAt! - Date.now()).toBeGreaterThan(3_500_000)
    // Closing the dialog removes the secret from the page.
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => page.content()).not.toContain(fresh)
  })

  test('captured for an hour, and no more', async () => {
    const seen = await visit('/account')
    const { page, gateway } = seen
    await gateway.admin.post('/keys', { name: 'bob' })
    await seen.goTo('/keys')
    const row = page.getByRole('row').filter({ hasText: 'bob' })
    await page.getByRole('button', { name: 'Actions for bob' }).click()
    await page.getByRole('menuitem', { name: 'Capture for 1 hour' }).click()
    await row.getByText('Capturing until').waitFor()
    expect((await stored(seen, 'bob'))!.captureUntil! - Date.now()).toBeGreaterThan(3_500_000)
    await page.getByRole('button', { name: 'Open bob' }).click()
    await page.getByRole('button', { name: 'Stop capturing' }).click()
    await row.getByText('Capturing until').waitFor({ state: 'detached' })
    expect((await stored(seen, 'bob'))!.captureUntil).toBeUndefined()
  })

  test('are listed with their use, searched and sorted', async () => {
    const seen = await visit('/account')
    const { page } = seen
    await furnish(seen.gateway, 800)
    await seen.goTo('/keys')
    const names = (): Promise<string[]> => page.locator('tbody .key-name button').allInnerTexts()
    await expect.poll(() => names()).toContain('helpdesk-bot')
    const used = page.getByRole('row').filter({ hasText: 'claude-code-ada' })
    await expect.poll(() => used.locator('.usage').textContent()).toMatch(/^[1-9]/)
    await expect.poll(() => used.locator('.sparkline').getAttribute('aria-label')).toMatch(/^\d+ requests in 14 days/)
    await expect.poll(() => used.locator('time').textContent()).toMatch(/ago$/)
    await page.getByRole('button', { name: 'Requests, 14 days' }).click()
    await page.getByRole('button', { name: 'Requests, 14 days' }).click()
    const counts = async () => (await page.locator('.usage').allInnerTexts()).map(text => Number(text.replace(',', '')))
    const sorted = (await counts()).toSorted((one, other) => other - one)
    expect(sorted[0]).toBeGreaterThan(0)
    await expect.poll(counts).toEqual(sorted)
    await page.getByLabel('Search keys').fill('bot support')
    await expect.poll(() => names()).toEqual(['helpdesk-bot'])
    await page.getByLabel('Search keys').fill('no such key')
    await page.getByText('No keys match').waitFor()
    await page.getByLabel('Search keys').fill('')
    await page.getByLabel('Group', { exact: true }).selectOption('support')
    await expect.poll(async () => (await names()).toSorted()).toEqual(['helpdesk-bot', 'intern-2026'])
  })

  test('are found by their accents, whichever system wrote them', async () => {
    const { page, gateway, goTo } = await visit('/account')
    await gateway.admin.post('/keys', { name: 'cafe\u0301-bot' })
    await goTo('/keys')
    await page.getByLabel('Search keys').fill('Caf\u00e9')
    await page.getByText('1 of 2 keys').waitFor()
  })

  test('fit a screen at a zoom of 400 %, whatever their names', async () => {
    const { page, gateway, goTo, axe } = await visit('/account')
    await gateway.admin.post('/keys', { name: `long-${'x'.repeat(120)}` })
    await page.setViewportSize({ width: 320, height: 256 })
    await goTo('/keys')
    const hidden = (): Promise<number> =>
      page.locator('dialog .body').evaluate(body => body.scrollHeight - body.clientHeight)
    await page.getByRole('button', { name: /^Open long/ }).click()
    await expect.poll(hidden).toBe(0)
    await axe()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('This cannot be undone.').waitFor()
    await expect.poll(hidden).toBe(0)
    await axe()
  })

  test('of a long list only those in view are in the document, and all can be reached', async () => {
    const { page, gateway, goTo } = await visit('/account')
    const names = Array.from({ length: 230 }, (_, index) => `key-${String(index).padStart(3, '0')}`)
    for (const name of names) await gateway.admin.post('/keys', { name })
    await goTo('/keys')
    await page.getByText('231 keys').waitFor()
    const list = page.getByRole('region', { name: 'Keys' })
    await expect.poll(() => list.locator('tbody tr').count()).toBeLessThan(100)
    await page.evaluate("document.querySelector('.table.long').scrollTo(0, 1e6)")
    await page.getByRole('button', { name: 'Open key-229' }).click()
    await page.getByRole('dialog', { name: 'key-229' }).waitFor()
  })

  test('of more than a thousand the first are shown, and the others on demand', async () => {
    const { page, gateway, goTo } = await visit('/account')
    for (let made = 0; made < 1000; made += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, at) => gateway.admin.post('/keys', { name: `key-${made + at}` })),
      )
    await goTo('/keys')
    await page.getByText('1,000 of 1,000+ keys').waitFor()
    await page.getByText('Only the first 1,000 keys are loaded and searched.').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('1,001 keys').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
  })

  test('that were revoked are shown where they are wanted, and cannot be changed', async () => {
    const seen = await visit('/account')
    const { page, gateway } = seen
    const { id } = (await gateway.admin.post('/keys', { name: 'gone' })).json
    await gateway.admin.delete(`/keys/${id}`)
    await seen.goTo('/keys')
    await expect.poll(() => page.getByText('gone', { exact: true }).count()).toBe(0)
    await page.getByLabel('Show revoked').check()
    await page.getByRole('row').filter({ hasText: 'gone' }).getByText('Revoked').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Actions for gone' }).count()).toBe(0)
  })

  test('a viewer sees them and can change none', async () => {
    const { page, gateway, goTo } = await visit('/account', { role: 'viewer' })
    await gateway.admin.post('/keys', { name: 'bob' })
    await goTo('/keys')
    await page.getByRole('button', { name: 'Open bob' }).click()
    await page.getByRole('dialog', { name: 'bob' }).getByText('Last 14 days').waitFor()
    for (const name of ['Edit', 'Revoke', 'Rotate', 'New key', 'Actions for bob'])
      await expect.poll(() => page.getByRole('button', { name, exact: true }).count()).toBe(0)
  })

  test('names and notes are text, whatever is in them', async () => {
    const { page, gateway, goTo } = await visit('/account')
    const script = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    await gateway.admin.post('/keys', { name: script, note: script })
    await goTo('/keys')
    await page.getByRole('button', { name: `Open ${script}` }).click()
    await page.getByRole('dialog').getByText(script).first().waitFor()
    await expect.poll(() => page.title()).toBe('Keys · Interlingua')
    await expect.poll(() => page.locator('main img, main script, dialog img').count()).toBe(0)
  })

  test('groups are made, changed and deleted', async () => {
    const { page, gateway } = await visit('/keys?view=groups', REFUSED)
    const groups = () => gateway.admin.store.access.groups()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog', { name: 'New group' })
    await dialog.getByLabel('Name').fill('team / a')
    await dialog.getByLabel('Tokens per minute').fill('200000')
    await dialog.getByLabel('Models', { exact: true }).fill('gpt-*, claude-*')
    await dialog.getByRole('button', { name: 'Create group' }).click()
    await page.getByText('Group team / a was created.').waitFor()
    expect(await groups()).toMatchObject([
      { name: 'team / a', models: ['gpt-*', 'claude-*'], limits: { tpm: 200_000 }, onLoss: 'show' },
    ])
    await page.getByRole('button', { name: 'Actions for team / a' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByLabel('Budget per day').fill('3')
    await page.getByLabel('Channels').fill('replay')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('team / a was changed.').waitFor()
    expect(await groups()).toMatchObject([{ limits: { tpm: 200_000, budget: { day: 3 } }, channels: ['replay'] }])
    await gateway.admin.post('/keys', { name: 'bob', group: 'team / a' })
    await page.getByRole('button', { name: 'Actions for team / a' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete group' }).click()
    await page.getByRole('alert').getByText('This group has keys').waitFor()
    await gateway.admin.delete(`/keys/${(await gateway.admin.store.access.keyNamed('bob'))!.id}`)
    await page.getByRole('button', { name: 'Delete group' }).click()
    await page.getByText('Group team / a was deleted.').waitFor()
    expect(await groups()).toEqual([])
  })

  test('in Chinese', async () => {
    const { page, axe } = await visit('/keys', { language: 'zh' })
    await page.getByRole('button', { name: '新建密钥' }).click()
    await page.getByRole('dialog', { name: '新建密钥' }).getByLabel('名称').fill('新')
    await axe()
    await page.getByRole('button', { name: '创建密钥' }).click()
    await page.getByRole('dialog', { name: '已创建 新' }).waitFor()
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'are accessible at $width px in $theme',
    async look => {
      const { page, gateway, goTo, axe } = await visit('/account', look)
      await furnish(gateway, 200)
      const narrow = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth - innerWidth')
      await goTo('/keys')
      await axe()
      await expect.poll(() => narrow()).toBeLessThanOrEqual(0)
      await page.getByRole('button', { name: 'Actions for codex-ci' }).click()
      await axe()
      await page.getByRole('menuitem', { name: 'Rotate' }).click()
      await page.getByRole('button', { name: 'Rotate', exact: true }).click()
      await page.getByRole('button', { name: 'Copy Secret' }).waitFor()
      await axe()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: 'Open nightly-evals' }).click()
      await axe()
      await page.getByRole('button', { name: 'Edit' }).click()
      await axe()
      await page.keyboard.press('Escape')
      await goTo('/keys?view=groups')
      await axe()
      await expect.poll(() => narrow()).toBeLessThanOrEqual(0)
    },
  )
})
