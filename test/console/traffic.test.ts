import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { ANSWER } from '../builders/chat.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { channelAt } from '../builders/config.ts'
import { SOON } from '../builders/time.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'
import { traffic as generated } from '../builders/usage.ts'
import { IN_BROWSER, noChromium, settled, THEMES, type Visit, type VisitOptions, visitor, WIDTHS } from './browser.ts'
import { ASKED, capturing } from './captured.ts'

const CHAT = '/v1/chat/completions'
const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Say hello.' }] }

/** Markup that would run if it were not escaped. */
const MARKUP = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>{{7*7}}`

const json: Script = response => response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER))

/** Rows of the list, by the text of their cells. */
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

describe.skipIf(noChromium)('Traffic', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function upstream(script: Script = json): Promise<FakeUpstream> {
    const one = await FakeUpstream.open(script)
    closing.push(() => one.close())
    return one
  }

  /** Opens a page whose gateway has two channels for one model. */
  async function before(one: FakeUpstream, options: VisitOptions = {}): Promise<Visit> {
    const channels = [
      channelAt(one.address, { name: 'first' }),
      channelAt(one.address, { name: 'second', priority: 1 }),
    ]
    return visit('/traffic', { config: { channels }, ...options })
  }

  test('lists requests as they begin and end, and stops and goes on', async () => {
    let answer = (): void => {}
    const slow = await upstream(response => {
      answer = () => json(response, undefined as never)
    })
    const { page, gateway } = await before(slow)
    await page.getByText('No requests yet').waitFor()
    await page.getByRole('status').getByText('Live').waitFor()
    const key = await capturing(gateway)
    const asked = key.send(CHAT, HELLO)
    await rowOf(page, 'running').waitFor()
    await vi.waitFor(() => expect(slow.seen).toHaveLength(1), SOON)
    answer()
    const { id } = await asked
    const row = rowOf(page, '200')
    await row.waitFor()
    await expect.poll(() => row.textContent()).toContain(key.name)
    await expect.poll(() => row.getByRole('link').getAttribute('href')).toBe(`/console/traffic?request=${id}`)
    await expect.poll(() => row.getByRole('img').getAttribute('aria-label')).toMatch(/Queue .*Upstream /)

    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('status').getByText('Paused').waitFor()
    const second = key.send(CHAT, HELLO)
    await vi.waitFor(() => expect(slow.seen).toHaveLength(2), SOON)
    answer()
    await key.stored((await second).id)
    await expect.poll(() => rowOf(page, '200').count()).toBe(1)
    await page.getByRole('button', { name: 'Go live' }).click()
    await page.reload()
    await rowOf(page, '200').nth(1).waitFor()
  })

  test('has what was over just before it was opened, and is stored a moment later', async () => {
    const { page, gateway } = await before(await upstream())
    const key = await capturing(gateway)
    const { id } = await key.send(CHAT, HELLO)
    await key.stored(id)
    // The first list is empty, as if the request had ended a moment later.
    await page.route('**/admin/v1/requests?*', route => route.fulfill({ json: { data: [] } }), { times: 1 })
    await page.reload()
    await rowOf(page, '200').waitFor()
  })

  /** Adds requests of the last minutes, one each second, and returns their ids, the latest first. */
  async function add({ admin }: Visit['gateway'], count: number, until: number): Promise<string[]> {
    const rows = [...generated(count, { since: until - count * 1000, until, keys: 1, models: 1, channels: 1 })]
    await admin.store.usage.add(rows)
    return rows.sort((one, other) => other.at - one.at).map(({ id }) => id)
  }

  test('leaves out nothing between the latest requests and those before a pause', async () => {
    const { page, gateway } = await before(await upstream())
    const now = Date.now()
    await add(gateway, 5, now - 600_000)
    await page.reload()
    await page.getByRole('status').getByText('Live').waitFor()
    await page.locator('tbody tr').nth(4).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    const missed = await add(gateway, 150, now)
    await page.getByRole('button', { name: 'Go live' }).click()
    const links = page.locator('tbody a.when')
    await expect.poll(() => links.count()).toBe(100)
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(() => links.count()).toBe(155)
    const shown = await links.evaluateAll(all => all.map(one => one.getAttribute('href')?.split('=').at(-1)))
    expect(shown.slice(0, 150)).toEqual(missed)
  })

  test('goes on after a page without any request that fits', async () => {
    const { page, gateway } = await before(await upstream())
    const [id] = await add(gateway, 1, Date.now() - 60_000)
    // The gateway reads a limited number of captures for one page.
    await page.route(/\/requests\?only=captured&limit=100$/, route =>
      route.fulfill({ json: { data: [], next_cursor: 'next' } }),
    )
    await page.route(/\/requests\?only=captured&limit=100&cursor=next$/, async route => {
      const { json } = await gateway.admin.get(`/requests/${id}`)
      await route.fulfill({ json: { data: [{ ...json, captured: true }] } })
    })
    await page.getByLabel('Show').selectOption('Captured')
    await page.getByText('No requests match').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.locator(`tbody a[href$="${id}"]`).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
  })

  test('says what it searched, and finds any request by its id', async () => {
    const { page, gateway } = await before(await upstream())
    const ids = await add(gateway, 120, Date.now())
    await page.reload()
    await page.locator('tbody tr').nth(99).waitFor()
    const box = page.getByLabel('Search requests')
    await box.fill('no such words')
    await page.getByText('Only the latest 100 requests were searched.').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('Only the latest 100 requests were searched.').waitFor({ state: 'detached' })
    await page.reload()
    await page.locator('tbody tr').nth(99).waitFor()
    await box.fill(ids.at(-1)!)
    await page.locator(`tbody a[href$="${ids.at(-1)}"]`).waitFor()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  })

  test('is narrowed by what happened, key, model and words, all of it in the address', async () => {
    const { page, gateway } = await before(await upstream())
    const [one, two] = [await capturing(gateway, 'key-one'), await capturing(gateway, 'key-two')]
    await one.send(CHAT, HELLO)
    await one.send(CHAT, { ...HELLO, model: 'no-such-model' })
    const lossy = await two.send('/v1/messages', { ...ASKED, model: 'm', stream: false })
    await two.stored(lossy.id)
    await page.reload()
    const rows = page.locator('tbody tr')
    await rows.nth(2).waitFor()
    await page.getByLabel('Show').selectOption('Errors')
    await expect.poll(() => rows.count()).toBe(1)
    await expect.poll(() => rows.textContent()).toContain('404')
    await expect.poll(() => page.url()).toContain('only=errors')
    await page.getByLabel('Show').selectOption('With losses')
    await expect.poll(() => rows.textContent()).toContain('key-two')
    await page.getByLabel('Show').selectOption('Captured')
    await expect.poll(() => rows.count()).toBe(3)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Key', { exact: true }).selectOption('key-one')
    await expect.poll(() => rows.count()).toBe(2)
    await page.reload()
    await expect.poll(() => rows.count()).toBe(2)
    await page.keyboard.press('/')
    await page.keyboard.type('no-such')
    await expect.poll(() => rows.count()).toBe(1)
  })

  test('shows four views of a captured request with its losses marked, by keyboard alone', async () => {
    const { page, gateway } = await before(await upstream())
    const key = await capturing(gateway)
    const { id } = await key.send('/v1/messages', { ...ASKED, model: 'm', stream: false })
    await key.stored(id)
    await page.reload()
    await page.locator('tbody tr a').focus()
    await page.keyboard.press('Enter')
    const panels = ['From caller', 'Canonical', 'To upstream', 'Response']
    for (const name of panels) await page.getByRole('region', { name, exact: true }).first().waitFor()
    const caller = page.locator('.view-panel').filter({ hasText: 'From caller' })
    await expect
      .poll(() => caller.locator('.marked').allInnerTexts())
      .toEqual([
        expect.stringContaining('top_k'),
        expect.stringContaining('cache_control'),
        expect.stringContaining('cache_control'),
      ])
    const canonical = page.locator('.view-panel').filter({ hasText: 'Canonical' })
    await expect
      .poll(() => canonical.locator('.marked').allInnerTexts())
      .toContainEqual(expect.stringContaining('topK'))
    const place = page.getByRole('button', { name: '/messages/0/content/0/cache_control' })
    await place.focus()
    await page.keyboard.press('Enter')
    const target = caller.locator('.target')
    await target.waitFor()
    await expect.poll(() => page.evaluate("document.activeElement.classList.contains('target')")).toBe(true)
    await page.getByRole('button', { name: 'To caller' }).press('Enter')
    const response = page.locator('.view-panel').filter({ has: page.getByRole('heading', { name: 'Response' }) })
    await response.getByText('"message"').first().waitFor()
    const text = await page.locator('main').textContent()
    expect(text).not.toContain(key.secret)
    expect(text).not.toContain('upstream-key-1234')
  })

  test('shows the events of a stream with their times', async () => {
    const { page, gateway } = await visit('/traffic')
    const key = await capturing(gateway)
    const { id } = await key.send('/v1/messages', { ...ASKED, model: 'replay-chat-hello' })
    await key.stored(id)
    await page.goto(`/console/traffic?request=${id}`)
    const events = page.getByRole('region', { name: /Response: \d+ events/ })
    await events.waitFor()
    await expect.poll(() => events.getByRole('listitem').count()).toBeGreaterThan(3)
    await events.getByRole('button').first().click()
    await events.getByText('"choices"').first().waitFor()
    await page.getByRole('button', { name: 'To caller' }).click()
    await page.getByText('content_block_delta').first().waitFor()
  })

  test('sends a request again to a channel of choice, and shows that one', async () => {
    const one = await upstream()
    const { page, gateway } = await before(one)
    const key = await capturing(gateway)
    const { id } = await key.send(CHAT, HELLO)
    await key.stored(id)
    await page.goto(`/console/traffic?request=${id}`)
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Channel').selectOption('second')
    await dialog.getByRole('button', { name: 'Send again' }).click()
    await page.waitForURL(url => !url.href.includes(id) && url.search.includes('request='))
    await page.getByText('Replay of').waitFor()
    await page.locator('.capture-view').waitFor()
    expect(one.seen).toHaveLength(2)
    const again = new URL(page.url()).searchParams.get('request')!
    expect((await gateway.admin.get(`/requests/${again}/capture`)).json).toMatchObject({
      ...{ replay_of: id, attempts: [{ channel: 'second' }] },
    })
  })

  test('saves a request as the files of a fixture, and deletes what was captured', async () => {
    const { page, gateway } = await before(await upstream())
    const key = await capturing(gateway)
    const { id } = await key.send('/v1/messages', { ...ASKED, model: 'm', stream: false })
    await key.stored(id)
    await page.goto(`/console/traffic?request=${id}`)
    await page.getByRole('button', { name: 'Save as fixture' }).click()
    await page.getByText(`fixtures/chat/captured-${id.slice(-8)}.result.json`).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download all' }).click(),
    ])
    const { files } = JSON.parse(readFileSync(await download.path(), 'utf8'))
    expect(files.map((file: { name: string }) => file.name.split('/')[0])).toEqual(['messages', 'chat', 'chat'])
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('button', { name: 'Open in conformance' }).click()
    const dialog = page.getByRole('dialog', { name: 'Open in conformance' })
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      dialog
        .getByRole('button', { name: /^Save recording/ })
        .first()
        .click(),
    ])
    expect(saved.suggestedFilename()).toMatch(/^caller-messages-.*\.json$/)
    expect(JSON.parse(readFileSync(await saved.path(), 'utf8'))).toMatchObject({ version: 1, format: 'messages' })
    await dialog.getByText(`npx interlingua conformance judge ${saved.suggestedFilename()}`).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('button', { name: 'Delete capture' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete capture' }).click()
    await page.getByText('The bodies of this request were not captured.').waitFor()
    expect((await gateway.admin.get(`/requests/${id}/capture`)).status).toBe(404)
  })

  test('offers to capture a key whose requests are not', async () => {
    const { page, gateway } = await before(await upstream())
    const { json: key } = await gateway.admin.post('/keys', { name: 'plain' })
    const headers = { authorization: `Bearer ${key.secret}` }
    gateway.admin.secrets.length = 0
    const asked = await gateway.admin.testServer.ask(CHAT, HELLO, { headers })
    await page.goto(`/console/traffic?request=${asked.headers['x-request-id']}`)
    await page.getByRole('button', { name: 'Capture “plain” for 1 hour' }).click()
    await page.getByText(/Requests of “plain” are captured until/).waitFor()
    expect(Date.parse((await gateway.admin.get(`/keys/${key.id}`)).json.capture_until)).toBeGreaterThan(Date.now())
    await page.getByRole('link', { name: 'All requests' }).click()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('are no longer captured').waitFor()
    expect((await gateway.admin.get(`/keys/${key.id}`)).json.capture_until).toBeUndefined()
  })

  test('viewers see requests, but no bodies', async () => {
    const { page, gateway } = await before(await upstream(), { role: 'viewer' })
    const key = await capturing(gateway)
    const { id } = await key.send(CHAT, HELLO)
    await key.stored(id)
    await page.goto(`/console/traffic?request=${id}`)
    await page.getByText('Only administrators can see captured bodies.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Replay', exact: true }).count()).toBe(0)
    const refused = await page.evaluate(`fetch('/admin/v1/requests/${id}').then(one => one.status)`)
    expect(refused).toBe(200)
    expect((await page.request.get(`/admin/v1/requests/${id}/capture`)).status()).toBe(403)
  })

  test('whatever callers and upstreams send is text', async () => {
    const hostile = await upstream(response =>
      response
        .writeHead(400, { 'content-type': 'application/json', 'x-note': 'x' })
        .end(JSON.stringify({ error: { message: MARKUP, type: MARKUP, [MARKUP]: MARKUP } })),
    )
    const { page, gateway, axe } = await before(hostile)
    const key = await capturing(gateway, MARKUP.slice(0, 100))
    const agent = { 'user-agent': MARKUP, 'x-title': MARKUP }
    const content = [{ type: 'text', text: MARKUP, [MARKUP]: { deep: MARKUP } }]
    const failed = await key.send(
      '/v1/messages',
      { ...ASKED, model: 'm', stream: false, messages: [{ role: 'user', content }] },
      agent,
    )
    const unknown = await key.send(CHAT, { ...HELLO, model: MARKUP }, agent)
    const broken = await key.send(CHAT, MARKUP, agent)
    for (const { id } of [failed, unknown, broken]) await key.stored(id)
    await page.reload()
    await page.locator('tbody tr').nth(2).waitFor()
    const check = async (): Promise<void> => {
      await expect.poll(() => page.title()).toMatch(/Interlingua$/)
      await expect.poll(() => page.locator('img[src=x], main script').count()).toBe(0)
    }
    await check()
    await expect.poll(() => page.locator('main').textContent()).toContain('onerror')
    for (const { id } of [failed, unknown, broken]) {
      await page.goto(`/console/traffic?request=${id}`)
      await page.locator('.capture-view').waitFor()
      for (const one of await page.locator('details.capture-headers summary').all()) await one.click()
      await page.getByRole('button', { name: 'To caller' }).click()
      await check()
      await expect.poll(() => page.locator('main').textContent()).toContain('onerror')
    }
    await axe()
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme, in both languages',
    async ({ width, theme }) => {
      const { page, gateway, axe } = await visit('/traffic', { width, theme })
      const key = await capturing(gateway)
      await key.send(CHAT, { ...HELLO, model: 'no-such-model' })
      const { id } = await key.send('/v1/messages', { ...ASKED, model: 'replay-chat-hello' })
      await key.stored(id)
      await page.reload()
      await page.locator('tbody tr').nth(1).waitFor()
      const fits = async (): Promise<void> =>
        await expect
          .poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth'))
          .toBeLessThanOrEqual(0)
      await axe()
      await fits()
      await page.goto(`/console/traffic?request=${id}`)
      await page.locator('.capture-view').waitFor()
      if (width < 600)
        for (const name of ['Canonical', 'To upstream', 'Response']) {
          await page.getByRole('tab', { name }).click()
          await axe()
        }
      await axe()
      await fits()
      await page.getByRole('button', { name: 'Replay', exact: true }).click()
      await axe()
      const chinese = await visit(`/traffic?request=${id}`, { width, theme, gateway, language: 'zh' })
      await chinese.page.locator('.capture-view').waitFor()
      await settled(chinese.page)
      await chinese.axe()
      await expect.poll(() => chinese.page.locator('main').textContent()).toContain('翻译中有')
    },
  )
})
