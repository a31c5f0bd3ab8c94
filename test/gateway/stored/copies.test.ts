import type OpenAI from 'openai'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { SOON, TIMED, until } from '../../builders/time.ts'
import { Speaker, StoringGateway, scratch } from './test-server.ts'

/* Copies of responses at upstreams, and their deletion and cancellation. */

let testServer: StoringGateway
afterEach(() => testServer.close())

async function open(dialect = {}): Promise<{ client: OpenAI; speaker: Speaker }> {
  const speaker = await Speaker.open('responses', 'near')
  testServer = await StoringGateway.open([speaker], {}, [speaker.channel({}, dialect)])
  return { client: testServer.client(), speaker }
}

const ask = (client: OpenAI, more: object = {}) =>
  client.responses.create({ model: 'm', input: 'Hi!', ...more }) as Promise<OpenAI.Responses.Response>

const settled = async (client: OpenAI, id: string): Promise<void> => {
  await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe('completed')
}

const warnings = () => testServer.testServer.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)

describe('what is deleted here', () => {
  test('is deleted upstream, with the channel’s own key', async () => {
    const { client, speaker } = await open()
    const { id } = await ask(client)
    await client.responses.delete(id)
    expect(speaker.asides).toEqual([`DELETE /v1/responses/${id}`])
    expect(speaker.upstream.seen.at(-1)!.headers).toMatchObject({ authorization: 'Bearer upstream-key-1234' })
    await expect(client.responses.delete(id)).rejects.toMatchObject({ status: 404 })
    expect(speaker.asides).toHaveLength(1)
    expect(warnings()).toEqual([])
  })

  test.each([true, false])('is deleted upstream under the name it has there (streamed: %s)', async stream => {
    const { client, speaker } = await open()
    const begun = await ask(client, { background: true, stream })
    let { id } = begun
    if (stream)
      for await (const event of begun as unknown as AsyncIterable<{ response?: { id: string } }>)
        id = event.response?.id ?? id
    await settled(client, id)
    await client.responses.delete(id)
    expect(id).not.toBe('resp_near_0')
    expect(speaker.asides).toEqual(['DELETE /v1/responses/resp_near_0'])
  })

  test.each([
    ['has none', { text: 'x' }, { store: true }, { stateless: true }],
    ['is not to be kept there', {}, { store: false }, {}],
  ])('of which an upstream %s is nobody’s business there', async (_, _scene, asked, dialect) => {
    const { client, speaker } = await open(dialect)
    const { id } = await ask(client, asked)
    await client.responses.delete(id).catch(() => {})
    expect(speaker.asides).toEqual([])
  })

  test('is deleted here whatever the upstream says, and the log tells', async () => {
    const { client, speaker } = await open()
    const answers = [500, 404, 'nothing'] as const
    const { script } = speaker.upstream
    for (const answer of answers) {
      speaker.upstream.script = script
      const { id } = await ask(client)
      speaker.upstream.script = response =>
        answer === 'nothing' ? response.destroy() : response.writeHead(answer).end('{}')
      expect(await client.responses.delete(id)).toMatchObject({ id, deleted: true })
      await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
    }
    expect(warnings()).toEqual(Array(2).fill('an upstream still stores a response that was deleted here'))
  })

  test('is deleted here in bounded time, however long the upstream takes', TIMED, async () => {
    const { client, speaker } = await open()
    const { id } = await ask(client)
    speaker.upstream.script = () => {}
    const began = performance.now()
    await client.responses.delete(id)
    expect(performance.now() - began).toBeLessThan(7000)
    expect(warnings()).toHaveLength(1)
  })

  test('while another process works on it is deleted upstream by that one', async () => {
    const data = scratch()
    const speaker = await Speaker.open('responses', 'near')
    speaker.gate = new Promise(() => {})
    testServer = await StoringGateway.open([speaker], { dataDir: data.path })
    const other = await StoringGateway.open([speaker], { dataDir: data.path })
    const stream = await testServer
      .client()
      .responses.create({ model: 'm', input: 'Hi!', background: true, stream: true })
    let id = ''
    for await (const event of stream) {
      if (event.type === 'response.created') ({ id } = event.response)
      if (event.type === 'response.output_text.delta') break
    }
    await other.client().responses.delete(id)
    await until(() => speaker.asides.length > 0)
    expect(new Set(speaker.asides)).toEqual(new Set(['DELETE /v1/responses/resp_near_0']))
    await other.close()
    data.drop()
  })
})

test('a turn lost in the middle is named, and no history without it is told, not even by an upstream that has it', async () => {
  const { client, speaker } = await open()
  const first = await ask(client)
  const second = await ask(client, { previous_response_id: first.id })
  const third = await ask(client, { previous_response_id: second.id })
  await client.responses.delete(second.id)
  const asked = speaker.bodies.length
  for (const id of [third.id, second.id])
    await expect(ask(client, { previous_response_id: id })).rejects.toMatchObject({
      ...{ status: 400, code: 'previous_response_not_found', param: 'previous_response_id' },
      message: expect.stringContaining(second.id),
    })
  expect(speaker.bodies).toHaveLength(asked)
  expect((await ask(client, { previous_response_id: first.id })).status).toBe('completed')
})

test('an upstream that works in the background by itself is told that nobody waits any more', TIMED, async () => {
  const { client, speaker } = await open()
  const { script } = speaker.upstream
  speaker.upstream.script = (response, seen) => {
    if (seen.text === '') {
      script(response, seen)
      return
    }
    const own = { id: 'resp_own', object: 'response', created_at: 1, model: 'm', background: true, output: [] }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const type of ['response.created', 'response.in_progress']) {
      const event = { type, response: { ...own, status: 'in_progress' }, sequence_number: 0 }
      response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
  }
  const stream = await client.responses.create({ model: 'm', input: 'Hi!', background: true, stream: true })
  let id = ''
  for await (const event of stream) {
    if (event.type === 'response.created') ({ id } = event.response)
    break
  }
  await until(() => speaker.bodies.length === 1)
  await vi.waitFor(async () => expect((await client.responses.retrieve(id)).status).toBe('in_progress'), SOON)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
  expect(speaker.asides).toEqual(['POST /v1/responses/resp_own/cancel'])
})
