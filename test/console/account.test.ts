import { describe, expect, test } from 'vitest'
import { addUser, PASSWORD, SignedIn, signInAs } from '../builders/console.ts'
import { IN_BROWSER, noChromium, THEMES, type Visit, visitor, WIDTHS } from './browser.ts'
import { admit, NAMES } from './sign-in.ts'

const REFUSED = { expected: [/status of 4\d\d/] }
const NEW = 'another long password'

const statusAs = async ({ gateway }: Visit, name: string, password: string): Promise<number> =>
  (await signInAs(gateway.admin.testServer, name, password)).status

const users = ({ gateway }: Visit) => gateway.admin.store.console

describe.skipIf(noChromium)('the account', IN_BROWSER, () => {
  const visit = visitor()

  test('a password is changed by who has the present one; other sessions end', async () => {
    const seen = await visit('/account', REFUSED)
    const { page, gateway } = seen
    const other = await SignedIn.at(gateway.admin.testServer, NAMES.admin)
    const submit = page.getByRole('button', { name: 'Change password' })
    await submit.click()
    await page.getByText('Enter your current password.').waitFor()
    await page.getByLabel('Current password').fill('wrong password')
    await page.getByLabel('New password', { exact: true }).fill('short')
    await page.getByLabel('Repeat new password').fill('other')
    await page.getByText('The password is shorter than 10 characters.').waitFor()
    await page.getByText('The passwords do not match.').waitFor()
    await page.getByLabel('New password', { exact: true }).fill(NEW)
    await page.getByLabel('Repeat new password').fill(NEW)
    await submit.click()
    await page.getByText('is not your password').waitFor()
    expect(await statusAs(seen, NAMES.admin, NEW)).toBe(401)
    await page.getByLabel('Current password').fill(PASSWORD)
    await submit.click()
    await page.getByText('Password changed.').waitFor()
    expect(await statusAs(seen, NAMES.admin, NEW)).toBe(200)
    expect((await other.ask('GET', '/session')).status).toBe(401)
    // This session stays valid.
    await seen.goTo('/keys')
    await page.getByRole('button', { name: 'New key' }).waitFor()
  })

  test('signing out everywhere ends the sessions of other browsers', async () => {
    const { page, gateway } = await visit('/account', REFUSED)
    const other = await SignedIn.at(gateway.admin.testServer, NAMES.admin)
    await page.getByRole('button', { name: 'Sign out everywhere', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect((await other.ask('GET', '/session')).status).toBe(401)
  })

  test('texts typed into pages are kept for a user whose session ended, and for nobody else', async () => {
    const seen = await visit('/start', REFUSED)
    const { page, gateway } = seen
    const go = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    const prompt = page.getByLabel('Prompt')
    await prompt.fill('my question')
    await go('Translator')
    const text = page.getByRole('textbox', { name: 'Text to translate' })
    await text.fill('{"model":"m","messages":[]}')
    await go('Usage')
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    await page.evaluate('history.back()')
    await expect.poll(() => text.inputValue()).toBe('{"model":"m","messages":[]}')
    await users(seen).endSignInSessions(NAMES.admin)
    await text.press('End')
    await page.keyboard.type(' ')
    const signIn = async (name: string): Promise<void> => {
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.keyboard.press('Enter')
    }
    await page.getByText('Your session has ended.').waitFor()
    await signIn(NAMES.admin)
    await expect.poll(() => text.inputValue()).toBe('{"model":"m","messages":[]} ')
    await go('Start')
    await expect.poll(() => prompt.inputValue()).toBe('my question')
    await users(seen).endSignInSessions(NAMES.admin)
    await addUser(gateway.admin.store, 'eve', { role: 'admin' })
    await go('Translator')
    await page.getByRole('button', { name: 'Examples' }).first().click()
    await page.getByText('Your session has ended.').waitFor()
    await signIn('eve')
    await expect.poll(() => text.inputValue()).toBe('')
  })

  test('a session that ended elsewhere leads to the sign-in, and back to the page', async () => {
    const seen = await visit('/account', REFUSED)
    const { page } = seen
    await users(seen).endSignInSessions(NAMES.admin)
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await page.getByText('Your session has ended.').waitFor()
    await page.getByLabel('Name').fill(NAMES.admin)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
  })

  test('a session that ends while a form has typed text goes on with it, if the same user signs in', async () => {
    const seen = await visit('/keys', REFUSED)
    const { page } = seen
    const signIn = async (name: string): Promise<void> => {
      const again = page.getByRole('dialog', { name: 'Sign in' })
      await again.getByText('Your session has ended.').waitFor()
      expect(await again.getByLabel('Name').inputValue()).toBe(NAMES.admin)
      await again.getByLabel('Name').fill(name)
      await again.getByLabel('Password').fill(PASSWORD)
      await page.keyboard.press('Enter')
      await again.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('typed')
    await page.getByLabel('Requests per minute').fill('7')
    await users(seen).endSignInSessions(NAMES.admin)
    await page.getByRole('button', { name: 'Create key' }).click()
    await signIn(NAMES.admin)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'typed was created' }).waitFor()
    expect(await seen.gateway.admin.store.access.keyNamed('typed')).toMatchObject({ limits: { rpm: 7 } })
    await page.reload()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('of ada')
    await users(seen).endSignInSessions(NAMES.admin)
    await page.getByRole('button', { name: 'Create key' }).click()
    await signIn(await admit(seen.gateway, 'viewer'))
    await page.locator('.foot').getByText(NAMES.viewer).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('a session that ends while a secret is shown does not lose it, if the same user signs in', async () => {
    const seen = await visit('/account', REFUSED)
    const { page } = seen
    await page.clock.install()
    await seen.goTo('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('shown once')
    await page.keyboard.press('Enter')
    const once = page.getByRole('dialog', { name: 'shown once was created' })
    const secret = (await once.locator('.secret code').textContent())!
    await users(seen).endSignInSessions(NAMES.admin)
    await page.clock.runFor(61_000)
    const again = page.getByRole('dialog', { name: 'Sign in' })
    await again.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    expect(await once.locator('.secret code').textContent()).toBe(secret)
  })

  test('users are made, changed, given a password, and deleted', async () => {
    const seen = await visit('/account', REFUSED)
    const { page } = seen
    await page.getByRole('button', { name: 'New user' }).click()
    const form = page.getByRole('dialog', { name: 'New user' })
    await form.getByLabel('Name').fill('<b>')
    await form.getByRole('button', { name: 'Create user' }).click()
    await form.getByText('must start with a letter').waitFor()
    await form.getByLabel('Name').fill('eve')
    await form.getByRole('button', { name: 'Create user' }).click()
    const once = page.getByRole('dialog', { name: 'eve can now sign in' })
    const password = (await once.locator('.secret code').textContent())!
    expect(await statusAs(seen, 'eve', password)).toBe(200)
    expect(await users(seen).user('eve')).toMatchObject({ role: 'viewer', enabled: true })
    await once.getByRole('button', { name: 'Done' }).click()

    const choose = async (item: string, button?: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for eve' }).click()
      await page.getByRole('menuitem', { name: item }).click()
      if (button !== undefined) await page.getByRole('dialog').getByRole('button', { name: button }).click()
    }
    await choose('Make admin')
    await expect.poll(async () => (await users(seen).user('eve'))!.role).toBe('admin')
    await page.getByRole('row').filter({ hasText: 'eve' }).getByText('Admin').waitFor()
    await choose('Reset password', 'Reset password')
    await once.waitFor()
    expect(await statusAs(seen, 'eve', password)).toBe(401)
    expect(await statusAs(seen, 'eve', (await once.locator('.secret code').textContent())!)).toBe(200)
    await once.getByRole('button', { name: 'Done' }).click()
    await choose('Disable', 'Disable')
    await page.getByRole('row').filter({ hasText: 'eve' }).getByText('Disabled').waitFor()
    expect((await users(seen).user('eve'))!.enabled).toBe(false)
    await choose('Delete', 'Delete')
    await page.getByText('eve was deleted.').waitFor()
    expect(await users(seen).user('eve')).toBeUndefined()
  })

  test('the last admin stays one', async () => {
    const seen = await visit('/account', REFUSED)
    const { page } = seen
    await page.getByRole('button', { name: `Actions for ${NAMES.admin}` }).click()
    await page.getByRole('menuitem', { name: 'Make viewer' }).click()
    await page.getByText('This is the last enabled admin').waitFor()
    expect((await users(seen).user(NAMES.admin))!.role).toBe('admin')
  })

  test('a viewer sees the own account alone', async () => {
    const { page, gateway } = await visit('/account', { role: 'viewer' })
    await addUser(gateway.admin.store, 'eve')
    await page.reload()
    await page.getByRole('heading', { name: 'Password' }).waitFor()
    await expect.poll(() => page.getByRole('heading', { name: 'Users' }).count()).toBe(0)
    await expect.poll(() => page.getByText('eve', { exact: true }).count()).toBe(0)
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme',
    async look => {
      const { page, axe } = await visit('/account', { ...look, language: 'zh' })
      await axe()
      await page.getByRole('button', { name: '新建用户' }).click()
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    },
  )
})
