import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ON_FILES } from '../../builders/engines.ts'
import { GET } from '../../builders/http.ts'
import { SOON } from '../../builders/time.ts'
import { DAY, HOUR } from '../../builders/units.ts'
import { BREAKAGES, type Mend } from './breakages.ts'
import { watchConnections } from './breakages-of-files.ts'
import { Speaker, StoringGateway, scratch } from './test-server.ts'

/* Stored responses and interactions while the clock jumps, and interactions on a full disk. */

beforeAll(watchConnections)

const closing: (() => unknown)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0).reverse()) await close()
})

async function open() {
  const place = scratch()
  const speaker = await Speaker.open('chat')
  const gateway = await StoringGateway.open([speaker], { dataDir: place.path })
  closing.push(place.drop, () => gateway.close())
  return { place, speaker, testServer: gateway.testServer }
}

/** Sets the clock of the gateway. 0 is the real time. */
const setClock = (difference: number): void => {
  vi.useRealTimers()
  if (difference !== 0) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + difference })
}

const FORMATS = [
  ['responses', '/v1/responses', 'previous_response_id'],
  ['interactions', '/v1beta/interactions', 'previous_interaction_id'],
] as const

describe.each(FORMATS)('a clock that jumps while %s are stored', (_, path, previous) => {
  const body = (more: object = {}) => ({ model: 'm', input: 'Hi!', ...more })

  test('forth hides what has expired, and back shows it again; nothing is lost for good', async () => {
    const { testServer } = await open()
    const { id } = (await testServer.ask(path, body())).json
    const status = async () => (await testServer.ask(`${path}/${id}`, undefined, GET)).status
    const next = async () => (await testServer.ask(path, body({ [previous]: id }))).status
    expect([await status(), await next()]).toEqual([200, 200])
    setClock(400 * DAY)
    // A clock ahead of the database server's deletes nothing there.
    expect(await status()).toBe(ON_FILES ? 404 : 200)
    expect((await next()) >= 400).toBe(ON_FILES)
    setClock(-400 * DAY)
    expect([await status(), await next()]).toEqual([200, 200])
    setClock(0)
    expect([await status(), await next()]).toEqual([200, 200])
  })

  test('back does not put a later turn before an earlier one', async () => {
    const { testServer, speaker } = await open()
    let id: string | undefined
    for (const [at, difference] of [10 * 60_000, -10 * 60_000, 0, -20 * 60_000].entries()) {
      setClock(difference)
      const answer = await testServer.ask(
        path,
        body({ input: `turn ${at}`, ...(id === undefined ? {} : { [previous]: id }) }),
      )
      expect(answer.status).toBe(200)
      id = answer.json.id
    }
    const said = speaker
      .heard()
      .turns.filter(({ role }: { role: string }) => role === 'user')
      .map(({ text }: { text: string }) => text)
    expect(said).toEqual(['turn 0', 'turn 1', 'turn 2', 'turn 3'])
  })

  test.each([HOUR / 2, -400 * DAY])(
    'by %d ms during background work ends it as completed, not as lost',
    async difference => {
      const { testServer, speaker } = await open()
      const gate = Promise.withResolvers<void>()
      speaker.gate = gate.promise
      const started = await testServer.ask(path, body({ background: true, store: true }))
      expect(started.status).toBe(200)
      const state = async () => (await testServer.ask(`${path}/${started.json.id}`, undefined, GET)).json.status
      setClock(difference)
      expect(['queued', 'in_progress']).toContain(await state())
      gate.resolve()
      await vi.waitFor(async () => expect(await state()).toBe('completed'), SOON)
    },
  )

  test('to the ends of time gives answers with times', async () => {
    const { testServer } = await open()
    for (const now of [0, 8.64e15 - 2 * HOUR, -1]) {
      vi.useFakeTimers({ toFake: ['Date'], now })
      const { status, json } = await testServer.ask(path, body({ store: false }))
      expect([status, json.status]).toEqual([200, 'completed'])
      const time = json.created_at ?? json.created
      if (time !== undefined) expect(Number.isFinite(typeof time === 'number' ? time : Date.parse(time))).toBe(true)
    }
  })
})

const DISKS = BREAKAGES.filter(([, { kind }]) => kind === 'full' || kind === 'read-only')

describe.runIf(ON_FILES).each(DISKS)('%s', (_, breakage) => {
  test('loses no stored interaction, stores no half one, and is over when it has room', async () => {
    const { testServer, place } = await open()
    const path = '/v1beta/interactions'
    const body = (more: object = {}) => ({ model: 'm', input: 'Hi!', ...more })
    const before = (await testServer.ask(path, body())).json
    let mend: Mend | undefined = await breakage.break(place.path)
    closing.push(() => mend?.())
    const first = await testServer.ask(path, body({ input: 'x'.repeat(50_000) }))
    expect(first.status).toBe(200)
    const unstored = await testServer.ask(path, body())
    expect([unstored.status, unstored.headers['interlingua-loss']]).toEqual([200, 'store not-kept'])
    const streamed = await testServer.ask(path, body({ stream: true }))
    expect(streamed.text).toContain('interaction.completed')
    expect((await testServer.ask(path, body({ background: true, store: true }))).status).toBe(503)
    expect((await testServer.ask(`${path}/${before.id}`, undefined, GET)).status).toBe(200)
    expect((await testServer.ask(`${path}/${before.id}`, undefined, { method: 'DELETE' })).status).toBe(503)
    for (const { id } of [unstored.json])
      if (id !== undefined) expect((await testServer.ask(`${path}/${id}`, undefined, GET)).status).toBe(404)
    await mend()
    mend = undefined
    await vi.waitFor(async () => {
      const { json, headers } = await testServer.ask(path, body({ previous_interaction_id: before.id }))
      expect(headers['interlingua-loss']).toBeUndefined()
      expect((await testServer.ask(`${path}/${json.id}`, undefined, GET)).status).toBe(200)
    }, SOON)
    expect((await testServer.ask(`${path}/${before.id}`, undefined, { method: 'DELETE' })).status).toBeLessThan(300)
    expect((await testServer.ask(`${path}/${before.id}`, undefined, GET)).status).toBe(404)
  })
})
