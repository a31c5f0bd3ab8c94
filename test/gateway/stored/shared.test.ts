import type OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dataOf } from '../../builders/http.ts'
import { TIMED, until } from '../../builders/time.ts'
import { FORMATS } from '../../clients/stage.ts'
import { Speaker, StoringGateway, scratch } from './test-server.ts'

/* Two gateways that share one store: each can be asked for responses that the other works on. */

let data: ReturnType<typeof scratch>
let speaker: Speaker
let release: () => void
let near: StoringGateway
let far: StoringGateway

beforeEach(() => {
  data = scratch()
})
afterEach(async () => {
  release()
  expect([...near.faults, ...far.faults]).toEqual([])
  await near.close()
  await far.close()
  data.drop()
})

async function open(format: string): Promise<{ here: OpenAI; there: OpenAI }> {
  speaker = await Speaker.open(format)
  const { promise, resolve } = Promise.withResolvers<void>()
  speaker.gate = promise
  release = resolve
  near = await StoringGateway.open([speaker], { dataDir: data.path })
  far = await StoringGateway.open([speaker], { dataDir: data.path })
  return { here: near.client(), there: far.client() }
}

const begin = (client: OpenAI, more: object = {}) =>
  client.responses.create({ model: 'm', input: 'Hi!', background: true, ...more }) as Promise<OpenAI.Responses.Response>

async function standing(client: OpenAI, id: string, status: string): Promise<OpenAI.Responses.Response> {
  for (let tries = 0; ; tries++) {
    const response = await client.responses.retrieve(id)
    if (response.status === status || tries > 300) return response
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

type Event = { readonly type: string; readonly sequence_number: number }

async function heard(client: OpenAI, id: string, starting_after?: number): Promise<Event[]> {
  const events: Event[] = []
  const more = starting_after === undefined ? {} : { starting_after }
  for await (const event of await client.responses.retrieve(id, { stream: true, ...more })) events.push(event)
  return events
}

describe.each(FORMATS)('before an upstream of %s', format => {
  test('a run that has begun is in progress, whoever is asked, with what is known so far', async () => {
    const { here, there } = await open(format)
    speaker.scenes = [{ thought: 'Hm.', text: 'Done.' }]
    const { id } = await begin(here, { stream: format === 'messages' }).then(async begun => {
      if (format !== 'messages') return begun
      for await (const event of begun as unknown as AsyncIterable<{ response: { id: string } }>) return event.response
      throw new Error('nothing was said')
    })
    await until(() => speaker.bodies.length === 1)
    expect(await here.responses.retrieve(id)).toMatchObject({ status: 'in_progress', background: true })
    expect(await standing(there, id, 'in_progress')).toMatchObject({ id, status: 'in_progress', completed_at: null })
    if (format === 'messages') await expect.poll(async () => (await there.responses.retrieve(id)).output.length).toBe(1)
    release()
    const done = await standing(there, id, 'completed')
    expect(done).toMatchObject({ output_text: 'Done.', output: [{ type: 'reasoning' }, { type: 'message' }] })
    if (format !== 'responses') expect(done.completed_at).toBeGreaterThanOrEqual(done.created_at)
  })

  test.each([true, false])('its events are the same to both, live and later (streamed: %s)', async stream => {
    const { here, there } = await open(format)
    speaker.scenes = [
      { thought: 'Hm.', text: 'A long text.', calls: [{ id: 'call_1', name: 'f', arguments: { a: 1 } }] },
    ]
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }]
    let id = ''
    if (stream) {
      for await (const event of await here.responses.create({
        ...{ model: 'm', input: 'Hi!', background: true, stream: true, tools: tools as never },
      }))
        if (event.type === 'response.created') {
          id = event.response.id
          break
        }
    } else ({ id } = await begin(here, { tools }))
    const live = Promise.all([heard(here, id), heard(there, id), heard(there, id, 1)])
    setTimeout(release, 300)
    const [ours, theirs, rest] = await live
    expect(ours.map(event => event.sequence_number)).toEqual(ours.map((_, index) => index))
    expect(theirs).toEqual(ours)
    expect(rest).toEqual(ours.slice(2))
    expect(ours.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        ...['response.created', 'response.queued', 'response.in_progress', 'response.output_item.added'],
        ...['response.output_text.delta', 'response.output_item.done', 'response.completed'],
      ]),
    )
    expect(ours.filter(({ type }) => type === 'response.created')).toHaveLength(1)
    expect(await heard(here, id)).toEqual(ours)
    expect(await heard(there, id, ours.length - 2)).toEqual(ours.slice(-1))
    expect(await heard(there, id, ours.length - 1)).toEqual([])
    expect(await heard(there, id, 10_000)).toEqual([])
  })
})

describe('across processes', () => {
  test('a cancelled run ends where it is worked on, and stays cancelled', TIMED, async () => {
    const { here, there } = await open('chat')
    const { id } = await begin(here)
    await until(() => speaker.bodies.length === 1)
    expect(await there.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    const cancelled = performance.now()
    expect(await there.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    await until(() => speaker.upstream.seen[0]!.brokenAt !== undefined)
    expect(performance.now() - cancelled).toBeLessThan(3000)
    release()
    expect(await standing(here, id, 'cancelled')).toMatchObject({ status: 'cancelled' })
    expect(await here.responses.cancel(id)).toMatchObject({ status: 'cancelled', output: [] })
    expect((await heard(here, id)).at(-1)!.type).toBe('response.cancelled')
  })

  test('an answer that comes after the end changes nothing', async () => {
    const { here, there } = await open('chat')
    const { id } = await begin(here)
    await until(() => speaker.bodies.length === 1)
    const cancelling = there.responses.cancel(id)
    release()
    const { status } = await cancelling
    await new Promise(resolve => setTimeout(resolve, 600))
    for (const client of [here, there]) expect((await client.responses.retrieve(id)).status).toBe(status)
  })

  test('what is deleted while it is worked on does not come back', async () => {
    const { here, there } = await open('chat')
    const { id } = await begin(here)
    await until(() => speaker.bodies.length === 1)
    await there.responses.delete(id)
    await until(() => speaker.upstream.seen[0]!.brokenAt !== undefined)
    release()
    await expect
      .poll(() =>
        here.responses.retrieve(id).then(
          () => 200,
          fault => fault.status,
        ),
      )
      .toBe(404)
    await expect(there.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  })

  test('nobody builds on what is still in the making', async () => {
    const { here, there } = await open('chat')
    const { id } = await begin(here)
    await until(() => speaker.bodies.length === 1)
    for (const client of [here, there])
      await expect(
        client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: id }),
      ).rejects.toMatchObject({
        ...{ status: 409, param: 'previous_response_id', code: 'previous_response_in_progress' },
        error: { type: 'conflict_error' },
      })
    release()
    await standing(there, id, 'completed')
    await there.responses.create({ model: 'm', input: 'Go on.', previous_response_id: id })
    expect(speaker.heard().turns.map(({ text }) => text)).toEqual(['Hi!', 'Well.', 'Go on.'])
  })

  test('a long stream is told again whole', async () => {
    const { here, there } = await open('chat')
    const count = 60_000
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    speaker.upstream.script = async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let index = 0; index < count; index++)
        if (!response.write(chunk({ content: `${index} ` })))
          await new Promise(resolve => response.once('drain', resolve))
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
    }
    const stream = await here.responses.create({ model: 'm', input: 'Hi!', background: true, stream: true })
    let id = ''
    for await (const event of stream) {
      if (event.type === 'response.created') ({ id } = event.response)
      break
    }
    expect((await standing(there, id, 'completed')).status).toBe('completed')
    const events = await heard(there, id)
    expect(events.filter(({ type }) => type === 'response.output_text.delta')).toHaveLength(count)
    expect(events.every((event, index) => event.sequence_number === index)).toBe(true)
    expect(await heard(here, id, events.length - 3)).toEqual(events.slice(-2))
  })

  test('a stream told again ends as streams of its format do', async () => {
    const { here } = await open('chat')
    release()
    const { id } = await begin(here)
    await standing(here, id, 'completed')
    const { text } = await near.testServer.ask(`/v1/responses/${id}?stream=true`, undefined, { method: 'GET' })
    expect(dataOf(text).at(-1)).toBe('[DONE]')
    const wrong = await near.testServer.ask(`/v1/responses/${id}?stream=true&starting_after=x`, undefined, {
      method: 'GET',
    })
    expect(wrong.json.error).toMatchObject({ param: 'starting_after' })
  })
})
