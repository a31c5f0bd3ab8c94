import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { ASK, events, HEAD } from '../builders/chat.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import type { Script } from '../builders/upstream.ts'
import { IN_BROWSER, noChromium, THEMES, visitor, WIDTHS } from './browser.ts'
import type { ConsoleGateway } from './gateway.ts'
import { HOSTILE, isUnharmed, shownText } from './hostile.ts'
import { isFocused, wordsOf } from './reading.ts'
import { answers, fails, garbage, openBefore, type Row, silence } from './upstreams.ts'

/** Upstreams with different failures, and one that works. */
const ROWS: readonly Row[] = [
  { name: 'good', models: ['m', 'other'], formats: ['chat', 'responses'], script: answers },
  {
    name: 'limited',
    models: ['m-limited'],
    formats: ['chat'],
    script: fails(429, 'Slow down', { 'retry-after': '50' }),
  },
  { name: 'broken', models: ['m-broken'], formats: ['chat'], script: fails(500, HOSTILE.join('\n')) },
  { name: 'refusing', models: ['m-refusing'], formats: ['chat'], script: fails(401, 'Wrong key upstream-key-1234') },
  { name: 'garbled', models: ['m-garbled'], formats: ['chat'], script: garbage },
  { name: 'silent', models: ['m-silent'], formats: ['chat'], script: silence, maxConcurrent: 3 },
  { name: 'dead', models: ['m-dead'], formats: ['chat'] },
]

const rowOf = (page: Page, name: string) =>
  page.locator('main tbody tr').filter({ has: page.getByRole('button', { name: `Open ${name}`, exact: true }) })
const textOf = async (page: Page, name: string): Promise<string> => await wordsOf(rowOf(page, name))
const panelOf = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })

/** Drained channels as another process reads them from the store. */
const drainedIn = async ({ admin }: ConsoleGateway): Promise<readonly string[]> =>
  (await admin.store.access.changes(0)).drained ?? []

const ask = ({ admin }: ConsoleGateway, model: string) => admin.testServer.ask(CHAT_PATH, { ...ASK, model })

describe.skipIf(noChromium)('the page of channels', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function open(rows = ROWS) {
    const gateway = await openBefore(rows)
    closing.push(() => gateway.close())
    return gateway
  }

  test('shows states, rates and errors of upstreams that fail in several ways, as they happen', async () => {
    const gateway = await open()
    const { page } = await visit('/channels', { gateway })
    await expect.poll(() => textOf(page, 'good')).toContain('OK')
    for (let count = 0; count < 3; count++) await ask(gateway, 'm')
    const failing = ['limited', 'broken', 'refusing', 'garbled', 'silent', 'dead']
    for (const name of failing) expect((await ask(gateway, `m-${name}`)).status).toBeGreaterThanOrEqual(400)
    // The page updates without a click.
    await expect.poll(() => textOf(page, 'dead')).toContain('Connection refused')
    await expect.poll(() => textOf(page, 'good')).toContain('0% 0 / 3')
    const said = {
      ...{ limited: 'Rate limited · 429', broken: 'Upstream failed · 500', refusing: 'Wrong key · 401' },
      ...{ garbled: 'Unexpected content', silent: 'Timeout: first byte' },
    }
    for (const [name, text] of Object.entries(said)) {
      await expect.poll(() => textOf(page, name)).toContain(text)
      await expect.poll(() => textOf(page, name)).toContain('100% 1 / 1')
    }
    await expect.poll(() => textOf(page, 'refusing')).toContain('Failing since')
    await expect.poll(() => textOf(page, 'limited')).toContain('Failing')
    await page.getByText('6 of 9 requests').first().waitFor()
    await page.getByRole('button', { name: 'Open refusing' }).click()
    await page.getByRole('tab', { name: 'Errors (1)' }).click()
    const error = await page.locator('.channels-errors li').first().innerText()
    expect(error).toMatch(
      /Wrong key\s+Error status\s+HTTP 401\s+m-refusing[\s\S]*ago[\s\S]*Wrong key[\s\S]*Latest request/,
    )
    expect(error).not.toContain('upstream-key-1234')
  })

  test('shows each key of a pool by its ending, with its state', async () => {
    const [refused, accepted] = ['upstream-key-of-pool-1111', 'upstream-key-of-pool-2222']
    const script: Script = (response, seen) =>
      seen.headers.authorization === `Bearer ${refused}`
        ? fails(401, `Wrong key ${refused}`)(response, seen)
        : answers(response, seen)
    const gateway = await open([
      { name: 'pooled', models: ['m'], formats: ['chat'], keys: [refused!, accepted!], script },
    ])
    const { page } = await visit('/channels', { gateway })
    // Each conversation draws a key; a refused one leads to the other.
    for (let count = 0; count < 20; count++)
      await gateway.admin.testServer.ask(CHAT_PATH, {
        ...ASK,
        model: 'm',
        messages: [{ role: 'user', content: `${count}` }],
      })
    await page.getByRole('button', { name: 'Open pooled' }).click()
    const keys = panelOf(page, 'pooled').locator('.channels-list li')
    await expect.poll(() => keys.count()).toBe(2)
    await expect.poll(async () => (await keys.nth(0).innerText()).replaceAll(/\s+/g, ' ')).toMatch(/^…1111 refused/)
    expect((await keys.nth(1).innerText()).replaceAll(/\s+/g, ' ')).toMatch(/^…2222 ok/i)
    expect(await page.content()).not.toContain('upstream-key-of-pool')
  })

  test('shows requests in flight, and stops refreshing where that is switched off', async () => {
    const gateway = await open()
    const { page } = await visit('/channels', { gateway })
    gateway.upstreams.get('silent')!.script = response => events(response).write(HEAD)
    const { out } = gateway.admin.testServer.send(CHAT_PATH, { ...ASK, model: 'm-silent', stream: true })
    out.on('error', () => {})
    await expect.poll(async () => (await gateway.admin.get('/channels/silent')).json.in_flight).toBe(1)
    await page.reload()
    await expect.poll(() => textOf(page, 'silent')).toContain('1 / 3')
    await page.getByLabel('Refresh every 3 seconds').uncheck()
    out.destroy()
    await ask(gateway, 'm')
    const asked: string[] = []
    page.on('request', one => asked.push(one.url()))
    await page.waitForTimeout(3500)
    expect(asked).toEqual([])
    await page.getByLabel('Refresh every 3 seconds').check()
    await expect.poll(() => textOf(page, 'silent')).toContain('0 / 3')
  })

  test('tests a channel by a real request for the chosen model, with its time, and what went wrong', async () => {
    const gateway = await open()
    const { page } = await visit('/channels', { gateway })
    await page.getByRole('button', { name: 'Test good' }).click()
    const dialog = page.getByRole('dialog', { name: 'Test good' })
    await dialog.getByLabel('Model').selectOption('other')
    await dialog.getByRole('button', { name: 'Send test' }).click()
    await dialog.getByText('Answered').waitFor()
    const [result] = await dialog.locator('.channels-results > li').allInnerTexts()
    expect(result).toMatch(/in [\d.]+ (ms|s)[\s\S]*Hello\.[\s\S]*other · Chat Completions · conversation/)
    const [seen] = gateway.upstreams.get('good')!.seen.filter(({ url }) => url.endsWith('completions'))
    expect(JSON.parse(seen!.text)).toMatchObject({ model: 'other', max_completion_tokens: 1 })
    gateway.upstreams.get('good')!.script = fails(503, `Busy ${HOSTILE[0]}`)
    await dialog.getByRole('button', { name: 'Test again' }).click()
    await dialog.getByText('Failed', { exact: true }).waitFor()
    await expect
      .poll(() => wordsOf(dialog.locator('.channels-results > li').first()))
      .toMatch(/after [\d.]+ (ms|s)\s+Overloaded\s+HTTP 503[\s\S]*Busy <img/)
    await expect.poll(() => dialog.locator('.channels-results > li').count()).toBe(2)
    // A test counts immediately, like any request.
    await page.keyboard.press('Escape')
    await expect.poll(() => textOf(page, 'good')).toContain('Overloaded · 503')
    await isUnharmed(page)
  })

  test('says how long a test waits, and that nobody is there', async () => {
    const { page } = await visit('/channels', { gateway: await open() })
    await page.getByRole('button', { name: 'Test silent' }).click()
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('Waiting for the upstream: 1 of 30 s').waitFor()
    await page.getByText('Timed out').last().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Test dead' }).click()
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByRole('dialog').getByText('Unreachable').waitFor()
  })

  test('drains and resumes after asking, which is stored and obeyed', async () => {
    const gateway = await open()
    const { page } = await visit('/channels', { gateway })
    const act = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for good' }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await act('Drain')
    const dialog = page.getByRole('dialog', { name: 'Drain good?' })
    await dialog.getByText('2 models have no other available channel').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await drainedIn(gateway)).toEqual([])
    await act('Drain')
    await dialog.getByRole('button', { name: 'Drain' }).click()
    await page.getByText('good accepts no new requests.').waitFor()
    expect(await drainedIn(gateway)).toEqual(['good'])
    await expect.poll(() => textOf(page, 'good')).toContain('Drained')
    expect((await ask(gateway, 'm')).status).toBe(503)
    await act('Resume')
    await page.getByRole('dialog', { name: 'Resume good?' }).getByRole('button', { name: 'Resume' }).click()
    await page.getByText('good accepts requests again.').waitFor()
    expect(await drainedIn(gateway)).toEqual([])
    expect((await ask(gateway, 'm')).status).toBe(200)
  })

  test('is for looking at only where the role is viewer', async () => {
    const gateway = await open()
    const { page } = await visit('/channels?channel=good', { gateway, role: 'viewer', expected: [/403/] })
    await panelOf(page, 'good').getByText('Accepts requests.').waitFor()
    for (const name of [/^Test/, /^Drain/, /^Actions/])
      await expect.poll(() => page.getByRole('button', { name }).count()).toBe(0)
    const refused = await page.evaluate<number>(`(async () => {
      const { csrf } = await (await fetch('/admin/v1/session')).json()
      const headers = { 'x-csrf-token': csrf, 'content-type': 'application/json' }
      return (await fetch('/admin/v1/channels/good/drain', { method: 'POST', headers, body: '{}' })).status
    })()`)
    expect(refused).toBe(403)
    expect(await drainedIn(gateway)).toEqual([])
  })

  test('says what the dialect of each format says there', async () => {
    const rows: Row[] = [
      { name: 'seek', provider: 'deepseek', models: ['m'], dialect: { own_flag: HOSTILE[1] }, script: answers },
      { name: 'plain', models: ['m'], provider: 'custom', formats: ['videos'], script: answers },
    ]
    const { page, goTo } = await visit('/channels?channel=seek', { gateway: await open(rows) })
    await page.getByRole('tab', { name: 'Formats and dialects' }).click()
    const chat = page.locator('.channels-dialect').filter({ hasText: 'Chat Completions' })
    const flag = chat.locator('dl > div').filter({ hasText: 'limit_field' })
    await expect.poll(() => wordsOf(flag)).toBe('limit_field max_tokens the name of the field for the output limit')
    await expect.poll(() => wordsOf(chat)).toContain('Native')
    await expect.poll(() => wordsOf(chat.locator('dl > div').filter({ hasText: 'own_flag' }))).toContain('No effect')
    await isUnharmed(page)
    await goTo('/channels?channel=plain&view=formats')
    await page.getByText('Identical to the published format').waitFor()
  })

  test('shows messages and names of an upstream that are markup as text', async () => {
    const gateway = await open([
      ...ROWS,
      { name: 'odd', models: { m: HOSTILE[0], [HOSTILE[1]]: 'x' }, script: fails(500, HOSTILE[4]) },
    ])
    await ask(gateway, 'm-broken')
    await gateway.admin.post('/channels/odd/test', { model: HOSTILE[1] })
    const { page, goTo } = await visit('/channels?channel=broken&view=errors', { gateway })
    for (const text of HOSTILE)
      await expect.poll(() => wordsOf(page.locator('.channels-errors'))).toContain(shownText(text))
    await goTo('/channels?channel=odd')
    await panelOf(page, 'odd').getByText(HOSTILE[1]).first().waitFor()
    await page.getByRole('tab', { name: 'Errors (1)' }).click()
    await expect.poll(() => wordsOf(page.locator('.channels-errors'))).toContain(shownText(HOSTILE[4]))
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByLabel('Model').selectOption(HOSTILE[1])
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('Failed', { exact: true }).waitFor()
    await isUnharmed(page)
  })

  test('searches and filters, and says where nothing is left, or nothing can be loaded', async () => {
    const gateway = await open()
    await gateway.admin.post('/channels/dead/drain')
    const { page } = await visit('/channels', { gateway, expected: [/ERR_FAILED/, /failed/] })
    const names = (): Promise<string[]> => page.locator('main tbody .opener').allInnerTexts()
    await page.keyboard.press('/')
    await page.keyboard.type('m-garb')
    await expect.poll(names).toEqual(['garbled'])
    await page.getByLabel('Search channels').fill('')
    await page.getByLabel('State', { exact: true }).selectOption('Drained')
    await expect.poll(names).toEqual(['dead'])
    await page.getByLabel('Search channels').fill('no such')
    await page.getByText('No channels match').waitFor()
    await page.getByLabel('Search channels').fill('')
    await page.route('**/admin/v1/channels', route => route.abort())
    await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor()
    // The data of the last successful load is still shown.
    await expect.poll(() => names()).toEqual(['dead'])
    await page.unroute('**/admin/v1/channels')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('says that there are no channels', async () => {
    const { page } = await visit('/channels', { gateway: await open([]) })
    await page.getByText('No channels yet').waitFor()
  })

  test('tests and drains by keyboard alone', async () => {
    const gateway = await open()
    const { page } = await visit('/channels', { gateway })
    const tabTo = async (name: string): Promise<void> => {
      const button = page.getByRole('button', { name, exact: true }).last()
      for (let presses = 0; presses < 40; presses++) {
        if (await isFocused(button)) return
        await page.keyboard.press('Tab')
      }
      throw new Error(`${name} is not reached`)
    }
    await tabTo('Test good')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Test good' }).waitFor()
    await tabTo('Send test')
    await page.keyboard.press('Enter')
    await page.getByText('Answered').waitFor()
    await page.keyboard.press('Escape')
    await tabTo('Actions for good')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Drain' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Drain good?' }).waitFor()
    await tabTo('Drain')
    await page.keyboard.press('Enter')
    await page.getByText('good accepts no new requests.').waitFor()
    expect(await drainedIn(gateway)).toEqual(['good'])
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme, in both languages',
    async ({ width, theme }) => {
      const gateway = await open()
      for (const { name, models } of ROWS) if (name !== 'silent') await ask(gateway, (models as string[])[0]!)
      await gateway.admin.post('/channels/dead/drain')
      const { axe, page, goTo } = await visit('/channels', { gateway, width, theme })
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      for (const view of ['now', 'errors', 'formats']) {
        await goTo(`/channels?channel=limited&view=${view}`)
        await panelOf(page, 'limited').waitFor()
        await axe()
      }
      await page.getByRole('button', { name: 'Test', exact: true }).last().click()
      await page.getByRole('button', { name: 'Send test' }).click()
      await page.getByText('Failed', { exact: true }).waitFor()
      await axe()
      const chinese = await visit('/channels?channel=limited', { gateway, width, theme, language: 'zh' })
      await chinese.page.getByRole('button', { name: '停用' }).last().click()
      await chinese.page.getByText('没有其他可接收请求的渠道').waitFor()
      await chinese.axe()
      await expect.poll(() => wordsOf(chinese.page.locator('body'))).not.toMatch(/undefined|In flight/)
    },
  )
})
