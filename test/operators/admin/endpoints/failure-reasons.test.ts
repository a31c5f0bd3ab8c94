import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest'
import { AdminServer } from '../../../builders/admin.ts'
import { Certificates, hasOpenssl } from '../../../builders/certificate.ts'
import { ANSWER, ASK, events, failure, HEAD, json, STREAM, words } from '../../../builders/chat.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { type ChannelFields, channelAt } from '../../../builders/config.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { SOON } from '../../../builders/time.ts'
import { deadAddress, FakeUpstream, type Script } from '../../../builders/upstream.ts'

const closing = closingAfterEach()
const RETENTION = { usage: { retention: 86_400_000 } }

const ANSWERS: Script = response => json(response, ANSWER)
const REFUSES: Script = response => json(response, failure('Wrong key upstream-key-1234 at 10.0.0.7'), 401)

async function upstreamOf(script: Script): Promise<string> {
  const upstream = await FakeUpstream.open(script)
  closing.push(() => upstream.close())
  return upstream.address
}

async function open(rows: readonly (ChannelFields & { at: string })[]): Promise<AdminServer> {
  const admin = await AdminServer.open(
    rows.map(({ at, ...fields }) => channelAt(at, fields)),
    RETENTION,
  )
  closing.push(() => admin.close())
  return admin
}

/** Sends a request and returns its stored row. */
async function rowOf(admin: AdminServer, body: object = ASK) {
  const { headers } = await admin.testServer.ask(CHAT_PATH, body).catch(() => ({ headers: {} as never }))
  return vi.waitFor(async () => {
    const { data } = (await admin.get('/requests?limit=1')).json
    if (headers['x-request-id'] !== undefined) expect(data[0]?.id).toBe(headers['x-request-id'])
    const found = await admin.get(`/requests/${data[0].id}`)
    expect(found.status).toBe(200)
    return found.json
  }, SOON)
}

interface Case {
  readonly name: string
  readonly script?: Script
  readonly fields?: ChannelFields
  readonly body?: object
  readonly failure: object
}

const TIMEOUTS = { connect: 5000, firstByte: 60, idle: 60 }

const CASES: readonly Case[] = [
  { name: 'a refused connection', failure: { reason: 'refused', message: /ECONNREFUSED/ } },
  {
    ...{ name: 'an answer that does not begin', script: () => {}, fields: { timeout: TIMEOUTS } },
    failure: { reason: 'first-byte-timeout' },
  },
  {
    ...{ name: 'a silent stream', fields: { timeout: { ...TIMEOUTS, firstByte: 5000 } }, body: STREAM },
    script: response => events(response).write(HEAD + words('Hel')),
    failure: { reason: 'idle-timeout' },
  },
  {
    ...{ name: 'a status', script: REFUSES },
    failure: { reason: 'status', status: 401, message: /^Wrong key \[key\] at \[address\]$/ },
  },
  {
    ...{ name: 'a web page', script: response => response.setHeader('content-type', 'text/html').end('<html>Hi') },
    failure: { reason: 'content' },
  },
  {
    ...{ name: 'an error in an answer with status 200', script: response => json(response, failure('Out of luck.')) },
    failure: { reason: 'reported', message: /Out of luck/ },
  },
  {
    ...{ name: 'a cut stream', body: STREAM },
    script: response => events(response).write(HEAD + words('Hel'), () => response.destroy()),
    failure: { reason: 'cut' },
  },
  {
    ...{ name: 'a closed connection', script: response => response.destroy() },
    failure: { reason: 'reset' },
  },
]

describe('in one gateway', () => {
  let admin: AdminServer
  const upstreams: FakeUpstream[] = []
  const ids: string[] = []

  beforeAll(async () => {
    const channels = CASES.map(async ({ script, fields }, index) => {
      if (script === undefined) return channelAt(await deadAddress(), { ...fields, ...named(index) })
      const upstream = await FakeUpstream.open(script)
      upstreams.push(upstream)
      return channelAt(upstream.address, { ...fields, ...named(index) })
    })
    admin = await AdminServer.open(await Promise.all(channels), RETENTION)
    for (const [index, { body = ASK }] of CASES.entries()) {
      const { headers } = await admin.testServer.ask(CHAT_PATH, { ...body, model: `m${index}` })
      ids.push(headers['x-request-id']!)
    }
    await vi.waitFor(async () => expect((await admin.get('/failures')).json.data).toHaveLength(CASES.length), SOON)
  }, 60_000)
  afterAll(async () => {
    await admin.close()
    for (const upstream of upstreams) await upstream.close()
  })

  const named = (index: number) => ({
    name: `bad${index}`,
    models: { named: new Map([[`m${index}`, 'm']]), patterns: [] },
  })

  test.each(CASES)('$name is the reason of the request and of the channel', async one => {
    const index = CASES.indexOf(one)
    const [id, channel] = [ids[index], `bad${index}`]
    const expected = Object.fromEntries(
      Object.entries(one.failure).map(([name, value]) => [
        name,
        value instanceof RegExp ? expect.stringMatching(value) : value,
      ]),
    )
    expect((await admin.get(`/requests/${id}`)).json.failure).toMatchObject(expected)
    const state = (await admin.get(`/channels/${channel}`)).json
    expect(state).toMatchObject({ state: 'failing', failing_since: expect.any(String) })
    expect(state.last_errors).toMatchObject([{ ...expected, count: 1, request: id }])
    const { data, complete } = (await admin.get(`/failures?channel=${channel}`)).json
    expect(complete).toBe(true)
    expect(data).toMatchObject([{ ...expected, channel, model: `m${index}`, count: 1, request: id }])
  })
})

test.skipIf(!hasOpenssl)('a wrong certificate is told by its fault', async () => {
  const certificates = new Certificates()
  closing.push(async () => certificates.close())
  const { pem: cert, key } = certificates.make('own')
  const server = createServer({ cert, key: readFileSync(key) }, (_, response) => response.end())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise<void>(resolve => server.close(() => resolve())))
  const admin = await open([{ at: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, name: 'bad' }])
  const { failure } = await rowOf(admin)
  expect(failure).toEqual({
    reason: 'tls',
    message: 'The upstream could not be reached: its certificate is signed by itself.',
  })
})

it('a request that another channel answers names the failure of its first attempt only', async () => {
  const admin = await open([
    { at: await upstreamOf(REFUSES), name: 'bad', priority: 0 },
    { at: await upstreamOf(ANSWERS), name: 'good', priority: 1 },
  ])
  const row = await rowOf(admin)
  expect(row).toMatchObject({ status: 200, tries: [{ channel: 'bad', failure: { reason: 'status', status: 401 } }] })
  expect(row.failure).toBeUndefined()
  expect((await admin.get('/failures')).json.data).toEqual([])
  expect((await admin.get('/channels/good')).json).toMatchObject({ state: 'ok', last_errors: [] })
})

it('a request that the gateway refuses names the gateway', async () => {
  const admin = await open([{ at: await upstreamOf(ANSWERS), name: 'good' }])
  expect((await rowOf(admin, { ...ASK, model: 'none-such' })).failure).toMatchObject({ reason: 'gateway' })
})

it('equal failures are one group, with their number and times', async () => {
  let count = 0
  const admin = await open([
    { at: await upstreamOf(response => json(response, failure(`Busy, request req_${++count}a`), 503)), name: 'bad' },
  ])
  for (let index = 0; index < 3; index++) await rowOf(admin)
  const { data } = (await admin.get('/failures?channel=bad')).json
  expect(data).toMatchObject([{ reason: 'status', status: 503, error: 'overloaded', channel: 'bad', count: 3 }])
  expect(data[0].message).toContain('req_3a')
  expect(Date.parse(data[0].first_at)).toBeLessThan(Date.parse(data[0].at))
  expect((await admin.get('/failures?channel=none')).json.data).toEqual([])
})

it('a channel is no longer failing once a request succeeds, and metrics tell', async () => {
  let script: Script = REFUSES
  const admin = await open([{ at: await upstreamOf((...args) => script(...args)), name: 'one' }])
  const headers = { authorization: `Bearer ${admin.token}` }
  const failing = async () =>
    /^interlingua_channel_failing\{channel="one"\} (\d)$/m.exec(
      (await admin.testServer.ask('/metrics', undefined, { method: 'GET', headers })).text,
    )?.[1]
  expect(await failing()).toBeUndefined()
  await rowOf(admin)
  expect((await admin.get('/models')).json.data[0].channels).toMatchObject([{ name: 'one', state: 'failing' }])
  expect(await failing()).toBe('1')
  script = ANSWERS
  await rowOf(admin)
  expect((await admin.get('/channels/one')).json.state).toBe('ok')
  expect(await failing()).toBe('0')
})
