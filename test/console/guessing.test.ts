import { describe, expect, it } from 'vitest'
import { LOCK } from '../../src/operators/sign-in/sign-in.ts'
import { attemptFor } from '../../src/operators/sign-in/user-name.ts'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { configOf } from '../builders/config.ts'
import { addUser, PASSWORD, SignedIn, signInAs } from '../builders/console.ts'
import { inDatabase } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { TIMED } from '../builders/time.ts'

const closing = closingAfterEach()

/** Trusts `X-Forwarded-For`, so that every guess can come from its own address. */
const server = { ...configOf([]).server, trustedProxies: ['127.0.0.0/8'] }
let last = 0
const elsewhere = () => ({ 'x-forwarded-for': `198.51.${++last >> 8}.${last & 255}` })

async function open() {
  const admin = await AdminServer.open([], { server })
  closing.push(() => admin.close())
  await addUser(admin.store, 'ada')
  return admin
}

describe('guessing', () => {
  it(
    'costs the same for a user there is, one there is not, one who is disabled, and one of a provider',
    TIMED,
    async () => {
      const { testServer, store } = await open()
      await addUser(store, 'off')
      await addUser(store, 'boss')
      await store.console.changeUser('off', { enabled: false })
      await store.console.addUser({
        ...{ name: 'far', role: 'admin', source: 'oidc', subject: 's', enabled: true, createdAt: 0 },
      })
      const times: { [name: string]: number[] } = { ada: [], nobody: [], off: [], far: [] }
      const answers = new Set<string>()
      for (let round = 0; round < 4; round++)
        for (const name of Object.keys(times)) {
          const began = performance.now()
          const password = name === 'off' ? PASSWORD : 'wrong password'
          const { status, json, headers } = await signInAs(testServer, name, password, elsewhere())
          times[name]!.push(performance.now() - began)
          answers.add(JSON.stringify({ ...json, instance: '', status, names: Object.keys(headers).sort() }))
        }
      expect(answers.size).toBe(1)
      expect([...answers][0]).toContain('sign-in-refused')
      // The minimum excludes the delays of a busy machine.
      const least = Object.values(times).map(all => Math.min(...all))
      expect(Math.max(...least) / Math.min(...least), JSON.stringify(times)).toBeLessThan(1.5)
    },
  )

  const HERE = { 'x-forwarded-for': '203.0.113.77' }
  const guessFrom = (at: TestServer, from: { 'x-forwarded-for': string }) => signInAs(at, 'ada', 'guess', from)

  it('locks a name for the address of ten wrong passwords, at every instance, until the time is over', async () => {
    const { testServer, path } = await open()
    const other = await TestServer.open([], { keep: path, config: { server } })
    closing.push(() => other.server.close(0))
    const guesses = Array.from({ length: 10 }, (_, at) => guessFrom(at % 2 ? testServer : other, HERE))
    expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual(Array(10).fill(401))
    for (const one of [testServer, other]) {
      const locked = await signInAs(one, 'ada', PASSWORD, HERE)
      expect([locked.status, locked.json.type]).toEqual([429, 'urn:interlingua:problem:locked'])
      const seconds = Number(locked.headers['retry-after'])
      expect(seconds > 600 && seconds <= 900).toBe(true)
    }
    await inDatabase(path, 'update console_attempts set locked_until = locked_until - 900000, since = since - 900000')
    expect((await guessFrom(testServer, HERE)).status).toBe(401)
    expect((await signInAs(testServer, 'ada', PASSWORD, HERE)).status).toBe(200)
    const forgiven = await inDatabase(path, 'select attempts from console_attempts where right_at > 0')
    expect(forgiven).toEqual([{ attempts: 0 }])
  })

  it('trap 123: locks nobody out at another address, and ends no session', async () => {
    const { testServer } = await open()
    const session = await SignedIn.at(testServer, 'ada')
    for (let round = 0; round < 2; round++)
      await Promise.all(Array.from({ length: 10 }, () => guessFrom(testServer, HERE)))
    expect((await guessFrom(testServer, HERE)).status).toBe(429)
    expect((await signInAs(testServer, 'ada', PASSWORD, elsewhere())).status).toBe(200)
    expect((await session.ask('GET', '/status')).status).toBe(200)
  })

  it('counts a network of IPv6 as one address, and no address that an untrusted one states', async () => {
    const { testServer } = await open()
    const near = (at: number) => ({ 'x-forwarded-for': `2001:db8:1:2::${at.toString(16)}` })
    await Promise.all(Array.from({ length: 10 }, (_, at) => guessFrom(testServer, near(at + 1))))
    expect((await guessFrom(testServer, near(0x77))).status).toBe(429)
    expect((await guessFrom(testServer, { 'x-forwarded-for': '2001:db8:1:3::1' })).status).toBe(401)
    const lies = { 'x-forwarded-for': '198.51.100.200, 2001:db8:1:2::99' }
    expect((await guessFrom(testServer, lies)).status).toBe(429)
  })

  it('locks names that are no users likewise, so that a lock betrays nothing', async () => {
    const { testServer } = await open()
    const guess = async () => (await signInAs(testServer, 'nobody', 'guess', HERE)).status
    expect(await Promise.all(Array.from({ length: 10 }, guess))).toEqual(Array(10).fill(401))
    expect(await guess()).toBe(429)
  })

  it('at once, from one address, tries no more than ten passwords', async () => {
    const { testServer, path } = await open()
    const other = await TestServer.open([], { keep: path, config: { server } })
    closing.push(() => other.server.close(0))
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => signInAs(at % 2 ? testServer : other, 'ada', `guess ${at}`, HERE)),
    )
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect([count(401), count(429)]).toEqual([10, 6])
  })

  it('from fifty addresses leaves each one wrong password, save where the password was right before', async () => {
    const { testServer, store } = await open()
    const known = { 'x-forwarded-for': '203.0.113.80' }
    expect((await signInAs(testServer, 'ada', PASSWORD, known)).status).toBe(200)
    for (let at = 0; at < 50; at++) await store.console.attempt(attemptFor('ada', `198.51.100.${at}`), LOCK)
    expect((await guessFrom(testServer, HERE)).status).toBe(401)
    expect((await signInAs(testServer, 'ada', PASSWORD, HERE)).status).toBe(429)
    // The owner of one IPv6 network usually has many neighbouring ones.
    const site = (at: number) => ({ 'x-forwarded-for': `2001:db8:9:${at}::1` })
    expect((await guessFrom(testServer, site(1))).status).toBe(401)
    expect((await guessFrom(testServer, site(2))).status).toBe(429)
    expect((await signInAs(testServer, 'ada', PASSWORD, elsewhere())).status).toBe(200)
    for (let wrong = 0; wrong < 2; wrong++) expect((await guessFrom(testServer, known)).status).toBe(401)
    expect((await signInAs(testServer, 'ada', PASSWORD, known)).status).toBe(200)
  })

  it('from one address has few attempts in progress, and is answered ever later', TIMED, async () => {
    const { testServer } = await open()
    const here = { 'x-forwarded-for': '203.0.113.9' }
    const many = await Promise.all(
      Array.from({ length: 30 }, (_, at) => signInAs(testServer, `user-${at}`, 'guess', here)),
    )
    const count = (wanted: number) => many.filter(({ status }) => status === wanted).length
    expect([count(401), count(429)]).toEqual([10, 20])
    expect(Number(many.find(({ status }) => status === 429)!.headers['retry-after'])).toBe(2)
    const began = performance.now()
    const late = signInAs(testServer, 'ada', 'guess', here)
    expect((await signInAs(testServer, 'ada', PASSWORD, elsewhere())).status).toBe(200)
    const right = performance.now() - began
    expect((await late).status).toBe(401)
    expect(performance.now() - began).toBeGreaterThan(right + 1000)
  })

  it('of the password of a session that was stolen is counted, too', async () => {
    const { testServer } = await open()
    const stolen = await SignedIn.at(testServer, 'ada')
    const guess = () =>
      stolen.ask('PUT', '/session/password', { current: 'guess', password: 'a password of the thief' }, elsewhere())
    const statuses = (await Promise.all(Array.from({ length: 10 }, guess))).map(({ status }) => status)
    expect(statuses).toEqual(Array(10).fill(400))
    const right = { current: PASSWORD, password: 'a password of the thief' }
    expect((await stolen.ask('PUT', '/session/password', right, elsewhere())).status).toBe(429)
  })
})
