import { describe, expect, test } from 'vitest'
import { PASSWORD } from '../builders/console.ts'
import { IN_BROWSER, noChromium, THEMES, visitor, WIDTHS } from './browser.ts'
import { admit, NAMES } from './sign-in.ts'

/** Pages by shortcut key. */
const PATHS = {
  ...{
    o: '/overview',
    s: '/start',
    a: '/audit',
    m: '/models',
    k: '/keys',
    u: '/usage',
    t: '/traffic',
    x: '/translator',
    c: '/channels',
  },
}

const REFUSED = { expected: [/401 \(Unauthorized\)/] }

describe.skipIf(noChromium)('the frame of the console', IN_BROWSER, () => {
  const visit = visitor()

  test('shows every page by its link and by its keys', async () => {
    const { page } = await visit('/account')
    const links = page.getByRole('navigation').getByRole('link')
    const titles = ['Overview', 'Traffic', 'Usage', 'Audit log', 'Channels', 'Models', 'Keys', 'Start', 'Translator']
    await expect.poll(() => links.allInnerTexts()).toEqual(titles)
    for (const [key, path] of Object.entries(PATHS)) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForURL(`**/console${path}`)
    }
    for (const title of titles) {
      await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click()
      // The page's policy forbids evaluating a function in it, so this polls from outside.
      await expect.poll(() => page.title()).toMatch(new RegExp(`^${title} `))
      await expect
        .poll(() => page.getByRole('link', { name: title, exact: true }).getAttribute('aria-current'))
        .toBe('page')
    }
  })

  test('signs in with a password, after a wrong one, and out', async () => {
    const { page, gateway } = await visit('/keys', { role: null, ...REFUSED })
    await admit(gateway)
    await page.getByLabel('Name').fill(NAMES.admin)
    await page.getByLabel('Password').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Wrong name or password.').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    // After signing in, the requested page opens.
    await page.getByRole('heading', { level: 1 }).and(page.getByText(/^Keys/)).waitFor()
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
  })

  test('runs no inline script, and is in no frame of another page', async () => {
    const refused = [/^policy: script-src/, /Content Security Policy/, /frame-ancestors/, /chrome-error/]
    const { page, context, gateway } = await visit('/account', { expected: refused })
    const seen = page.waitForEvent('console', one => one.text().includes('Content Security Policy'))
    const inline = `(() => {
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.body.append(script)
      return window.ran
    })()`
    expect(await page.evaluate(inline)).toBeUndefined()
    await seen
    const other = await context.newPage()
    await other.setContent(`<iframe src="${gateway.address}/console/"></iframe>`)
    await expect.poll(() => other.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
  })

  test('remembers theme and language', async () => {
    const { page } = await visit('/account')
    const background = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    const light = await background()
    await page.getByLabel('Theme').selectOption('Dark')
    await expect.poll(background).not.toBe(light)
    await page.getByLabel('Language').selectOption('中文')
    await page.getByRole('link', { name: '密钥' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: '密钥' }).waitFor()
    await expect.poll(background).not.toBe(light)
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('zh-Hans')
  })

  test('lists its shortcuts, which can be switched off', async () => {
    const { page } = await visit('/account')
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.getByLabel('Single-key shortcuts').uncheck()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await page.keyboard.press('?')
    await expect.poll(() => dialog.count()).toBe(0)
    await expect.poll(() => page.url()).toMatch(/\/account$/)
  })

  test('lists the shortcuts of the page that is open', async () => {
    const { page, goTo } = await visit('/account')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    const own = {
      '/account': [],
      '/usage': ['Add a filter'],
      '/translator': ['Examples', 'next loss'],
      '/keys': ['New key'],
    }
    for (const [path, expected] of Object.entries(own)) {
      await goTo(path)
      await page.keyboard.press('?')
      const shown = async () => {
        const all = await dialog.locator('dt').allTextContents()
        return all.slice(all.indexOf('Search on this page') + 1, all.indexOf('Show these shortcuts'))
      }
      await dialog.waitFor()
      await expect.poll(shown).toEqual(expected)
    }
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme',
    async ({ width, theme }) => {
      const signedOut = await visit('/', { width, theme, role: null, ...REFUSED })
      await signedOut.axe()
      const { page, axe } = await visit('/account', { width, theme, gateway: signedOut.gateway })
      if (width < 600) {
        await page.getByRole('button', { name: 'Menu' }).click()
        await page.getByRole('navigation').waitFor()
      }
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.waitForURL('**/console/keys')
    },
  )

  test('prints dark text and no navigation, also in the dark theme', async () => {
    const { page } = await visit('/usage', { theme: 'dark' })
    await page.getByLabel('Theme').selectOption('dark')
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    // A browser leaves backgrounds out by default, so that light text would be white on white.
    const color = await page.evaluate('getComputedStyle(document.querySelector("h1")).color')
    const [red = 255] = String(color).match(/\d+/g)!.map(Number)
    expect(red).toBeLessThan(64)
    await expect.poll(() => page.getByRole('navigation').isVisible()).toBe(false)
    const left = await page.evaluate('document.querySelector("h1").getBoundingClientRect().left')
    expect(left).toBeLessThan(100)
  })

  test('the first page is at most 150 KB', async () => {
    const sizes: Promise<number>[] = []
    const { page } = await visit('/account')
    page.on('response', answer => {
      if (answer.url().includes('/console'))
        sizes.push(
          answer
            .request()
            .sizes()
            .then(one => one.responseBodySize),
        )
    })
    await page.goto('/console/')
    await page.locator('h1').first().waitFor()
    await page.waitForLoadState('networkidle')
    const all = await Promise.all(sizes)
    expect(all.length).toBeGreaterThan(3)
    expect(all.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150 * 1024)
  })
})
