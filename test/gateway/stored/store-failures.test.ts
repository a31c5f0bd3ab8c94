import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { inDatabase, ON_FILES } from '../../builders/engines.ts'
import { dataOf, GET } from '../../builders/http.ts'
import { SOON } from '../../builders/time.ts'
import type { Loose } from '../../clients/scene.ts'
import { Client } from '../../sockets/client.ts'
import { BREAKAGES, GONE, type Mend, READ_ONLY } from './breakages.ts'
import { watchConnections } from './breakages-of-files.ts'
import { Speaker, StoringGateway, scratch } from './test-server.ts'

beforeAll(watchConnections)

let testServer: StoringGateway
let place: ReturnType<typeof scratch>
let mend: Mend | undefined
afterEach(async () => {
  await mend?.()
  mend = undefined
  await testServer.close()
  place.drop()
})

async function open(format = 'chat'): Promise<Speaker> {
  const speaker = await Speaker.open(format)
  place = scratch()
  testServer = await StoringGateway.open([speaker], { dataDir: place.path })
  return speaker
}

/** Maximum time until a failing store is retried, in milliseconds. */
const TRIED = 2500

const HI = { model: 'm', input: 'Hi!' }
const create = (body: object = {}, headers = {}) =>
  testServer.testServer.ask('/v1/responses', { ...HI, ...body }, { headers })
const get = (path: string) => testServer.testServer.ask(path, undefined, GET)
const storeLines = () => testServer.testServer.lines.filter(({ message }) => message.startsWith('the store'))

/** The response in the final event of a stream. */
const lastOf = (text: string): Loose =>
  dataOf(text)
    .flatMap((data): Loose[] => (data === '[DONE]' ? [] : (JSON.parse(data).response ?? [])))
    .at(-1)

/** Every endpoint for stored data, which must fail while the store is broken. */
const KEPT: readonly [method: string, path: string, body?: object][] = [
  ['GET', '/v1/responses/ID'],
  ['GET', '/v1/responses/ID?stream=true'],
  ['DELETE', '/v1/responses/ID'],
  ['POST', '/v1/responses/ID/cancel'],
  ['GET', '/v1/responses/ID/input_items'],
  ['POST', '/v1/conversations', {}],
  ['GET', '/v1/conversations/CONV'],
  ['POST', '/v1/conversations/CONV', { metadata: { a: 'b' } }],
  ['DELETE', '/v1/conversations/CONV'],
  ['GET', '/v1/conversations/CONV/items'],
  ['POST', '/v1/conversations/CONV/items', { items: [] }],
  ['GET', '/v1/conversations/CONV/items/item_1'],
  ['DELETE', '/v1/conversations/CONV/items/item_1'],
]

/** Requests that only read. */
const READS = new Set(['GET', 'POST /v1/responses/ID/cancel'])

describe.each(BREAKAGES)('%s', (_, breakage) => {
  test('is told, breaks no request, and is over when it is', async () => {
    await open()
    const before = (await create()).json
    const conversation = (await testServer.testServer.ask('/v1/conversations', {})).json
    expect((await get('/readyz')).json).toMatchObject({ status: 'ready' })
    mend = await breakage.break(place.path)

    // The first answer, complete or streamed, reports the fault.
    const first = await create({ stream: true, input: 'x'.repeat(50_000) })
    expect(first.status).toBe(200)
    expect(lastOf(first.text)).toMatchObject({ status: 'completed', store: false })

    const whole = await create()
    expect(whole).toMatchObject({ status: 200, json: { status: 'completed', store: false } })
    expect(whole.headers['interlingua-loss']).toBe('store not-kept')
    expect(whole.headers['interlingua-loss-count']).toBe('1')
    const streamed = await create({ stream: true })
    expect(streamed.headers['interlingua-loss']).toBe('store not-kept')
    expect(lastOf(streamed.text)).toMatchObject({ status: 'completed', store: false })
    const unasked = await create({ store: false })
    expect(unasked.headers['interlingua-loss']).toBeUndefined()

    const down = { status: 503, json: { error: { code: 'store_unavailable', type: 'service_unavailable_error' } } }
    expect(await create({ background: true })).toMatchObject(down)
    expect(await create({}, { 'interlingua-on-loss': 'refuse' })).toMatchObject(down)
    const pointing = await create({ previous_response_id: before.id })
    if (breakage.reads) expect(pointing.json).toMatchObject({ status: 'completed', store: false })
    else expect(pointing).toMatchObject(down)
    for (const [method, path, body] of KEPT) {
      const answer = await testServer.testServer.ask(
        path.replace('ID', before.id).replace('CONV', conversation.id),
        body,
        {
          method,
        },
      )
      const reads = READS.has(method) || READS.has(`${method} ${path}`)
      if (breakage.reads && reads) expect(answer.status, `${method} ${path}`).toBeLessThan(500)
      else expect(answer, `${method} ${path}`).toMatchObject(down)
      if (answer.status === 503) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    }
    // The store is retried meanwhile, without success.
    if (breakage.kind === 'damaged') await sleep(TRIED)
    const ready = await get('/readyz')
    expect(ready).toMatchObject({ status: 200, json: { status: 'degraded', faults: { store: breakage.kind } } })
    expect(storeLines().map(({ fields }) => fields['store'])).toEqual([breakage.kind])

    await mend()
    mend = undefined
    await vi.waitFor(async () => expect((await get('/readyz')).json.status).toBe('ready'), SOON)
    expect((await get(`/v1/responses/${before.id}`)).json).toEqual(before)
    const after = await create({ previous_response_id: before.id })
    expect(after).toMatchObject({ status: 200, json: { store: true } })
    expect(after.headers['interlingua-loss']).toBeUndefined()
    expect((await get(`/v1/responses/${after.json.id}`)).json).toEqual(after.json)
    expect(storeLines()).toHaveLength(2)
    expect(
      JSON.stringify(testServer.testServer.lines.filter(({ message }) => message === 'a fault of the gateway')),
    ).toBe('[]')
  })
})

test.runIf(ON_FILES)('a directory that is deleted is begun anew, and nothing after that is lost', async () => {
  await open()
  await create()
  rmSync(place.path, { recursive: true })
  const made = await create()
  expect(made).toMatchObject({ status: 200, json: { store: true } })
  expect((await get(`/v1/responses/${made.json.id}`)).json).toEqual(made.json)
  expect(testServer.testServer.lines.filter(({ message }) => message.includes('removed or replaced'))).toHaveLength(1)
})

test('an upstream of the format that keeps its answers does not speak for the gateway', async () => {
  await open('responses')
  await create()
  mend = await READ_ONLY.break(place.path)
  expect((await create()).json).toMatchObject({ status: 'completed', store: false })
  const streamed = await create({ stream: true })
  expect(streamed.headers['interlingua-loss']).toBe('store not-kept')
  expect(lastOf(streamed.text)).toMatchObject({ status: 'completed', store: false })
})

test('a first answer that cannot be kept says so in its head where it is whole', async () => {
  await open()
  await create()
  mend = await READ_ONLY.break(place.path)
  const whole = await create()
  expect(whole.headers['interlingua-loss']).toBe('store not-kept')
  expect(whole.json.store).toBe(false)
})

test('what ends in the background while the store is broken is kept when it works again', async () => {
  const speaker = await open()
  const { promise, resolve } = Promise.withResolvers<void>()
  speaker.gate = promise
  const { id } = (await create({ background: true })).json
  await vi.waitFor(() => expect(speaker.bodies).toHaveLength(1), SOON)
  mend = await READ_ONLY.break(place.path)
  resolve()
  const stream = await get(`/v1/responses/${id}?stream=true`)
  expect(lastOf(stream.text).status).toBe('completed')
  expect((await get(`/v1/responses/${id}`)).json.status).toBe('completed')
  await mend()
  mend = undefined
  await vi.waitFor(async () => expect((await get('/readyz')).json.status).toBe('ready'), SOON)
  await new Promise(settled => setTimeout(settled, 2500))
  await expect.poll(async () => (await get(`/v1/responses/${id}?stream=true`)).text).toBe(stream.text)
  await expect.poll(async () => (await get(`/v1/responses/${id}`)).json).toEqual(lastOf(stream.text))
})

test('a socket goes on from the turns it holds itself, without the store', async () => {
  await open()
  await create()
  mend = await GONE.break(place.path)
  const client = await Client.open(testServer.testServer.server.address)
  const first = (await client.turn(HI)).at(-1)
  const next = (await client.turn({ ...HI, previous_response_id: first.response.id })).at(-1)
  client.socket.terminate()
  expect(first).toMatchObject({ type: 'response.completed', response: { store: false } })
  expect(next).toMatchObject({ type: 'response.completed', response: { store: false } })
})

test('a row that is damaged costs whoever asks for it a 503, and nobody else anything', async () => {
  await open()
  const [bad, good] = [(await create()).json, (await create()).json]
  await inDatabase(place.path, `update turns set response = '{"half' where id = '${bad.id}'`)
  expect((await get(`/v1/responses/${bad.id}`)).status).toBe(503)
  expect((await get(`/v1/responses/${good.id}`)).json).toEqual(good)
  expect((await create()).json.store).toBe(true)
})
