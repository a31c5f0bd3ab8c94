import { describe, expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { CONSOLE } from '../builders/config.ts'
import { CLIENT, OidcProvider } from '../builders/oidc-provider.ts'
import { IN_BROWSER, noChromium, visitor } from './browser.ts'

describe.skipIf(noChromium)('a sign-in through an identity provider', IN_BROWSER, () => {
  const closing = closingAfterEach()
  const visit = visitor()

  async function open(path: string) {
    const provider = await OidcProvider.open('localhost')
    closing.push(() => provider.close())
    provider.user = { sub: '1', preferred_username: 'ada', groups: ['platform'] }
    const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret, name: 'Example', scopes: ['openid'] }
    const oidc = { issuer: provider.issuer, ...client, claim: 'groups', roles: { admin: ['platform'], viewer: [] } }
    const options = { config: { console: { ...CONSOLE, oidc } }, role: null, expected: [/401 \(Unauthorized\)/] }
    return visit(path, options)
  }

  test('comes back to the page of the link that was opened, and only once', async () => {
    const { page } = await open('/usage?range=7d&by=key')
    const link = page.getByRole('link', { name: 'Sign in with Example' })
    await link.click()
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    expect(page.url()).toMatch(/\/console\/usage\?range=7d&by=key$/)
    await page.goto('/console/')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await link.click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
})
