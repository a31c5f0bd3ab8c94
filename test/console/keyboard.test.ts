import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { IN_BROWSER, noChromium, settled, visitor } from './browser.ts'

const REFUSED = { expected: [/401 \(Unauthorized\)/] }

/** Presses Escape so often that browsers close a dialog whatever the page says. */
async function pressEscape(page: Page): Promise<void> {
  for (let time = 0; time < 6; time++) await page.keyboard.press('Escape')
}

/** Opens the form for a new key, and types a name. */
async function type(page: Page, name: string): Promise<void> {
  await settled(page)
  await page.keyboard.press('n')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type(name)
}

describe.skipIf(noChromium)('with the keyboard alone', IN_BROWSER, () => {
  const visit = visitor()

  test('Escape leaves no secret behind, however often it is pressed', async () => {
    const { page } = await visit('/keys')
    await type(page, 'made by keyboard')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'made by keyboard was created' })
    await dialog.waitFor()
    await pressEscape(page)
    await dialog.getByRole('button', { name: 'Copy Secret' }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/^il-/)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open made by keyboard' }).click()
    await page.getByRole('dialog', { name: 'made by keyboard' }).waitFor()
  })

  test('Escape does not uncover a page that waits for its user to sign in again', async () => {
    const { page, context } = await visit('/keys', REFUSED)
    await type(page, 'typed')
    await context.clearCookies()
    await page.keyboard.press('Enter')
    const cover = page.getByRole('dialog', { name: 'Sign in' })
    await cover.waitFor()
    await pressEscape(page)
    await cover.getByLabel('Password').fill('a')
    expect(await page.getByRole('dialog', { name: 'New key' }).count()).toBe(0)
  })

  test('Tab never leaves the page for a list of options', async () => {
    const { page } = await visit('/start')
    await page.getByRole('combobox', { name: 'Model', exact: true }).focus()
    await page.getByRole('listbox', { name: 'Model' }).waitFor()
    await page.keyboard.press('Tab')
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toMatch(/^(A|BUTTON)$/)
  })

  test('a button keeps the focus while its work runs, and works once at a time', async () => {
    const { page } = await visit('/audit')
    let requests = 0
    await page.route('**/admin/v1/audit?**', async route => {
      requests += Number(route.request().headers()['accept'] === 'text/csv')
      await new Promise(resolve => setTimeout(resolve, 1000))
      await route.continue()
    })
    const button = page.getByRole('button', { name: 'CSV' })
    await button.focus()
    for (let times = 0; times < 3; times++) await page.keyboard.press('Enter')
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(() => button.getAttribute('aria-busy')).toBe('true')
    expect(await focused()).toBe('CSV')
    await expect.poll(() => button.getAttribute('aria-busy')).toBe('false')
    expect(await focused()).toBe('CSV')
    expect(requests).toBe(1)
  })

  test('a form is sent once, also if its button is pressed while it is sent', async () => {
    const { page } = await visit('/keys')
    let requests = 0
    await page.route('**/admin/v1/keys/*/rotate', async route => {
      requests++
      await new Promise(resolve => setTimeout(resolve, 1000))
      await route.continue()
    })
    await type(page, 'once')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Actions for once' }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    const rotate = page.getByRole('dialog').getByRole('button', { name: 'Rotate' })
    await rotate.focus()
    for (let times = 0; times < 3; times++) await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Done' }).waitFor()
    expect(requests).toBe(1)
  })

  test('the back button asks before it loses a typed text or a secret', async () => {
    const { page, goTo } = await visit('/models')
    await goTo('/keys')
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.waitForURL('**/usage**')
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.waitForURL('**/keys')
    await type(page, 'kept')
    const questions: string[] = []
    let answer = false
    page.on('dialog', one => {
      questions.push(one.message())
      void (answer ? one.accept() : one.dismiss())
    })
    await page.evaluate('history.back()')
    await expect.poll(() => questions.length).toBe(1)
    await expect.poll(() => page.url()).toMatch(/\/keys$/)
    expect(await page.getByRole('dialog', { name: 'New key' }).getByLabel('Name').inputValue()).toBe('kept')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'kept was created' }).waitFor()
    await page.evaluate('history.back()')
    await expect.poll(() => questions.length).toBe(2)
    answer = true
    await page.evaluate('history.back()')
    await page.waitForURL('**/usage**')
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    await page.evaluate('history.back()')
    await page.waitForURL('**/keys')
    expect(questions).toHaveLength(3)
  })
})
