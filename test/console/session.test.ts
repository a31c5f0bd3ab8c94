import { expect, it } from 'vitest'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { CONSOLE } from '../builders/config.ts'
import { addUser, cookiesOf, PASSWORD, SignedIn, signInAs } from '../builders/console.ts'
import { TestServer } from '../builders/gateway.ts'

const closing = closingAfterEach()

async function open(config = {}) {
  const admin = await AdminServer.open([], config)
  closing.push(() => admin.close())
  return admin
}

it('signs a user in, who may do what the role permits, and out', async () => {
  const { testServer, store } = await open()
  await addUser(store, 'ada')
  const none = await testServer.ask('/admin/v1/session', undefined, { method: 'GET', headers: { authorization: '' } })
  expect([none.status, none.json.oidc]).toEqual([401, null])
  const answer = await signInAs(testServer, ' ADA ')
  expect(answer.status).toBe(200)
  expect(answer.json).toEqual({
    user: { name: 'ada', role: 'admin' },
    csrf: expect.stringMatching(/^[\w-]{43}$/),
    expires_at: expect.any(String),
    oidc: false,
  })
  const left = Date.parse(answer.json.expires_at) - Date.now()
  expect(left).toBeGreaterThan(CONSOLE.session - 60_000)
  const ada = await SignedIn.at(testServer, 'ada')
  expect((await ada.ask('GET', '/session')).json.user).toEqual({ name: 'ada', role: 'admin' })
  expect((await ada.ask('GET', '/status')).status).toBe(200)
  expect((await ada.ask('POST', '/groups', { name: 'team' })).status).toBe(201)
  const out = await ada.ask('DELETE', '/session')
  expect([out.status, cookiesOf(out)]).toEqual([204, 'interlingua_session='])
  expect((await ada.ask('GET', '/status')).status).toBe(401)
})

it('makes sessions that all instances know, and that end everywhere at once', async () => {
  const { testServer, store, path } = await open()
  const other = await TestServer.open([], { keep: path })
  closing.push(() => other.server.close(0))
  await addUser(store, 'ada')
  const [one, two] = [await SignedIn.at(testServer, 'ada'), await SignedIn.at(other, 'ada')]
  expect((await one.atOther(other).ask('GET', '/status')).status).toBe(200)
  expect((await two.atOther(testServer).ask('POST', '/groups', { name: 'team' })).status).toBe(201)
  await one.ask('DELETE', '/session')
  expect((await one.atOther(other).ask('GET', '/status')).status).toBe(401)
  expect((await two.ask('GET', '/status')).status).toBe(200)
  const third = await SignedIn.at(testServer, 'ada')
  for (const query of ['everywhere=no', 'everywhere=0', 'everywher'])
    expect((await third.ask('DELETE', `/session?${query}`)).status).toBe(400)
  expect((await two.ask('GET', '/status')).status).toBe(200)
  await third.ask('DELETE', '/session?everywhere')
  for (const session of [two, third, two.atOther(testServer), third.atOther(other)])
    expect((await session.ask('GET', '/status')).status).toBe(401)
})

it('changes a password, which ends the other sessions and is in the audit log', async () => {
  const admin = await open({ usage: { retention: 86_400_000 } })
  const { testServer, store } = admin
  await addUser(store, 'ada')
  const [one, two] = [await SignedIn.at(testServer, 'ada'), await SignedIn.at(testServer, 'ada')]
  const next = 'another horse entirely'
  const wrong = await one.ask('PUT', '/session/password', { current: 'nonsense', password: next })
  expect([wrong.status, wrong.json.errors]).toEqual([400, [{ pointer: '/current', detail: 'is not your password' }]])
  const short = await one.ask('PUT', '/session/password', { current: PASSWORD, password: 'short' })
  expect([short.status, short.json.errors[0].pointer]).toEqual([400, '/password'])
  expect((await one.ask('PUT', '/session/password', { current: PASSWORD, password: next })).status).toBe(204)
  expect((await one.ask('GET', '/status')).status).toBe(200)
  expect((await two.ask('GET', '/status')).status).toBe(401)
  expect((await signInAs(testServer, 'ada')).status).toBe(401)
  expect((await signInAs(testServer, 'ada', next)).status).toBe(200)
  expect((await admin.get('/audit')).json.data).toMatchObject([
    { actor: 'ada', actor_kind: 'user', action: 'changeOwnPassword', target: 'ada', changes: [] },
  ])
})

it('is not there where the console is switched off', async () => {
  const { testServer, store } = await open({ console: undefined })
  await addUser(store, 'ada')
  expect((await signInAs(testServer, 'ada')).status).toBe(404)
})
