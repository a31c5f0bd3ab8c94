import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { CONSOLE } from '../builders/config.ts'
import { addUser, PASSWORD } from '../builders/console.ts'
import { CLIENT, OidcProvider } from '../builders/oidc-provider.ts'

const CHROMIUM = '/usr/bin/chromium'
const hasChromium = existsSync(CHROMIUM)
if (!hasChromium) process.stderr.write(`SKIPPED: what browsers do with cookies needs ${CHROMIUM}\n`)

const closing = closingAfterEach()

/** A gateway at 127.0.0.1, a provider at localhost (another site for browsers), and a page. */
async function open() {
  const provider = await OidcProvider.open('localhost')
  closing.push(() => provider.close())
  const roles = { admin: ['platform'], viewer: [] }
  const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret, name: 'E', scopes: ['openid'], claim: 'groups' }
  const admin = await AdminServer.open([], {
    console: { ...CONSOLE, oidc: { issuer: provider.issuer, ...client, roles } },
  })
  closing.push(() => admin.close())
  await addUser(admin.store, 'ada')
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  closing.push(() => browser.close())
  const context = await browser.newContext()
  return { admin, provider, context, page: await context.newPage(), address: admin.testServer.server.address }
}

interface Ask {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly csrf?: string
}

/** Sends a request from a script of the page. */
const asked = (page: Page, ask: Ask): Promise<{ status: number; json: { csrf: string; user: object } }> =>
  page.evaluate(async ({ method, path, body, csrf }: Ask) => {
    const headers = { 'content-type': 'application/json', ...(csrf === undefined ? {} : { 'x-csrf-token': csrf }) }
    const answer = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const json = (await answer.json().catch(() => undefined)) as { csrf: string; user: object }
    return { status: answer.status, json }
  }, ask)

it.skipIf(!hasChromium)('a browser keeps the session, and takes it to no other site', async () => {
  const { admin, provider, page, address } = await open()
  await page.goto(`${address}/healthz`)
  const path = '/admin/v1/session'
  const { status, json } = await asked(page, { method: 'POST', path, body: { name: 'ada', password: PASSWORD } })
  expect([status, await page.evaluate('document.cookie')]).toEqual([200, ''])
  const group = { method: 'POST', path: '/admin/v1/groups', body: { name: 'team' } }
  expect((await asked(page, group)).status).toBe(403)
  expect((await asked(page, { ...group, csrf: json.csrf })).status).toBe(201)
  // A page of another site posts a form while the user is signed in.
  await page.goto(`${provider.issuer}/jwks`)
  const posted = page.waitForResponse(`${address}/**`)
  await page.evaluate(`
    const form = Object.assign(document.createElement('form'), {
      ...{ method: 'post', enctype: 'text/plain', action: '${address}/admin/v1/groups' },
    })
    form.append(Object.assign(document.createElement('input'), { name: '{"name":"evil","note":"', value: '"}' }))
    document.body.append(form)
    form.submit()
  `)
  expect((await posted).status()).toBe(401)
  expect((await admin.store.access.groups()).map(({ name }) => name)).toEqual(['team'])
})

it.skipIf(!hasChromium)('a browser comes back from a provider of another site, signed in', async () => {
  const { provider, page, context, address } = await open()
  provider.user = { sub: '1', preferred_username: 'Eve', groups: ['platform'] }
  await page.goto(`${address}/admin/v1/session/oidc`)
  await expect.poll(() => page.url()).toBe(`${address}/console/`)
  expect((await asked(page, { method: 'GET', path: '/admin/v1/session' })).json.user).toEqual({
    name: 'eve',
    role: 'admin',
  })
  expect((await context.cookies()).map(({ name, sameSite, httpOnly }) => [name, sameSite, httpOnly])).toEqual([
    ['interlingua_session', 'Strict', true],
  ])
})
