import { describe, expect, it, vi } from 'vitest'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { addUser, PASSWORD, SignedIn, signInAs } from '../builders/console.ts'
import { inDatabase } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { pause, SOON, TIMED } from '../builders/time.ts'

const closing = closingAfterEach()

async function open(limits?: { session: number; idle: number }) {
  const admin = await AdminServer.open([], limits && { console: limits })
  closing.push(() => admin.close())
  await addUser(admin.store, 'ada')
  await addUser(admin.store, 'vic')
  return admin
}

const statusOf = async (one: SignedIn) => (await one.ask('GET', '/status')).status

describe('sessions end', () => {
  it('after their time, however much they are used', TIMED, async () => {
    const { testServer } = await open({ session: 3000, idle: 60_000 })
    const ada = await SignedIn.at(testServer, 'ada')
    const end = Date.now() + 3000
    while (Date.now() < end - 1500) {
      expect(await statusOf(ada)).toBe(200)
      await pause(100)
    }
    await pause(end - Date.now() + 50)
    expect(await statusOf(ada)).toBe(401)
    expect((await ada.ask('GET', '/session')).status).toBe(401)
    expect((await ada.ask('POST', '/groups', { name: 'a' })).status).toBe(401)
  })

  it('when nobody uses them, and not while somebody does, at any instance', TIMED, async () => {
    const idle = { session: 60_000, idle: 3000 }
    const { testServer, path } = await open(idle)
    const other = await TestServer.open([], { keep: path, config: { console: idle } })
    closing.push(() => other.server.close(0))
    const [unused, used] = [await SignedIn.at(testServer, 'ada'), await SignedIn.at(testServer, 'ada')]
    const left = await SignedIn.at(testServer, 'ada')
    const reload = () => left.ask('GET', '/status', undefined, { 'x-interlingua-by-itself': 'true' })
    for (let round = 0; round < 5; round++) {
      await pause(900)
      expect(await statusOf(round % 2 ? used : used.atOther(other))).toBe(200)
      // An open page that nobody uses loads its figures again and again.
      if (round < 3) expect((await reload()).status).toBe(200)
    }
    expect(await statusOf(unused)).toBe(401)
    expect((await reload()).status).toBe(401)
  })

  it('when nobody uses them, also while a page watches requests', TIMED, async () => {
    const { testServer } = await open({ session: 3_600_000, idle: 60_000 })
    const ada = await SignedIn.at(testServer, 'ada')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: Date.now() })
    try {
      const headers = { authorization: '', cookie: ada.cookie }
      const live = testServer.send('/admin/v1/requests/live', undefined, { method: 'GET', headers })
      ;(await live.answer).resume()
      // Each heartbeat checks that its reader is still signed in.
      for (let heartbeat = 0; heartbeat < 5; heartbeat++) {
        vi.advanceTimersByTime(15_000)
        await pause(100)
      }
      expect(await statusOf(ada)).toBe(401)
      live.out.destroy()
    } finally {
      vi.useRealTimers()
    }
  })

  it('for a user who is disabled, deleted, or given another password, at every instance', async () => {
    const { testServer, path, store } = await open()
    const other = await TestServer.open([], { keep: path })
    closing.push(() => other.server.close(0))
    const ada = await SignedIn.at(testServer, 'ada')
    const vic = async () => (await SignedIn.at(other, 'vic')).atOther(testServer)
    let session = await vic()
    expect((await ada.ask('PATCH', '/users/vic', { enabled: false })).status).toBe(200)
    expect([await statusOf(session), await statusOf(session.atOther(other))]).toEqual([401, 401])
    expect((await signInAs(testServer, 'vic')).status).toBe(401)
    await ada.ask('PATCH', '/users/vic', { enabled: true })
    // An ended session stays ended.
    expect(await statusOf(session)).toBe(401)
    session = await vic()
    expect((await ada.ask('DELETE', '/users/vic/sessions')).status).toBe(204)
    expect(await statusOf(session)).toBe(401)
    session = await vic()
    const { password } = (await ada.ask('POST', '/users/vic/password', {})).json
    expect(await statusOf(session)).toBe(401)
    session = (await SignedIn.at(other, 'vic', password)).atOther(testServer)
    expect((await ada.ask('DELETE', '/users/vic')).status).toBe(204)
    expect(await statusOf(session)).toBe(401)
    await addUser(store, 'vic')
    expect(await statusOf(session)).toBe(401)
  })

  it('the oldest, where a user has too many', async () => {
    const { testServer, store, path } = await open()
    const first = await SignedIn.at(testServer, 'ada')
    const user = (await store.console.user('ada'))!
    for (let count = 0; count < 50; count++) {
      const at = Date.now() + 1 + count
      const session = { hash: `h${count}`, user: 'ada', createdAt: at, usedAt: at, expiresAt: at + 60_000 }
      expect(await store.console.openSignInSession(session, user.password, 50)).toBe(true)
    }
    expect(await statusOf(first)).toBe(401)
    expect(await inDatabase(path, 'select * from console_sessions')).toHaveLength(50)
  })

  it('never begin with a password that was changed while it was checked', async () => {
    const { store } = await open()
    const before = (await store.console.user('ada'))!
    await store.console.changeUser('ada', { password: 'scrypt$1' })
    const session = { hash: 'h', user: 'ada', createdAt: 1, usedAt: 1, expiresAt: 9e15 }
    expect(await store.console.openSignInSession(session, before.password, 50)).toBe(false)
    expect(await store.console.signInSession('h')).toBeUndefined()
  })

  it('and are deleted', async () => {
    const { store, path } = await open()
    const user = (await store.console.user('ada'))!
    const session = { hash: 'h', user: 'ada', createdAt: 1, usedAt: 1, expiresAt: 2 }
    await store.console.openSignInSession(session, user.password, 50)
    await store.sweep()
    expect(await inDatabase(path, 'select * from console_sessions')).toEqual([])
  })
})

it('passwords and tokens are in no line of the log, no answer and no row', async () => {
  const { testServer, path } = await open()
  const secret = 'hunter2-hunter2-hunter2'
  const texts: string[] = []
  const noted = async (answer: Promise<{ text: string; headers: object }>) => {
    const { text } = await answer
    texts.push(text)
  }
  await noted(signInAs(testServer, 'ada', secret))
  // The user typed the password into the name field.
  await noted(signInAs(testServer, secret, 'x'))
  const headers = { authorization: '', 'content-type': 'application/json' }
  for (const body of [`{"name":"ada","password":"${secret}`, `${secret}`, `{"name":"ada","password":["${secret}"]}`])
    await noted(testServer.ask('/admin/v1/session', body, { headers }))
  await noted(testServer.ask('/admin/v1/session', { name: 'ada', [secret.slice(0, 7)]: 1 }, { headers }))
  const ada = await SignedIn.at(testServer, 'ada')
  await noted(ada.ask('PUT', '/session/password', { current: PASSWORD, password: secret }))
  await noted(ada.ask('POST', '/users', { name: 'eve', password: secret }))
  await noted(ada.ask('GET', '/users'))
  await noted(ada.ask('GET', '/session'))
  const token = ada.cookie.split('=')[1]!
  const rows = JSON.stringify([
    await inDatabase(path, 'select * from console_users'),
    await inDatabase(path, 'select * from console_sessions'),
    await inDatabase(path, 'select * from console_attempts'),
  ])
  await vi.waitFor(() => expect(testServer.lines.length).toBeGreaterThan(3), SOON)
  const written = JSON.stringify(testServer.lines)
  for (const hidden of [secret, PASSWORD, token]) for (const text of [written, rows]) expect(text).not.toContain(hidden)
  for (const text of texts)
    for (const hidden of [secret, PASSWORD, token, 'scrypt$']) expect(text).not.toContain(hidden)
  expect(rows).not.toContain(ada.csrf)
})
