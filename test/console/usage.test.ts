import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR } from '../builders/units.ts'
import { traffic } from '../builders/usage.ts'
import { IN_BROWSER, noChromium, settled, THEMES, type Visit, visitor, WIDTHS } from './browser.ts'
import type { ConsoleGateway } from './gateway.ts'

const RANGE = { keys: 4, models: 9, channels: 3 }

/** Requests of 40 days, with more in the last hour. */
async function use({ admin }: ConsoleGateway) {
  const now = Date.now()
  const rows = [
    ...traffic(3000, { since: now - 40 * DAY, until: now - HOUR, ...RANGE }),
    ...traffic(300, { since: now - 50 * 60_000, until: now - 1000, ...RANGE }, 2),
  ]
  await admin.store.usage.add(rows)
  return rows
}

const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0)

/** Displayed value of a total. */
const total = (page: Page, name: string): Promise<string> =>
  page
    .getByRole('group', { name: 'Metric' })
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .locator('strong')
    .innerText()

/** Waits until the total shows this number of requests. */
const totalled = (page: Page, figure: string): Promise<void> =>
  page.locator('.totals button:first-child strong').getByText(figure, { exact: true }).waitFor()

const chart = (page: Page) => page.getByRole('application')
const rowsOf = (page: Page, name: string) => page.getByRole('region', { name }).getByRole('row')

describe.skipIf(noChromium)('the page of usage', IN_BROWSER, () => {
  const visit = visitor()
  /** Opens the page of a gateway with requests. */
  async function used(path: string, options: Parameters<typeof visit>[1] = {}) {
    const first = await visit('/account', options)
    const rows = await use(first.gateway)
    await first.goTo(path)
    await chart(first.page).waitFor()
    return { ...first, rows } as Visit & { rows: typeof rows }
  }

  test('shows what was used in each range', async () => {
    const { page, rows } = await used('/usage?range=30d')
    const now = Date.now()
    const since = Math.floor(now / DAY) * DAY - 29 * DAY
    const meant = rows.filter(({ at }) => at >= since)
    await expect.poll(() => total(page, 'Requests')).toBe(meant.length.toLocaleString('en-GB'))
    await expect.poll(() => total(page, 'Errors')).toBe(String(meant.filter(({ status }) => status >= 400).length))
    const unknown = meant.filter(({ cost }) => cost === undefined).length
    await page.getByText(`cost of ${unknown.toLocaleString('en-GB')} unknown`).waitFor()
    for (const range of ['7 days', '24 hours', '1 hour']) {
      await page.getByRole('button', { name: range }).click()
      await settled(page)
    }
    await page.getByText('Requests by minute').waitFor()
    await totalled(page, '300')
    await expect.poll(() => page.url()).toMatch(/usage\?range=1h$/)
    await page.getByRole('button', { name: 'Days', exact: true }).click()
    const day = new Date(now - 3 * DAY).toISOString().slice(0, 10)
    await page.getByLabel('From', { exact: true }).fill(day)
    await page.getByLabel('To', { exact: true }).fill(day)
    const ofDay = rows.filter(({ at }) => new Date(at).toISOString().startsWith(day)).length
    await totalled(page, String(ofDay))
  })

  test('takes days that are typed with the keyboard, one key after the other', async () => {
    const { page } = await used('/usage?range=30d')
    await page.getByRole('button', { name: 'Days', exact: true }).click()
    const year = new Date().getUTCFullYear() - 1
    // The same digits for day and month, because browsers order them by their language.
    const type = async (label: string, digits: string): Promise<void> => {
      await page.getByLabel(label, { exact: true }).focus()
      await page.keyboard.type(`${digits}${digits}${year}`, { delay: 100 })
    }
    const seen = () => page.url().split('?')[1]
    await type('To', '05')
    await expect.poll(seen).toBe(`from=${year}-05-05&to=${year}-05-05`)
    await type('From', '04')
    await expect.poll(seen).toBe(`from=${year}-04-04&to=${year}-05-05`)
    await type('To', '06')
    await expect.poll(seen).toBe(`from=${year}-04-04&to=${year}-06-06`)
    // A year in the middle of typing asks the gateway for nothing.
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('shows days whose hourly sums were deleted', async () => {
    const { page, gateway, goTo } = await visit('/account')
    const day = Math.floor(Date.now() / DAY) * DAY - 70 * DAY
    await gateway.admin.store.usage.add([...traffic(40, { since: day, until: day + DAY, ...RANGE })])
    const date = new Date(day).toISOString().slice(0, 10)
    await goTo(`/usage?range=days&from=${date}&to=${date}`)
    await totalled(page, '40')
    await page.getByText('Requests by day').waitFor()
    await expect.poll(() => rowsOf(page, 'By model').count()).toBeGreaterThan(1)
  })

  test('compares with the period before', async () => {
    const { page, rows } = await used('/usage?range=7d')
    const since = Math.floor(Date.now() / HOUR) * HOUR - 167 * HOUR
    const now = rows.filter(({ at }) => at >= since).length
    const change = page.getByRole('button', { name: /^Requests/ }).locator('.change')
    await expect.poll(() => change.getAttribute('title')).toMatch(/^\d+ in the previous period$/)
    const then = Number((await change.getAttribute('title'))!.split(' ')[0])
    await expect.poll(() => change.innerText()).toContain(then < now ? '▲' : '▼')
    expect(Math.abs(then - rows.filter(({ at }) => at >= since - 168 * HOUR && at < since).length)).toBeLessThan(20)
  })

  test('groups, filters and sorts, and its address shows the same elsewhere', async () => {
    const { page, rows, goTo } = await used('/usage?range=30d')
    await expect.poll(() => rowsOf(page, 'By model').count()).toBe(10)
    await page.getByLabel('Group by').selectOption('Key')
    await page.getByRole('region', { name: 'By key' }).waitFor()
    await expect.poll(() => rowsOf(page, 'By key').count()).toBe(5)
    await page.getByRole('columnheader', { name: 'Output' }).getByRole('button').click()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a filter' })
    await dialog.getByLabel('Field').selectOption('Channel')
    await dialog.getByLabel('Find a value').fill('channel-1')
    await dialog.getByRole('button', { name: /channel-1/ }).click()
    await page.getByRole('group', { name: 'Filters' }).getByText('channel-1').waitFor()
    const since = Math.floor(Date.now() / DAY) * DAY - 29 * DAY
    const meant = rows.filter(({ at, channel }) => at >= since && channel === 'channel-1')
    const expected = meant.length.toLocaleString('en-GB')
    await totalled(page, expected)
    await page
      .getByRole('group', { name: 'Metric' })
      .getByRole('button', { name: /^Tokens/ })
      .click()
    await page.getByText('Tokens by day (UTC)').waitFor()
    await settled(page)
    const shown = async () => [
      await rowsOf(page, 'By key').allInnerTexts(),
      await page.locator('.totals').innerText(),
      await page.locator('.legend').innerText(),
    ]
    const before = await shown()
    const address = new URL(page.url())
    expect([...address.searchParams.keys()].sort()).toEqual(['by', 'channel', 'range', 'show'])
    await goTo('/account')
    await goTo(address.pathname.replace('/console', '') + address.search)
    await chart(page).waitFor()
    await rowsOf(page, 'By key').nth(4).waitFor()
    await expect.poll(shown).toEqual(before)
    await page.getByRole('button', { name: 'Remove the filter Channel' }).click()
    await page.getByRole('group', { name: 'Filters' }).waitFor({ state: 'detached' })
  })

  test('by keyboard: a point of the chart, its requests, and one of them', async () => {
    const { page, rows } = await used('/usage?range=1h&by=model')
    await chart(page).focus()
    let spoken = ''
    const press = async (key: string): Promise<void> => {
      const before = spoken
      await page.keyboard.press(key)
      await expect
        .poll(async () => (spoken = await page.locator('.time-chart [aria-live]').innerText()))
        .not.toBe(before)
    }
    await press('End')
    // The last minute may still be empty.
    for (let at = 0; at < 10; at++) {
      await press('ArrowLeft')
      if (/model-\d [1-9]/.test(spoken)) break
    }
    expect(spoken).toMatch(/model-\d [1-9]/)
    await page.locator('.tip').getByText('Total').waitFor()
    const count = sum([...spoken.matchAll(/(?:model-\d|Others) (\d+)/g)].map(([, figure]) => Number(figure)))
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: /^Requests of/ })
    await dialog.waitFor()
    await settled(page)
    const links = dialog.getByRole('link')
    await expect.poll(() => links.count()).toBe(count)
    const at = new URL(page.url()).searchParams.get('at')!
    expect(count).toBe(rows.filter(one => one.at >= Date.parse(at) && one.at < Date.parse(at) + 60_000).length)
    const href = await links.first().getAttribute('href')
    expect(rows.map(({ id }) => `/console/traffic?request=${id}`)).toContain(href)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => new URL(page.url()).searchParams.has('list')).toBe(false)
    await expect.poll(() => chart(page).evaluate('document.activeElement.getAttribute("role")')).toBe('application')
  })

  test('a click on a bar and on a row shows their requests', async () => {
    const { page, rows } = await used('/usage?range=30d&by=channel')
    const box = (await page.locator('.u-over').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height - 6)
    await page.locator('.tip .on').waitFor()
    const name = (await page.locator('.tip .on .cut').innerText()).trim()
    await page.mouse.down()
    await page.mouse.up()
    const ofBar = page.getByRole('dialog', { name: new RegExp(`^Requests of ${name}, .*UTC`) })
    await ofBar.getByRole('row').nth(1).waitFor()
    await expect
      .poll(async () => new Set(await ofBar.locator('td[data-title=Channel]').allInnerTexts()))
      .toEqual(new Set([name]))
    await page.goBack()
    await ofBar.waitFor({ state: 'detached' })
    await page
      .getByRole('region', { name: 'By channel' })
      .getByRole('button', { name: 'channel-2', exact: true })
      .click()
    const ofRow = page.getByRole('dialog', { name: 'Requests of channel-2' })
    await ofRow.getByRole('button', { name: 'Load more' }).click()
    await ofRow.getByRole('row').nth(100).waitFor()
    expect(rows.filter(({ channel }) => channel === 'channel-2').length).toBeGreaterThan(100)
  })

  test('hides series, draws lines, and compares percentiles', async () => {
    const { page } = await used('/usage?range=7d')
    const legend = page.getByRole('group', { name: 'Series' }).getByRole('button')
    await expect.poll(() => legend.count()).toBe(7)
    await expect.poll(() => legend.last().innerText()).toBe('Others')
    await legend.first().click()
    await expect.poll(() => legend.first().getAttribute('aria-pressed')).toBe('false')
    await expect.poll(() => page.url()).toMatch(/hidden=/)
    await page.getByRole('button', { name: 'Lines' }).click()
    await page.reload()
    await chart(page).waitFor()
    await expect.poll(() => legend.first().getAttribute('aria-pressed')).toBe('false')
    await expect.poll(() => page.getByRole('button', { name: 'Lines' }).getAttribute('aria-pressed')).toBe('true')
    await page
      .getByRole('group', { name: 'Metric' })
      .getByRole('button', { name: /^First byte/ })
      .click()
    await page.getByRole('button', { name: 'p99', exact: true }).click()
    await page.getByText('First byte by hour').waitFor()
    await expect.poll(() => page.url()).toMatch(/show=first_byte.*percentile=p99/)
    await page.getByLabel('Group by').selectOption('Nothing')
    await page.getByRole('region', { name: 'Over time' }).waitFor()
    await expect.poll(() => legend.allInnerTexts()).toEqual(['p50', 'p95', 'p99'])
  })

  test('downloads what it shows as CSV', async () => {
    const { page, rows } = await used('/usage?range=30d')
    for (const [title, isOver] of [
      ['Download the table as CSV', false],
      ['Download the values over time as CSV', true],
    ] as const) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByTitle(title).click()])
      expect(download.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-\d\d-by-model(-by-day)?\.csv$/)
      const [names, ...lines] = readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split('\r\n')
      const place = names!.split(',').indexOf('requests')
      const since = Math.floor(Date.now() / DAY) * DAY - 29 * DAY
      expect(sum(lines.map(line => Number(line.split(',')[place])))).toBe(rows.filter(({ at }) => at >= since).length)
      expect(lines.every(line => /^\d{4}-/.test(line) === isOver)).toBe(true)
    }
  })

  test('says that there is nothing, in English and Chinese', async () => {
    const { page, gateway } = await visit('/usage')
    await page.getByText('No requests in this range').waitFor()
    await expect.poll(() => total(page, 'Requests')).toBe('0')
    const chinese = await visit('/usage?model=none', { gateway, language: 'zh' })
    await chinese.page.getByText('此时间范围内没有请求').waitFor()
    await chinese.page.getByRole('group', { name: '筛选条件' }).getByText('none').waitFor()
    await chinese.page.getByRole('button', { name: '全部清除' }).first().click()
    await chinese.page.getByText('请求结束约一秒后会显示在这里。').waitFor()
  })

  test('shows names of callers as text', async () => {
    const { page, gateway, goTo } = await visit('/account')
    const [row] = [...traffic(1, { since: Date.now() - HOUR / 2, until: Date.now() - HOUR / 3, ...RANGE })]
    const name = '<img src=x onerror=alert(1)>'
    await gateway.admin.store.usage.add([
      { ...row!, model: name, channel: name, keyName: name, group: name, error: name },
    ])
    for (const by of ['model', 'key', 'channel', 'group']) {
      await goTo(`/usage?by=${by}&group=${encodeURIComponent(name)}&list=1`)
      await page.getByRole('dialog').getByText(name).first().waitFor()
      await page.locator('.legend').getByText(name).waitFor()
    }
    await expect.poll(() => page.locator('main img').count()).toBe(0)
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme',
    async ({ width, theme }) => {
      const { page, axe } = await used('/usage?range=7d&channel=channel-1', { width, theme, role: 'viewer' })
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      await chart(page).focus()
      await page.keyboard.press('ArrowLeft')
      await page.locator('.tip').waitFor()
      await axe()
      // The accessibility check may have scrolled the page, so the chart is focused again.
      await chart(page).focus()
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await axe()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await axe()
    },
  )
})
