import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { IN_BROWSER, noChromium, settled, THEMES, visitor, WIDTHS } from './browser.ts'
import { HOSTILE, isUnharmed, shownText } from './hostile.ts'
import { isFocused, wordsOf } from './reading.ts'
import { answers, fails, lists, openBefore, type Row } from './upstreams.ts'

const ROWS: readonly Row[] = [
  { name: 'one', models: { 'gpt-4o': 'gpt-4o', house: 'up-house' }, formats: ['chat'], script: answers },
  {
    name: 'two',
    provider: 'anthropic',
    models: ['house', 'claude-x'],
    script: fails(429, 'Slow down', { 'retry-after': '60' }),
  },
  { name: 'three', models: ['film'], formats: ['videos'], script: answers },
]

const MODELS = [
  {
    ...{ id: 'house', name: 'House model', interface: 'messages', context: 200_000, maxOutput: 64_000 },
    ...{ input: ['text', 'image'], output: ['text'], price: { input: 1.5, output: 6 } },
    order: 'latency' as const,
    fallbacks: [
      { model: 'gpt-4o', on: new Set(['failure', 'rate-limit'] as const) },
      { model: 'claude-x', on: new Set(['context'] as const) },
    ],
  },
]

const rowsOf = (page: Page) => page.locator('main tbody tr:not([aria-hidden])')
const idsOf = (page: Page): Promise<string[]> => page.locator('main tbody .opener').allInnerTexts()
const panelOf = (page: Page, name: string) => page.getByRole('dialog', { name })

const scrollTo = (page: Page, share: number) =>
  page.evaluate(`{ const list = document.querySelector('.table.long'); list.scrollTop = list.scrollHeight * ${share} }`)

/** Address of the link to the Start page. */
const startIn = async (page: Page): Promise<URL> => {
  const link = page.getByRole('link', { name: 'Start with this model' })
  return new URL((await link.getAttribute('href'))!, page.url())
}

describe.skipIf(noChromium)('the page of models', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function open(rows = ROWS) {
    const gateway = await openBefore(rows, { models: MODELS })
    closing.push(() => gateway.close())
    return gateway
  }

  test('shows interface type, limits, abilities, prices and channels, and that what is not known is unknown', async () => {
    const { page } = await visit('/models', { gateway: await open() })
    await expect.poll(() => idsOf(page)).toEqual(['claude-x', 'film', 'gpt-4o', 'house'])
    await page.getByText(/Limits and abilities: pypi:litellm [\d.]+ of 20\d\d-\d\d-\d\d/).waitFor()
    const house = rowsOf(page).filter({ hasText: 'House model' })
    for (const text of ['Messages', '2 native', '200K / 64K', '$1.50 / $6.00', 'Conversation', 'one +1 all OK'])
      await expect.poll(() => wordsOf(house)).toContain(text)
    const unknown = rowsOf(page).filter({ hasText: 'claude-x' })
    await expect.poll(() => unknown.getByText('unknown').count()).toBe(2)
    await expect.poll(() => wordsOf(rowsOf(page).filter({ hasText: 'film' }))).toContain('Videos')
  })

  test('shows the prices of models that are not billed by tokens', async () => {
    const rows = [{ name: 'voice', provider: 'openai', models: ['tts-1'], formats: ['speech'], script: answers }]
    const { page } = await visit('/models', { gateway: await open(rows) })
    await expect.poll(() => wordsOf(rowsOf(page))).toContain('$15.00 per 1M characters')
    await page.getByRole('button', { name: 'Open tts-1' }).click()
    await expect.poll(() => wordsOf(panelOf(page, 'tts-1'))).toContain('per 1M characters $15.00')
  })

  test('shows the fallback models with their reasons, and the order of channels', async () => {
    const { page } = await visit('/models', { gateway: await open() })
    await page.getByRole('button', { name: 'Open house' }).click()
    const panel = panelOf(page, 'House model')
    const items = panel.locator('ol li')
    await expect.poll(() => items.allInnerTexts()).toEqual(['gpt-4o failure, rate limit', 'claude-x context too long'])
    await expect.poll(() => wordsOf(panel)).toContain('by latency')
    await panel.getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('button', { name: 'Open film' }).click()
    await expect.poll(() => panelOf(page, 'film').getByText('Fallback models').count()).toBe(0)
    await expect.poll(() => wordsOf(panelOf(page, 'film'))).toContain('by weight')
  })

  test('shows exactly what a key can call', async () => {
    const gateway = await open()
    await gateway.admin.post('/groups', { name: 'team', models: ['gpt-4o', 'house'], channels: ['one'] })
    const { id, secret } = (await gateway.admin.post('/keys', { name: 'of the team', group: 'team' })).json
    const { id: off } = (await gateway.admin.post('/keys', { name: 'switched off', enabled: false })).json
    const { page } = await visit('/models', { gateway })
    await page.getByLabel('As seen by').selectOption(id)
    await page.getByText('as its clients see them').waitFor()
    await expect.poll(() => idsOf(page)).toEqual(['gpt-4o', 'house'])
    const headers = { authorization: `Bearer ${secret}` }
    const own = await gateway.admin.testServer.ask('/v1/models', undefined, { method: 'GET', headers })
    expect(own.json.data.map((one: { id: string }) => one.id)).toEqual(await idsOf(page))
    await expect.poll(() => new URL(page.url()).searchParams.get('key')).toBe(id)
    await page.reload()
    await settled(page)
    await expect.poll(() => idsOf(page)).toEqual(['gpt-4o', 'house'])
    await page.getByLabel('As seen by').selectOption(off)
    await page.getByText('is not valid').waitFor()
    await page.getByText('This key cannot call any model').waitFor()
    await page.getByLabel('As seen by').selectOption('All models')
    await expect.poll(() => idsOf(page)).toHaveLength(4)
  })

  test('searches and filters by interface type, ability, channel and format', async () => {
    const { page } = await visit('/models', { gateway: await open() })
    const filtered = async (label: string, value: string, ids: readonly string[]): Promise<void> => {
      await page.getByLabel(label, { exact: true }).selectOption(value)
      await expect.poll(() => idsOf(page)).toEqual(ids)
    }
    await page.keyboard.press('/')
    await page.keyboard.type('HOUSE mod')
    await expect.poll(() => idsOf(page)).toEqual(['house'])
    await page.getByText('1 of 4 models').waitFor()
    await page.getByLabel('Search models').fill('')
    await filtered('Interface type', 'messages', ['claude-x', 'house'])
    await filtered('Channel', 'one', ['house'])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await filtered('Ability', 'film', ['film'])
    await filtered('Ability', 'see', ['gpt-4o', 'house'])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await filtered('Format', 'messages', ['claude-x', 'gpt-4o', 'house'])
    await page.getByLabel('Without translation').check()
    await expect.poll(() => idsOf(page)).toEqual(['claude-x', 'house'])
    await page.getByLabel('Search models').fill('nothing of the kind')
    await page.getByText('No models match').waitFor()
  })

  test('shows all there is about one model, how its channels are now, and leads to Start with it', async () => {
    const gateway = await open()
    for (let count = 0; count < 2; count++) await gateway.admin.post('/channels/two/test', { model: 'house' })
    await gateway.admin.post('/channels/one/drain')
    const { page } = await visit('/models', { gateway })
    await page.getByRole('button', { name: 'Open house' }).click()
    const panel = panelOf(page, 'House model')
    for (const part of [
      '200,000 tokens',
      '64,000 tokens',
      'text, images',
      '$1.50',
      '$6.00',
      'up-house',
      'Reasoning unknown',
    ])
      await expect.poll(() => wordsOf(panel)).toContain(part)
    const rows = panel.getByRole('row')
    await expect.poll(() => wordsOf(rows.filter({ hasText: 'one' }))).toContain('Drained')
    await expect.poll(() => wordsOf(rows.filter({ hasText: 'two' }))).toContain('Failing 100% 2 / 2')
    const start = await startIn(page)
    expect([start.pathname, start.searchParams.get('model')]).toEqual(['/console/start', 'house'])
    await panel.getByRole('link', { name: 'two' }).click()
    await panelOf(page, 'two').getByRole('tab', { name: 'Now' }).waitFor()
    await expect.poll(() => page.url()).toContain('/console/channels?channel=two')
  })

  test('is used by keyboard alone', async () => {
    const { page } = await visit('/models', { gateway: await open() })
    await page.keyboard.press('/')
    await page.keyboard.type('house')
    await expect.poll(() => idsOf(page)).toEqual(['house'])
    const opener = page.getByRole('button', { name: 'Open house' })
    for (let presses = 0; presses < 20 && !(await isFocused(opener)); presses++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await panelOf(page, 'House model').waitFor()
    await page.keyboard.press('Escape')
    await panelOf(page, 'House model').waitFor({ state: 'detached' })
    await expect.poll(() => isFocused(opener)).toBe(true)
  })

  test('shows names of an upstream that are markup as text', async () => {
    const rows = [{ name: 'one', models: ['*'], formats: ['chat'], script: lists(...HOSTILE, 'm') }]
    const gateway = await open(rows)
    await expect.poll(async () => (await gateway.admin.get('/models')).json.data.length).toBe(HOSTILE.length + 1)
    const { page, goTo } = await visit('/models', { gateway })
    const shown = await idsOf(page)
    for (const name of HOSTILE) expect(shown).toContain(shownText(name))
    for (const name of HOSTILE) {
      await goTo(`/models?${new URLSearchParams({ model: name })}`)
      await panelOf(page, shownText(name)).getByText('How to call it').waitFor()
      expect((await startIn(page)).searchParams.get('model')).toBe(name)
    }
    // The address is untrusted text, too.
    await goTo(`/models?${new URLSearchParams({ channel: HOSTILE[0]!, q: HOSTILE[0]!, ability: HOSTILE[1]! })}`)
    await page.getByText('No models match').waitFor()
    await isUnharmed(page)
  })

  test('says that there are no models, and why they could not be loaded', async () => {
    const { page } = await visit('/models', { gateway: await open([]), expected: [/500/, /ERR_FAILED/] })
    await page.getByText('No models yet').waitFor()
    await page.route('**/admin/v1/models*', route =>
      route.fulfill({
        status: 500,
        json: { type: 'urn:interlingua:problem:internal', detail: `Out of ${HOSTILE[0]}` },
      }),
    )
    await page.reload()
    await page.getByRole('alert').getByText(`Out of ${HOSTILE[0]}`).waitFor()
    await page.unroute('**/admin/v1/models*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No models yet').waitFor()
    await isUnharmed(page)
  })

  test('is fast with 2000 models, of which only those in view are in the document', async () => {
    const ids = Array.from({ length: 2000 }, (_, at) => `maker-${at % 40}/model-${at}-${'x'.repeat(at % 60)}`)
    const models = Object.fromEntries(ids.map(id => [id, id]))
    const rows = [1, 2, 3].map(at => ({ name: `c${at}`, models, script: answers }))
    const gateway = await open(rows)
    const { page } = await visit('/account', { gateway })
    await page.getByRole('link', { name: 'Models' }).click()
    const began = performance.now()
    await page.getByText('2,000 models').waitFor()
    expect(performance.now() - began).toBeLessThan(5000)
    await expect.poll(() => rowsOf(page).count()).toBeLessThan(250)
    const heights = await page.evaluate(
      "[...new Set([...document.querySelectorAll('main tbody tr:not([aria-hidden])')].map(row => row.offsetHeight))]",
    )
    expect(heights).toHaveLength(1)
    // Time from typing to rendering.
    const typed = await page.evaluate<number>(`(async () => {
      const box = document.querySelector('[data-search]')
      const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
      const began = performance.now()
      setter.call(box, 'maker-7/ model-1')
      box.dispatchEvent(new Event('input', { bubbles: true }))
      while (document.querySelector('.models-count').textContent.startsWith('2,000'))
        await new Promise(resolve => requestAnimationFrame(resolve))
      return performance.now() - began
    })()`)
    expect(typed).toBeLessThan(1000)
    await page.getByLabel('Search models').fill('')
    await page.getByRole('button', { name: 'Model', exact: true }).click()
    await page.getByRole('button', { name: 'Model', exact: true }).click()
    await expect.poll(async () => (await idsOf(page))[0]).toMatch(/^maker-39\//)
    await scrollTo(page, 1)
    const bottom = async () => {
      const box = await page.getByRole('button', { name: 'Open maker-0/model-0-' }).boundingBox()
      return box!.y + box!.height
    }
    await expect.poll(bottom).toBeLessThanOrEqual(860)
    await scrollTo(page, 0.5)
    await expect.poll(async () => (await idsOf(page)).some(id => id.startsWith('maker-20/'))).toBe(true)
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme, in both languages',
    async ({ width, theme }) => {
      const gateway = await open()
      const { axe, page, goTo } = await visit('/models', { gateway, width, theme })
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      await goTo('/models?model=house&format=messages')
      await panelOf(page, 'House model').waitFor()
      await axe()
      const chinese = await visit('/models?model=house', { gateway, width, theme, language: 'zh', role: 'viewer' })
      await chinese.page.getByText('接口类型').first().waitFor()
      await chinese.axe()
      await expect.poll(() => wordsOf(chinese.page.locator('main'))).not.toMatch(/undefined|Interface type/)
    },
  )
})
