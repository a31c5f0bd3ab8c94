import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { configOf } from '../builders/config.ts'
import { addUser, cookiesOf, PASSWORD, SignedIn, signInAs } from '../builders/console.ts'
import type { TestServer } from '../builders/gateway.ts'
import { pause, TIMED } from '../builders/time.ts'
import { DAY, HOUR } from '../builders/units.ts'

/* Sign-ins that arrive cut or twice, at wrong times and over slow connections, and cookies and paths that cost time. */

const closing = closingAfterEach()
afterEach(() => vi.useRealTimers())

const server = { ...configOf([]).server, trustedProxies: ['127.0.0.0/8'] }

async function open() {
  const admin = await AdminServer.open([], { server })
  closing.push(() => admin.close())
  await addUser(admin.store, 'ada')
  return admin
}

const setClock = (difference: number): void => {
  vi.useRealTimers()
  if (difference !== 0) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + difference })
}

describe('a clock', () => {
  test('that was ahead when a user signed in, and is set right, leaves no session that outlasts its time', async () => {
    const { testServer } = await open()
    setClock(400 * DAY)
    const ahead = await SignedIn.at(testServer, 'ada')
    expect((await ahead.ask('GET', '/status')).status).toBe(200)
    setClock(0)
    expect((await ahead.ask('GET', '/status')).status).toBe(401)
    const now = await SignedIn.at(testServer, 'ada')
    expect((await now.ask('GET', '/status')).status).toBe(200)
    setClock(400 * DAY)
    expect((await now.ask('GET', '/status')).status).toBe(401)
  })

  test('that was ahead when a session was used does not disable its idle time', async () => {
    const { testServer } = await open()
    const session = await SignedIn.at(testServer, 'ada')
    setClock(HOUR / 7)
    expect((await session.ask('GET', '/status')).status).toBe(200)
    setClock(0)
    expect((await session.ask('GET', '/status')).status).toBe(401)
  })

  test('that was ahead when a name was locked, and is set right, locks nobody out for a year', TIMED, async () => {
    const { testServer } = await open()
    setClock(400 * DAY)
    const from = { 'x-forwarded-for': '203.0.113.9' }
    const guesses = await Promise.all(Array.from({ length: 10 }, () => signInAs(testServer, 'ada', 'guess', from)))
    expect(guesses.every(({ status }) => status >= 400)).toBe(true)
    for (let more = 0; more < 2; more++) await signInAs(testServer, 'ada', 'guess', from)
    setClock(0)
    const answer = await signInAs(testServer, 'ada', PASSWORD, from)
    expect(answer.status, answer.text).toBe(200)
  })
})

describe('a sign-in', () => {
  /** Sends a body with the length of another. */
  async function raw(
    { server: { address } }: TestServer,
    body: string,
    length = Buffer.byteLength(body),
    more = '',
  ): Promise<string> {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    let text = ''
    socket.on('error', () => {}).on('data', chunk => (text += chunk))
    socket.write(
      `POST /admin/v1/session HTTP/1.1\r\nhost: x\r\nsec-fetch-site: same-origin\r\ncontent-type: application/json\r\nconnection: close\r\n${more}content-length: ${length}\r\n\r\n${body}`,
    )
    if (length > Buffer.byteLength(body)) setTimeout(() => socket.end(), 20)
    await new Promise(resolve => socket.once('close', resolve))
    return text
  }
  const BODY = JSON.stringify({ name: 'ada', password: PASSWORD })

  test('that is cut anywhere opens no session, and counts as no guess', async () => {
    const { testServer } = await open()
    for (let end = 0; end < BODY.length; end++) {
      expect(await raw(testServer, BODY.slice(0, end))).not.toMatch(/set-cookie/i)
      if (end % 8 === 0) expect(await raw(testServer, BODY.slice(0, end), BODY.length + 5)).not.toMatch(/set-cookie/i)
    }
    expect((await signInAs(testServer, 'ada')).status).toBe(200)
  })

  test.each([
    '{"name":"ada","password":"wrong","password":"PASSWORD"}',
    '{"name":"nobody","name":"ada","password":"PASSWORD"}',
    '{"name":"ada","password":"PASSWORD","password":"wrong"}',
    '{"name":["ada"],"password":["PASSWORD"]}',
    '{"name":"ada","password":"PASSWORD","role":"admin","user":"boss"}',
    '[{"name":"ada","password":"PASSWORD"}]',
  ])('with fields that contradict each other is one sign-in or none: %s', async body => {
    const { testServer } = await open()
    const text = await raw(testServer, body.replaceAll('PASSWORD', PASSWORD))
    const isRight = JSON.parse(body.replaceAll('PASSWORD', PASSWORD)) as { name?: unknown; password?: unknown }
    const mayEnter = isRight.name === 'ada' && isRight.password === PASSWORD
    if (!mayEnter) expect(text).not.toMatch(/set-cookie/i)
    expect(text).toMatch(/^HTTP\/1\.1 [24]\d\d /)
  })

  test('with two cookies, lengths or types takes the first cookie, or is refused', async () => {
    const { testServer } = await open()
    const cookie = cookiesOf(await signInAs(testServer, 'ada'))
    const status = async (value: string) =>
      (
        await testServer.ask('/admin/v1/status', undefined, {
          method: 'GET',
          headers: { authorization: '', cookie: value },
        })
      ).status
    const planted = `interlingua_session=${'a'.repeat(43)}`
    expect(await status(`${cookie}; ${planted}`)).toBe(200)
    expect(await status(`${planted}; ${cookie}`)).toBe(401)
    for (const value of [`${cookie};${cookie}`, `x=${cookie}; ${cookie}`]) expect(await status(value)).toBe(200)
    for (const value of [`x${cookie}`, cookie.toUpperCase(), `"${cookie}"`, cookie.replace('=', '%3D'), `${cookie}%00`])
      expect(await status(value)).toBe(401)
    expect(await raw(testServer, BODY, BODY.length, 'content-length: 5\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect(await raw(testServer, BODY, BODY.length, 'transfer-encoding: chunked\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('in many parts over a slow connection holds up no other', TIMED, async () => {
    const { testServer } = await open()
    const port = Number(new URL(testServer.server.address).port)
    const sockets = Array.from({ length: 200 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      closing.push(() => socket.destroy())
      socket.write(
        'POST /admin/v1/session HTTP/1.1\r\nhost: x\r\nsec-fetch-site: same-origin\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{',
      )
      return socket
    })
    for (let round = 0; round < 3; round++) {
      for (const socket of sockets) socket.write(' ')
      await pause(10)
    }
    expect((await signInAs(testServer, 'ada')).status).toBe(200)
    expect(
      (await testServer.ask('/console/', undefined, { method: 'GET', headers: { authorization: '' } })).status,
    ).toBeLessThan(504)
  })

  test('whose caller leaves while its password is checked opens no session and frees its turn', TIMED, async () => {
    const { testServer, store } = await open()
    const port = Number(new URL(testServer.server.address).port)
    for (let round = 0; round < 12; round++) {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(
        `POST /admin/v1/session HTTP/1.1\r\nhost: x\r\nsec-fetch-site: same-origin\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
      )
      await pause(round % 5)
      socket.resetAndDestroy()
    }
    await vi.waitFor(async () => expect((await signInAs(testServer, 'ada')).status).toBe(200), {
      timeout: 20_000,
      interval: 200,
    })
    expect(await store.console.users()).toHaveLength(1)
    expect(testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('cookies, paths and headers that cost time', () => {
  const long = (text: string, size = 30_000) => text.repeat(Math.ceil(size / text.length)).slice(0, size)
  test.each<[string, string, object]>([
    ['cookies without end', '/admin/v1/status', { cookie: long('interlingua_sessio=') }],
    ['cookies of one name', '/admin/v1/status', { cookie: long('interlingua_session=x; ') }],
    ['semicolons', '/admin/v1/status', { cookie: long('; ;') }],
    ['accepted encodings', '/console/', { 'accept-encoding': long('gzip;q=0.1,br;q=,') }],
    ['accepted types', '/admin/v1/status', { accept: long('text/csv;q=0,application/json;q=') }],
    ['tags', '/console/', { 'if-none-match': long('"x", W/"y",') }],
    ['forwarded addresses', '/admin/v1/status', { 'x-forwarded-for': long('1.2.3.4, ') }],
    ['forwarded parts', '/admin/v1/status', { forwarded: long('for="[::1]";proto=https,') }],
    ['slashes', `/console/${long('/', 8000)}`, {}],
    ['dots', `/console/${long('../', 8000)}etc/passwd`, {}],
    ['escapes', `/console/${long('%2e%2e%2f', 9000)}`, {}],
  ])('%s are answered in a moment', TIMED, async (_, path, headers) => {
    const { testServer } = await open()
    await testServer.ask('/console/', undefined, { method: 'GET' })
    const start = performance.now()
    const answer = await testServer.ask(path, undefined, { method: 'GET', headers: { authorization: '', ...headers } })
    expect(performance.now() - start).toBeLessThan(300)
    expect(answer.status).toBeLessThan(504)
    expect(answer.text).not.toContain('root:')
  })

  test('very many users and sessions are listed and ended in a moment', TIMED, async () => {
    const admin = await open()
    for (let at = 0; at < 300; at++)
      await admin.store.console.addUser({
        name: `user-${at}`,
        role: 'viewer',
        source: 'oidc',
        subject: `s${at}`,
        enabled: true,
        createdAt: 1,
      })
    const start = performance.now()
    expect((await admin.get('/users')).json.data).toHaveLength(301)
    expect((await admin.delete('/users/user-299/sessions')).status).toBeLessThan(300)
    expect(performance.now() - start).toBeLessThan(500)
  })
})
