import { once } from 'node:events'
import { request } from 'node:https'
import { describe, expect, it } from 'vitest'
import { AdminServer } from '../builders/admin.ts'
import { Certificates, hasOpenssl } from '../builders/certificate.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { configOf } from '../builders/config.ts'
import { addUser, cookiesOf, PASSWORD, SignedIn, signInAs } from '../builders/console.ts'
import type { Asked } from '../builders/gateway.ts'

const closing = closingAfterEach()

async function open(fields = {}) {
  const admin = await AdminServer.open([], { server: { ...configOf([]).server, ...fields } })
  closing.push(() => admin.close())
  await addUser(admin.store, 'ada')
  return admin
}

const setCookie = ({ headers }: Asked): string => String((headers as { 'set-cookie'?: unknown })['set-cookie'])

const PLAIN = /^interlingua_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=3600$/
const SECURE = /^__Host-interlingua_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=3600; Secure$/

describe('cookie flags', () => {
  it('without TLS: HttpOnly and SameSite=Strict, whatever an untrusted proxy states', async () => {
    const { testServer } = await open()
    expect(setCookie(await signInAs(testServer, 'ada'))).toMatch(PLAIN)
    expect(setCookie(await signInAs(testServer, 'ada', PASSWORD, { 'x-forwarded-proto': 'https' }))).toMatch(PLAIN)
  })

  it('behind a trusted proxy that ended TLS: Secure, and of this host alone', async () => {
    const { testServer } = await open({ trustedProxies: ['127.0.0.0/8'] })
    expect(setCookie(await signInAs(testServer, 'ada'))).toMatch(PLAIN)
    const tls = { 'x-forwarded-proto': 'https' }
    const answer = await signInAs(testServer, 'ada', PASSWORD, tls)
    expect(setCookie(answer)).toMatch(SECURE)
    const cookie = cookiesOf(answer)
    const status = async (headers: { [name: string]: string }) =>
      (
        await testServer.ask('/admin/v1/status', undefined, {
          method: 'GET',
          headers: { authorization: '', ...headers },
        })
      ).status
    expect(await status({ ...tls, cookie })).toBe(200)
    // A sibling host or plain HTTP can set a cookie that lacks the prefix.
    expect(await status({ ...tls, cookie: cookie.replace('__Host-', '') })).toBe(401)
    expect(await status({ cookie })).toBe(401)
  })

  it.skipIf(!hasOpenssl)('with TLS of its own: Secure, too', async () => {
    const certificates = new Certificates()
    closing.push(() => certificates.close())
    const { cert, key, pem: ca } = certificates.make('one')
    const { testServer } = await open({ tls: { cert, key } })
    const headers = { 'content-type': 'application/json' }
    const out = request(`${testServer.server.address}/admin/v1/session`, { ca, method: 'POST', agent: false, headers })
    out.end(JSON.stringify({ name: 'ada', password: PASSWORD }))
    const [answer] = await once(out, 'response')
    answer.resume()
    expect([answer.statusCode, String(answer.headers['set-cookie'])]).toEqual([200, expect.stringMatching(SECURE)])
  })

  it('are the same for the cookie that takes the session away', async () => {
    const { testServer } = await open()
    const ada = await SignedIn.at(testServer, 'ada')
    expect(setCookie(await ada.ask('DELETE', '/session'))).toBe(
      'interlingua_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    )
  })
})

describe('session fixation', () => {
  it('a token that somebody else chose or knows is never that of a session', async () => {
    const { testServer, store } = await open()
    const chosen = `interlingua_session=${'A'.repeat(43)}`
    const first = await signInAs(testServer, 'ada', PASSWORD, { cookie: chosen })
    expect(first.status).toBe(200)
    expect(cookiesOf(first)).not.toBe(chosen)
    // A session that an attacker planted before the sign-in has ended after it.
    await addUser(store, 'mallory', { role: 'viewer' })
    const planted = await SignedIn.at(testServer, 'mallory')
    const second = await signInAs(testServer, 'ada', PASSWORD, { cookie: planted.cookie })
    expect(cookiesOf(second)).not.toBe(planted.cookie)
    expect((await planted.ask('GET', '/session')).status).toBe(401)
    const whole = await testServer.ask('/admin/v1/session', undefined, {
      ...{ method: 'GET', headers: { authorization: '', cookie: chosen } },
    })
    expect(whole.status).toBe(401)
  })
})

it('cookies of any content are no session, and no fault', async () => {
  const { testServer } = await open()
  const ada = await SignedIn.at(testServer, 'ada')
  const token = ada.cookie.split('=')[1]!
  const wrong = ['', '=', ';;;', 'interlingua_session', 'interlingua_session=', `interlingua_session="${token}"`]
  const more = [
    `interlingua_session=${token}x`,
    `x=${ada.cookie}`,
    `INTERLINGUA_SESSION=${token}`,
    'a=b; '.repeat(4000),
  ]
  for (const cookie of [...wrong, ...more]) {
    const { status } = await ada.ask('GET', '/status', undefined, { cookie })
    expect([cookie, status]).toEqual([cookie, 401])
  }
  expect((await ada.ask('GET', '/status', undefined, { cookie: `a=b;${ada.cookie} ; c=d` })).status).toBe(200)
  expect(testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
})
