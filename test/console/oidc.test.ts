import { describe, expect, it } from 'vitest'
import type { OidcConfig } from '../../src/config/index.ts'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { CONSOLE, configOf } from '../builders/config.ts'
import { addUser, cookiesOf, SignedIn } from '../builders/console.ts'
import { type Asked, TestServer } from '../builders/gateway.ts'
import { CLIENT, OidcProvider, type Tampering } from '../builders/oidc-provider.ts'

const closing = closingAfterEach()

const oidcOf = (issuer: string, fields: Partial<OidcConfig> = {}): OidcConfig => ({
  ...{ issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, name: 'Example', scopes: ['openid'], claim: 'groups' },
  roles: { admin: ['platform'], viewer: ['developers'] },
  ...fields,
})

async function open(fields: Partial<OidcConfig> = {}, server = {}) {
  const provider = await OidcProvider.open()
  closing.push(() => provider.close())
  const config = {
    usage: { retention: 86_400_000 },
    console: { ...CONSOLE, oidc: oidcOf(provider.issuer, fields) },
    server: { ...configOf([]).server, ...server },
  }
  const admin = await AdminServer.open([], config)
  closing.push(() => admin.close())
  return { provider, config, ...admin, server: admin.testServer }
}

type Opened = Awaited<ReturnType<typeof open>>
const HOME = '/console/'
const ADA = { sub: '1', preferred_username: 'Ada', groups: ['platform'] }

const browse = (server: TestServer, path: string, headers = {}) =>
  server.ask(`/admin/v1/session/oidc${path}`, undefined, {
    ...{ method: 'GET', headers: { authorization: '', 'sec-fetch-site': 'cross-site', ...headers } },
  })

/** Follows the redirects of a sign-in: to the provider and back. */
async function signIn(
  { server, provider }: Pick<Opened, 'server' | 'provider'>,
  claims: object,
  tampering?: Tampering,
) {
  const begun = await browse(server, '')
  const query = provider.authorise(begun.headers['location']!, claims as typeof ADA, tampering)
  return browse(server, `/callback?${query}`, { cookie: cookiesOf(begun) })
}

/** Session cookie of a response. */
async function sessionOf(server: TestServer, answer: Asked) {
  const cookie = cookiesOf(answer)
  return (await server.ask('/admin/v1/session', undefined, { method: 'GET', headers: { authorization: '', cookie } }))
    .json
}

const refusal = ({ status, text, headers }: Asked) => [status, /<p>(.*?)<\/p>/.exec(text)?.[1], headers['location']]

describe('a provider', () => {
  it('is in the audit log with the users it made and the roles it changed', async () => {
    const all = await open({}, {})
    for (const groups of [['developers'], ['developers'], ['platform']]) await signIn(all, { ...ADA, groups })
    const { entries } = await all.store.audit.list({ since: 0, until: Date.now() + 1, limit: 10 })
    const role = (from: string | undefined, to: string) => ({ field: 'role', ...(from && { from }), to })
    expect(entries).toEqual([
      expect.objectContaining({
        ...{ action: 'changeUser', kind: 'user', target: 'ada', actor: 'ada', actorKind: 'user' },
        changes: [role('viewer', 'admin')],
      }),
      expect.objectContaining({
        ...{ action: 'createUser', kind: 'user', target: 'ada', actor: 'ada', actorKind: 'user' },
        changes: expect.arrayContaining([role(undefined, 'viewer')]),
      }),
    ])
    expect(JSON.stringify(entries)).not.toContain('"subject"')
  })

  it('signs users in with the role it states, again and again, and the page offers it', async () => {
    const all = await open()
    const none = await all.server.ask('/admin/v1/session', undefined, { method: 'GET', headers: { authorization: '' } })
    expect([none.status, none.json.oidc]).toEqual([401, { name: 'Example' }])
    const begun = await browse(all.server, '')
    expect(begun.status).toBe(302)
    const asked = new URL(begun.headers['location']!)
    expect(asked.origin).toBe(all.provider.issuer)
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: CLIENT.id, scope: 'openid', code_challenge_method: 'S256' },
      redirect_uri: `${all.server.server.address}/admin/v1/session/oidc/callback`,
      ...{ state: expect.any(String), nonce: expect.any(String), code_challenge: expect.any(String) },
    })
    expect(String((begun.headers as { 'set-cookie'?: unknown })['set-cookie'])).toMatch(
      /^interlingua_oidc=il1\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    const answer = await signIn(all, ADA)
    expect([answer.status, answer.headers['location']]).toEqual([302, HOME])
    expect(await sessionOf(all.server, answer)).toMatchObject({ user: { name: 'ada', role: 'admin' }, oidc: true })
    const again = await signIn(all, { ...ADA, preferred_username: 'renamed', groups: 'developers' })
    expect(await sessionOf(all.server, again)).toMatchObject({ user: { name: 'ada', role: 'viewer' } })
    expect(await all.store.console.users()).toMatchObject([{ name: 'ada', source: 'oidc', role: 'viewer' }])
  })

  it('refuses users without a role in plain words, whose sessions of before end, and those who are disabled', async () => {
    const all = await open()
    const before = await signIn(all, ADA)
    for (const groups of [[], 'platform x', undefined, null, { platform: true }])
      expect(refusal(await signIn(all, { ...ADA, groups }))).toEqual([
        ...[403, expect.stringContaining('no role that may use'), undefined],
      ])
    expect((await sessionOf(all.server, before)).user).toBeUndefined()
    expect(all.server.lines.filter(({ level }) => level === 'warn').at(-1)?.fields).toEqual({
      ...{ issuer: all.provider.issuer, why: 'no-role', user: 'ada', claim: 'groups' },
    })
    await addUser(all.store, 'boss')
    await all.store.console.changeUser('ada', { enabled: false })
    expect(refusal(await signIn(all, ADA))).toEqual([403, expect.stringContaining('disabled'), undefined])
  })

  it('never makes anybody another user: not by a name, only by its subject', async () => {
    const all = await open()
    const admin = await addUser(all.store, 'admin')
    const answer = await signIn(all, { sub: '6', preferred_username: 'ADMIN', groups: ['developers'] })
    const { user } = await sessionOf(all.server, answer)
    expect(user).toEqual({ name: expect.stringMatching(/^admin \([0-9a-f]{8}\)$/), role: 'viewer' })
    expect(await all.store.console.user('admin')).toEqual(admin)
    for (const [at, name] of [
      '<img src=x onerror=alert(1)>',
      '../..',
      '\u0000\ud83d',
      '张伟',
      'x'.repeat(300),
    ].entries()) {
      const shown = (
        await sessionOf(all.server, await signIn(all, { ...ADA, sub: `n${at}`, preferred_username: name }))
      ).user
      expect(shown.name).toMatch(/^[\p{L}\p{N}][\p{L}\p{N} ._@+()-]{0,63}$/u)
    }
  })

  it('states roles in nested claims, and where the token has none, as user information', async () => {
    const nested = await open({ claim: 'realm_access.roles' })
    const token = { sub: '1', realm_access: { roles: ['platform'] } }
    expect((await sessionOf(nested.server, await signIn(nested, token))).user.role).toBe('admin')
    const userinfo = { realm_access: { roles: ['developers'] } }
    const told = await signIn(nested, { sub: '2' }, { userinfo })
    expect((await sessionOf(nested.server, told)).user.role).toBe('viewer')
    const other = await signIn(nested, { sub: '3' }, { userinfo: { ...userinfo, sub: '1' } })
    expect(other.status).toBe(502)
  })

  it('is reached at any instance: one begins, another finishes', async () => {
    const all = await open({}, { publicUrls: ['https://console.example.org'] })
    const second = await TestServer.open([], { keep: all.path, config: all.config })
    closing.push(() => second.server.close(0))
    const begun = await browse(all.server, '')
    const location = begun.headers['location']!
    expect(new URL(location).searchParams.get('redirect_uri')).toMatch(/^https:\/\/console\.example\.org\/admin/)
    const query = all.provider.authorise(location, ADA)
    const answer = await browse(second, `/callback?${query}`, { cookie: cookiesOf(begun) })
    expect([answer.status, (await sessionOf(all.server, answer)).user.name]).toEqual([302, 'ada'])
  })

  it('that cannot be reached keeps nobody from signing in with a password', async () => {
    const all = await open()
    await all.provider.close()
    closing.splice(0, 1)
    await addUser(all.store, 'boss')
    expect(refusal(await browse(all.server, ''))).toEqual([
      502,
      expect.stringContaining('was unreachable or did not confirm'),
      undefined,
    ])
    await SignedIn.at(all.server, 'boss')
  })

  it('is nothing without a config', async () => {
    const admin = await AdminServer.open([])
    closing.push(() => admin.close())
    for (const path of ['', '/callback?code=x&state=y'])
      expect((await browse(admin.testServer, path)).json.type).toBe('urn:interlingua:problem:not-found')
  })
})

describe('attacks on the way back', () => {
  it('state: a code that was not asked for by this browser signs nobody in', async () => {
    const all = await open()
    const [mine, theirs] = [await browse(all.server, ''), await browse(all.server, '')]
    const attacker = all.provider.authorise(theirs.headers['location']!, { ...ADA, sub: 'attacker' })
    expect((await browse(all.server, `/callback?${attacker}`)).status).toBe(400)
    const crossed = await browse(all.server, `/callback?${attacker}`, { cookie: cookiesOf(mine) })
    expect([crossed.status, crossed.headers['location']]).toEqual([502, undefined])
    attacker.delete('state')
    expect((await browse(all.server, `/callback?${attacker}`, { cookie: cookiesOf(mine) })).status).toBe(502)
    expect([all.provider.granted, await all.store.console.users()]).toEqual([0, []])
  })

  it('the cookie: one that was changed, made up, or is another kind of seal is none', async () => {
    const all = await open()
    const begun = await browse(all.server, '')
    const query = all.provider.authorise(begun.headers['location']!, ADA)
    const cookie = cookiesOf(begun)
    const changed = cookie.slice(0, 40) + (cookie[40] === 'A' ? 'B' : 'A') + cookie.slice(41)
    for (const one of [
      changed,
      'interlingua_oidc=',
      'interlingua_oidc=il1.',
      'interlingua_oidc={}',
      `__Host-${cookie}`,
    ])
      expect((await browse(all.server, `/callback?${query}`, { cookie: one })).status).toBe(400)
    expect((await browse(all.server, `/callback?${query}`, { cookie })).status).toBe(302)
  })

  it('a code and its way back work once', async () => {
    const all = await open()
    const begun = await browse(all.server, '')
    const query = all.provider.authorise(begun.headers['location']!, ADA)
    const cookie = cookiesOf(begun)
    const answer = await browse(all.server, `/callback?${query}`, { cookie })
    expect(cookiesOf(answer)).toMatch(/^interlingua_oidc=; interlingua_session=/)
    expect((await browse(all.server, `/callback?${query}`, { cookie })).status).toBe(502)
  })

  it.each<[string, Tampering]>([
    ['a nonce of another sign-in', { claims: { nonce: 'another' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another issuer in the token', { claims: { iss: 'https://evil.example' } }],
    ['a token for another client', { claims: { aud: 'another' } }],
    ['a token that is over', { claims: { exp: 1000, iat: 900 } }],
    ['a token signed by somebody else', { foreignKey: true }],
    ['a token without a subject', { claims: { sub: undefined } }],
  ])('%s signs nobody in', async (_, tampering) => {
    const all = await open()
    expect(refusal(await signIn(all, ADA, tampering))).toEqual([
      502,
      expect.stringContaining('did not confirm'),
      undefined,
    ])
    expect(await all.store.console.users()).toEqual([])
  })

  it('issuer mix-up: an answer in the name of another provider, or of none, signs nobody in', async () => {
    const all = await open()
    const other = await OidcProvider.open()
    closing.push(() => other.close())
    for (const iss of [other.issuer, undefined]) {
      const begun = await browse(all.server, '')
      const query = all.provider.authorise(begun.headers['location']!, ADA)
      query.delete('iss')
      if (iss !== undefined) query.set('iss', iss)
      expect((await browse(all.server, `/callback?${query}`, { cookie: cookiesOf(begun) })).status).toBe(502)
    }
    expect([all.provider.granted, other.granted]).toEqual([0, 0])
    // A sign-in begun with another provider must fail: instances with one store can have different configs.
    const config = { console: { ...CONSOLE, oidc: oidcOf(other.issuer) } }
    const elsewhere = await TestServer.open([], { keep: all.path, config })
    closing.push(() => elsewhere.server.close(0))
    const begun = await browse(elsewhere, '')
    const query = other.authorise(begun.headers['location']!, ADA)
    expect((await browse(all.server, `/callback?${query}`, { cookie: cookiesOf(begun) })).status).toBe(400)
  })

  it('open redirect: no part of a request names where users go', async () => {
    const all = await open()
    const evil = 'https://evil.example/'
    const more = new URLSearchParams({
      return: evil,
      redirect: evil,
      redirect_uri: evil,
      next: evil,
      target_link_uri: evil,
    })
    const begun = await browse(all.server, `?${more}`, { referer: evil })
    expect(begun.headers['location']!.startsWith(`${all.provider.issuer}/authorize?`)).toBe(true)
    expect(begun.headers['location']).not.toContain('evil')
    const query = all.provider.authorise(begun.headers['location']!, ADA)
    const answer = await browse(all.server, `/callback?${query}`, { cookie: cookiesOf(begun), referer: evil })
    expect([answer.status, answer.headers['location']]).toEqual([302, HOME])
  })

  it('texts of the address are not repeated to the browser, and secrets are in no line of the log', async () => {
    const all = await open()
    const begun = await browse(all.server, '')
    const script = '<script>alert(1)</script>'
    const state = new URL(begun.headers['location']!).searchParams.get('state')!
    const query = new URLSearchParams({ error: script, error_description: script, state, iss: all.provider.issuer })
    const answer = await browse(all.server, `/callback?${query}`, { cookie: cookiesOf(begun) })
    expect([answer.status, answer.text.includes('script')]).toEqual([502, false])
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    await signIn(all, ADA)
    const written = JSON.stringify(all.server.lines)
    expect(written).toContain('sign-in through the identity provider failed')
    for (const secret of [CLIENT.secret, state, 'eyJ']) expect(written).not.toContain(secret)
  })
})
