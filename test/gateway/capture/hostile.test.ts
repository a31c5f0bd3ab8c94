import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { BoundedCopy, shownBody } from '../../../src/gateway/capture/bounded-copy.ts'
import { Recording } from '../../../src/gateway/capture/recording.ts'
import type { CaptureDocument } from '../../../src/gateway/capture/shapes.ts'
import { AdminServer } from '../../builders/admin.ts'
import { ANSWER, ASK, chunk, events, HEAD, helloWhole, json, STREAM, TAIL, words } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt, KEY, keyOf } from '../../builders/config.ts'
import { ON_FILES } from '../../builders/engines.ts'
import { CHAT_PATH } from '../../builders/paths.ts'
import { cpuTimeOf, pause, SOON, TIMED, until } from '../../builders/time.ts'
import { DAY, HOUR } from '../../builders/units.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'

/* Captures whose keys, requests, clocks and store change while they run, and whose bodies cost time. */

const closing = closingAfterEach()
afterEach(() => vi.useRealTimers())

async function upstreamOf(script: Script): Promise<FakeUpstream> {
  const upstream = await FakeUpstream.open(script)
  closing.push(() => upstream.close())
  return upstream
}

async function serverOf(channels: readonly ChannelConfig[], captureUntil = Date.now() + HOUR) {
  const admin = await AdminServer.open(channels, {
    keys: [{ ...keyOf(KEY, 'dev'), captureUntil }],
    usage: { retention: HOUR },
  })
  closing.push(() => admin.close())
  return admin
}

const captureOf = (admin: AdminServer, id: string): Promise<CaptureDocument> =>
  vi.waitFor(
    async () => {
      const { status, json } = await admin.get(`/requests/${id}/capture`)
      expect(status).toBe(200)
      return json
    },
    { ...SOON, interval: 20 },
  )

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })

describe('while a captured request runs', () => {
  /** A gateway with a stored key whose requests are captured, and an upstream that waits. */
  async function open() {
    const answers: (() => void)[] = []
    const upstream = await upstreamOf(response => void answers.push(() => json(response, ANSWER)))
    const admin = await serverOf([channelAt(upstream.address)], 0)
    const { json: key } = await admin.post('/keys', { name: 'watched', capture: '1h' })
    return { admin, upstream, answers, key: key as { id: string; secret: string } }
  }

  test('its key is revoked: it ends, its capture shows no secret, and it is never sent again', async () => {
    const upstream = await upstreamOf(response => void events(response).write(`${HEAD}${words('Hel')}`))
    const admin = await serverOf([channelAt(upstream.address)], 0)
    const { json: key } = await admin.post('/keys', { name: 'watched', capture: '1h' })
    const { answer } = admin.testServer.send(CHAT_PATH, STREAM, bearer(key.secret))
    const message = await answer
    const id = message.headers['x-request-id'] as string
    message.on('error', () => {}).resume()
    await admin.delete(`/keys/${key.id}`)
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
    const captured = await captureOf(admin, id)
    expect(JSON.stringify(captured)).not.toContain(key.secret)
    expect(captured.key_name).toBe('watched')
    expect((await admin.post(`/requests/${id}/replay`)).status).toBe(409)
    expect(upstream.seen).toHaveLength(1)
  })

  test('its captures end: it is captured as it began, and the next request is not', async () => {
    const { admin, upstream, answers, key } = await open()
    const first = admin.testServer.ask(CHAT_PATH, ASK, bearer(key.secret))
    await until(() => upstream.seen.length === 1)
    expect((await admin.patch(`/keys/${key.id}`, { capture: null })).json.capture_until).toBeUndefined()
    const second = admin.testServer.ask(CHAT_PATH, ASK, bearer(key.secret))
    await until(() => upstream.seen.length === 2)
    for (const answer of answers) answer()
    const [{ headers: one }, { headers: other }] = await Promise.all([first, second])
    await captureOf(admin, one['x-request-id']!)
    await pause(50)
    expect((await admin.get(`/requests/${other['x-request-id']}/capture`)).status).toBe(404)
  })

  test('captures begin: it is not captured, though the next request is', async () => {
    const { admin, upstream, answers } = await open()
    const { json: key } = await admin.post('/keys', { name: 'later' })
    const first = admin.testServer.ask(CHAT_PATH, ASK, bearer(key.secret))
    await until(() => upstream.seen.length === 1)
    await admin.patch(`/keys/${key.id}`, { capture: '1h' })
    const second = admin.testServer.ask(CHAT_PATH, ASK, bearer(key.secret))
    await until(() => upstream.seen.length === 2)
    for (const answer of answers) answer()
    const [{ headers: one }, { headers: other }] = await Promise.all([first, second])
    await captureOf(admin, other['x-request-id']!)
    expect((await admin.get(`/requests/${one['x-request-id']}/capture`)).status).toBe(404)
  })

  test('its capture is deleted, read and sent again: each says that there is none, and then there is one', async () => {
    const gate = Promise.withResolvers<void>()
    const upstream = await upstreamOf(async response => {
      events(response).write(`${HEAD}${words('Hello.')}`)
      await gate.promise
      response.end(TAIL)
    })
    const admin = await serverOf([channelAt(upstream.address)])
    const message = await admin.testServer.send(CHAT_PATH, STREAM).answer
    const id = message.headers['x-request-id'] as string
    message.resume()
    const answers = await Promise.all([
      admin.get(`/requests/${id}/capture`),
      admin.post(`/requests/${id}/replay`),
      admin.delete(`/requests/${id}/capture`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    gate.resolve()
    expect((await captureOf(admin, id)).returned).toMatchObject({ whole: true })
    const drops = await Promise.all([1, 2, 3].map(() => admin.delete(`/requests/${id}/capture`)))
    expect(drops.map(({ status }) => status).sort()).toEqual([204, 404, 404])
  })

  test('requests that end in another order than they began have each their own bodies', async () => {
    const waiting: { text: string; end: () => void }[] = []
    const upstream = await upstreamOf(
      (response, { text }) =>
        void waiting.push({ text, end: () => json(response, { ...ANSWER, id: JSON.parse(text).user }) }),
    )
    const admin = await serverOf([channelAt(upstream.address)])
    const asked = Array.from({ length: 12 }, (_, at) => admin.testServer.ask(CHAT_PATH, { ...ASK, user: `user-${at}` }))
    await until(() => waiting.length === 12)
    for (const { end } of waiting.reverse()) {
      end()
      await pause(2)
    }
    for (const [at, answer] of (await Promise.all(asked)).entries()) {
      const captured = await captureOf(admin, answer.headers['x-request-id']!)
      expect(captured.caller.body).toMatchObject({ user: `user-${at}` })
      expect(captured.attempts[0]!.answer!.body).toMatchObject({ id: `user-${at}` })
    }
  })

  test('the upstream answers before it has read the request, and more after its end', async () => {
    const upstream = await upstreamOf(response => {
      events(response).write(`${HEAD}${words('Hello.')}${TAIL}`)
      response.end(`${words(' And more.')}${TAIL}data: {"choices":[{"delta":{"content":"late"}}]}\n\n`)
    })
    const admin = await serverOf([channelAt(upstream.address)])
    const answer = await admin.testServer.ask(CHAT_PATH, STREAM)
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    expect(JSON.stringify(captured.returned)).toContain('Hello.')
    expect(answer.text).not.toContain('late')
  })
})

describe('a request that says a thing twice', () => {
  test('is captured under an id of its own, whatever id it names', async () => {
    const upstream = await upstreamOf(helloWhole)
    const admin = await serverOf([channelAt(upstream.address)])
    const headers = { 'x-request-id': 'req_mine', 'x-correlation-id': 'req_mine' }
    const answers = await Promise.all([1, 2, 3].map(() => admin.testServer.ask(CHAT_PATH, ASK, { headers })))
    const ids = answers.map(answer => answer.headers['x-request-id']!)
    expect(new Set([...ids, 'req_mine']).size).toBe(4)
    for (const id of ids) expect((await captureOf(admin, id)).id).toBe(id)
  })

  test('shows none of its credentials, in fields, headers and parameters of one name', async () => {
    const upstream = await upstreamOf(helloWhole)
    const admin = await serverOf([channelAt(upstream.address)])
    const path = `${CHAT_PATH}?key=planted-1&key=planted-2&Key=planted-3&api_key=planted-4&access_token=planted-5`
    const body = `{"model":"x","model":"m","api_key":"planted-6","api_key":"planted-7","messages":[{"role":"user","content":"Hi","content":"Hi"}]}`
    const headers = {
      'x-api-key': KEY,
      cookie: 'a=planted-8; b=planted-9',
      'proxy-authorization': 'Basic planted-10',
      'x-goog-api-key': KEY,
    }
    const answer = await admin.testServer.ask(path, body, { headers })
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    expect(captured.caller.body).toMatchObject({ model: 'm' })
    const text = JSON.stringify(captured)
    expect(text).not.toContain(KEY)
    for (const planted of [1, 2, 3, 4, 5, 8, 9, 10])
      expect(text, `planted-${planted}`).not.toContain(`planted-${planted}"`)
  })
})

describe('bodies that cost time', () => {
  const PIECES = 20_000

  test.each<[string, string, string]>([
    ['lines without end', 'application/x-ndjson', 'x'.repeat(50)],
    ['events without end', 'text/event-stream', `data: ${'x'.repeat(40)}`],
    ['fields without end', 'text/event-stream', 'data\n'],
    ['comments', 'text/event-stream', ':\n\n:\r'],
    ['carriage returns', 'text/event-stream', '\r'],
    ['text', 'text/plain', 'password: x '],
    ['JSON', 'application/json', '[[],[],{"a":"b"},'],
  ])('as %s, in many small pieces, are shown in a moment', TIMED, (_, type, piece) => {
    const recording = new Recording(performance.now(), { bytesLeft: 1e9 })
    for (let at = 0; at < PIECES; at++) recording.take(Buffer.from(piece))
    recording.isComplete = true
    expect(cpuTimeOf(() => shownBody(recording, type, '/x', new BoundedCopy(text => text)))).toBeLessThan(1000)
  })

  test('with very many names, levels and long pointers are copied in a moment, and are bounded', TIMED, () => {
    const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`name-${at}`, { a: [at] }]))
    let deep: unknown = 'x'
    for (let level = 0; level < 5000; level++) deep = { ['name'.repeat(100)]: deep, more: [deep === 'x'] }
    const bounded = new BoundedCopy(text => text)
    let size = 0
    expect(
      cpuTimeOf(
        () =>
          (size = JSON.stringify([
            bounded.copy(wide, '/w'),
            bounded.copy(deep, '/d'),
            bounded.copy(Array(5e6).fill([[]]), '/l'),
          ]).length),
      ),
    ).toBeLessThan(4000)
    expect(size).toBeLessThan(16 * 1024 * 1024)
    expect(JSON.stringify(bounded.cutPointers).length).toBeLessThan(1024 * 1024)
  })

  test('of a stream with very many events delay nobody', TIMED, async () => {
    const upstream = await upstreamOf((response, { text }) =>
      JSON.parse(text).stream === true
        ? events(response).end(HEAD + chunk({ content: 'x' }).repeat(15_000) + TAIL)
        : json(response, ANSWER),
    )
    const admin = await serverOf([channelAt(upstream.address)])
    const answer = await admin.testServer.ask(CHAT_PATH, STREAM)
    const slowest: number[] = []
    for (let at = 0; at < 20; at++) {
      const start = performance.now()
      await admin.testServer.ask(CHAT_PATH, ASK)
      slowest.push(performance.now() - start)
    }
    expect(Math.max(...slowest)).toBeLessThan(1500)
    await captureOf(admin, answer.headers['x-request-id']!)
  })
})

describe('clocks', () => {
  test('that are set back or forth neither prolong captures of a key nor lose their times', async () => {
    const upstream = await upstreamOf(helloWhole)
    const now = Date.now()
    const admin = await serverOf([channelAt(upstream.address)], now + HOUR)
    const ask = async () => (await admin.testServer.ask(CHAT_PATH, ASK)).headers['x-request-id']!
    const ids = [await ask()]
    // A capture is written after its answer, and expires by the clock of that moment.
    const { at } = await captureOf(admin, ids[0]!)
    expect(Math.abs(Date.parse(String(at)) - now)).toBeLessThan(60_000)
    for (const time of [now + HOUR + 1, now - 10 * DAY, now + 400 * DAY]) {
      vi.useFakeTimers({ toFake: ['Date'], now: time })
      ids.push(await ask())
    }
    vi.useRealTimers()
    await pause(100)
    expect((await admin.get(`/requests/${ids[1]}/capture`)).status).toBe(404)
    expect((await admin.get(`/requests/${ids[3]}/capture`)).status).toBe(404)
  })

  test('that jump while a request runs give no negative time and no stored capture for ever', async () => {
    const upstream = await upstreamOf(async response => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 400 * DAY })
      json(response, ANSWER)
    })
    const admin = await serverOf([channelAt(upstream.address)])
    const id = (await admin.testServer.ask(CHAT_PATH, ASK)).headers['x-request-id']!
    const captured = await captureOf(admin, id)
    vi.useRealTimers()
    for (const { sent_after: sent, ended_after: ended } of captured.attempts as readonly {
      sent_after?: number
      ended_after?: number
    }[])
      for (const ms of [sent, ended]) if (ms !== undefined) expect(ms).toBeGreaterThanOrEqual(0)
  })
})

test('a request with thousands of secrets holds nobody up: it is answered and not captured', TIMED, async () => {
  const upstream = await upstreamOf(helloWhole)
  const admin = await serverOf([channelAt(upstream.address)])
  const headers = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`x-${i}`, `secret-${i}-of-a-server`]))
  const before = process.cpuUsage()
  const first = await admin.testServer.ask(CHAT_PATH, { ...ASK, mcp_servers: [{ headers }] })
  expect(first.status).toBe(200)
  const second = await admin.testServer.ask(CHAT_PATH, ASK)
  await captureOf(admin, second.headers['x-request-id']!)
  const { user, system } = process.cpuUsage(before)
  expect(user + system).toBeLessThan(4e6)
  expect((await admin.get(`/requests/${first.headers['x-request-id']}/capture`)).status).toBe(404)
})

describe.runIf(ON_FILES)('a store that fails', () => {
  test('costs captures and no answers, and captures go on when it works again', TIMED, async () => {
    const upstream = await upstreamOf(helloWhole)
    const admin = await serverOf([channelAt(upstream.address)])
    const first = await admin.testServer.ask(CHAT_PATH, ASK)
    await captureOf(admin, first.headers['x-request-id']!)
    const database = new DatabaseSync(join(admin.path, 'interlingua.sqlite'), { timeout: 5000 })
    closing.push(() => database.close())
    const { sql } = database.prepare(`select sql from sqlite_master where name = 'captures'`).get() as { sql: string }
    database.exec('alter table captures rename to away')
    // More than may be open at once: none may stay open.
    const answers = await Promise.all(Array.from({ length: 100 }, () => admin.testServer.ask(CHAT_PATH, ASK)))
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200))
    database.exec('drop table away')
    database.exec(sql)
    await vi.waitFor(
      async () => {
        const { headers } = await admin.testServer.ask(CHAT_PATH, ASK)
        await pause(50)
        expect((await admin.get(`/requests/${headers['x-request-id']}/capture`)).status).toBe(200)
      },
      { ...SOON, interval: 300 },
    )
  })
})
