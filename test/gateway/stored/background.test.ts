import { request } from 'node:http'
import { text as textIn } from 'node:stream/consumers'
import type OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { KEY, OTHER_KEY } from '../../builders/config.ts'
import { inDatabase } from '../../builders/engines.ts'
import { dataOf, textOf } from '../../builders/http.ts'
import { until } from '../../builders/time.ts'
import { FORMATS } from '../../clients/stage.ts'
import { Speaker, StoringGateway, scratch } from './test-server.ts'

let testServer: StoringGateway
afterEach(async () => {
  expect(testServer.faults).toEqual([])
  await testServer.close()
})

type Response = OpenAI.Responses.Response

async function settled(client: OpenAI, id: string): Promise<Response> {
  for (;;) {
    const response = await client.responses.retrieve(id)
    if (response.status !== 'queued' && response.status !== 'in_progress') return response
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

/** Returns the answer to a GET request with a body, as openai-go sends it. */
function toldByBody(url: string, body: object): Promise<string> {
  const sent = JSON.stringify(body)
  const headers = { authorization: `Bearer ${KEY}`, 'content-length': sent.length, accept: 'application/json' }
  return new Promise((resolve, reject) => {
    const asking = request(url, { headers }, answer => resolve(textIn(answer)))
    asking.on('error', reject).end(sent)
  })
}

describe.each(FORMATS)('before an upstream of %s', format => {
  let speaker: Speaker
  let release: () => void
  const open = async (): Promise<OpenAI> => {
    speaker = await Speaker.open(format)
    const { promise, resolve } = Promise.withResolvers<void>()
    speaker.gate = promise
    release = resolve
    testServer = await StoringGateway.open([speaker])
    return testServer.client()
  }

  test('options of background work do not reach an upstream that is asked without it', async () => {
    const client = await open()
    release()
    const options = { background_options: { completion_window: '2h' } }
    const begun = await client.responses.create({ model: 'm', input: 'Hi!', background: true, ...options })
    await settled(client, begun.id)
    expect(speaker.bodies).toHaveLength(1)
    expect(JSON.stringify(speaker.bodies)).not.toContain('completion_window')
  })

  test('an answer is made without its caller, and can be continued', async () => {
    const client = await open()
    speaker.scenes = [{ text: 'Done.' }, { text: 'Bye.' }]
    const begun = await client.responses.create({ model: 'm', input: 'Hi!', background: true })
    expect(begun).toMatchObject({ status: 'queued', background: true, output: [] })
    expect(await client.responses.retrieve(begun.id)).toMatchObject({ id: begun.id, background: true })
    release()
    const done = await settled(client, begun.id)
    expect(done).toMatchObject({ id: begun.id, status: 'completed', background: true, output_text: 'Done.' })
    expect(speaker.bodies[0].background).toBeUndefined()
    await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: begun.id })
    expect(speaker.heard().turns.map(({ text }) => text)).toEqual(['Hi!', 'Done.', 'Go on.'])
  })

  test('a stream outlives its caller and can be taken up again', async () => {
    const client = await open()
    speaker.scenes = [{ text: 'A long text.' }]
    const stream = await client.responses.create({ model: 'm', input: 'Hi!', background: true, stream: true })
    const heard: { readonly type: string; readonly sequence_number: number }[] = []
    let id = ''
    for await (const event of stream) {
      heard.push(event)
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') break
    }
    const last = heard.at(-1)!.sequence_number
    setTimeout(release, 30)
    const rest = []
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last }))
      rest.push(event)
    const all = [...heard, ...rest]
    expect(all.map(event => event.sequence_number)).toEqual(all.map((_, index) => index))
    expect(all.slice(0, 3).map(({ type }) => type)).toEqual([
      ...['response.created', 'response.queued', 'response.in_progress'],
    ])
    expect(rest.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } })
    const again = []
    for await (const event of await client.responses.retrieve(id, { stream: true })) again.push(event)
    expect(again).toEqual(all)
    const told = await toldByBody(`${client.baseURL}/responses/${id}?starting_after=${last}`, { stream: true })
    expect(
      dataOf(told)
        .slice(0, -1)
        .map(data => JSON.parse(data)),
    ).toEqual(rest)
    const whole = await toldByBody(`${client.baseURL}/responses/${id}?starting_after=${last}`, [true])
    expect(JSON.parse(whole)).toMatchObject({ id, status: 'completed' })
  })

  test('it can be cancelled, once and for all', async () => {
    const client = await open()
    const begun = await client.responses.create({ model: 'm', input: 'Hi!', background: true })
    await until(() => speaker.upstream.seen.length === 1)
    expect(await client.responses.cancel(begun.id)).toMatchObject({ id: begun.id, status: 'cancelled' })
    await until(() => speaker.upstream.seen[0]!.brokenAt !== undefined)
    expect(await client.responses.retrieve(begun.id)).toMatchObject({ status: 'cancelled' })
    expect(await client.responses.cancel(begun.id)).toMatchObject({ status: 'cancelled' })
    release()
  })

  test('what fails upstream has failed', async () => {
    const client = await open()
    release()
    speaker.upstream.script = response => response.writeHead(400, { 'content-type': 'application/json' }).end('{}')
    const begun = await client.responses.create({ model: 'm', input: 'Hi!', background: true })
    const failed = await settled(client, begun.id)
    expect(failed.status).toBe('failed')
    expect(failed.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
  })
})

describe('limits', () => {
  test('a key has so many at once, and no other key is concerned', async () => {
    const speaker = await Speaker.open('chat')
    const { promise, resolve } = Promise.withResolvers<void>()
    speaker.gate = promise
    testServer = await StoringGateway.open([speaker])
    const begin = (client: OpenAI) => client.responses.create({ model: 'm', input: 'Hi!', background: true })
    const client = testServer.client()
    const begun = [await begin(client), await begin(client)]
    await expect(begin(client)).rejects.toMatchObject({ status: 429, code: 'background_limit_reached' })
    const other = await begin(testServer.client(OTHER_KEY))
    await expect(client.responses.cancel(other.id)).rejects.toMatchObject({ status: 404 })
    resolve()
    for (const { id } of begun) expect((await settled(client, id)).status).toBe('completed')
    expect((await begin(client)).status).toBe('queued')
  })

  test('it must be stored, and only what is in the background can be cancelled', async () => {
    testServer = await StoringGateway.open([await Speaker.open('chat')])
    const client = testServer.client()
    const asked = { model: 'm', input: 'Hi!', background: true, store: false }
    await expect(client.responses.create(asked)).rejects.toMatchObject({ status: 400, param: 'background' })
    const made = await client.responses.create({ model: 'm', input: 'Hi!' })
    await expect(client.responses.cancel(made.id)).rejects.toMatchObject({ status: 400 })
  })

  test('a gateway that stops leaves nothing unfinished', async () => {
    const data = scratch()
    const speaker = await Speaker.open('chat')
    speaker.gate = new Promise(() => {})
    testServer = await StoringGateway.open([speaker], { dataDir: data.path })
    const { id } = await testServer.client().responses.create({ model: 'm', input: 'Hi!', background: true })
    await testServer.close()
    testServer = await StoringGateway.open([await Speaker.open('chat')], { dataDir: data.path })
    expect(await testServer.client().responses.retrieve(id)).toMatchObject({ id, status: 'failed' })
    data.drop()
  })
})

test('what nobody works on any more has failed, and stays so', async () => {
  const data = scratch()
  testServer = await StoringGateway.open([await Speaker.open('chat')], { dataDir: data.path })
  const client = testServer.client()
  const made = await client.responses.create({ model: 'm', input: 'Hi!' })
  const begun = `lease = ${Date.now() - 1}, response = replace(response, '"status":"completed"', '"status":"in_progress"')`
  await inDatabase(data.path, `update turns set ${begun}`)
  expect(await client.responses.retrieve(made.id)).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  expect(await inDatabase(data.path, 'select lease from turns')).toEqual([{ lease: null }])
  data.drop()
})

test('a response that was told whole can be told as a stream', async () => {
  const speaker = await Speaker.open('messages')
  testServer = await StoringGateway.open([speaker])
  speaker.scenes = [{ thought: 'Hm.', text: 'Hello.' }]
  const client = testServer.client()
  const made = await client.responses.create({ model: 'm', input: 'Hi!' })
  const sent = testServer.testServer.send(`/v1/responses/${made.id}?stream=true`, undefined, { method: 'GET' })
  const events = dataOf(await textOf(await sent.answer)).filter(data => data !== '[DONE]')
  const last = JSON.parse(events.at(-1)!)
  expect(last.type).toBe('response.completed')
  expect(last.response.output).toEqual(made.output)
})
