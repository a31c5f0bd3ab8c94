import { GoogleGenAI, type Interactions as interactions } from '@google/genai'
import { afterEach, describe, expect, test } from 'vitest'
import { channelAt, KEY, OTHER_KEY } from '../../builders/config.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import type { Loose } from '../../clients/scene.ts'
import { Speaker, StoringGateway, scratch } from './test-server.ts'

/* Stored interactions with Google's own client, before upstreams that store nothing. */

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(format = 'chat', more: readonly StoringGateway[] = []) {
  const speaker = await Speaker.open(format)
  const gateway = await StoringGateway.open([speaker])
  closing.push(() => gateway.close(), ...more.map(one => () => one.close()))
  return { speaker, gateway, client: clientOf(gateway) }
}

const clientOf = ({ testServer }: StoringGateway, apiKey = KEY) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: testServer.server.address, retryOptions: { attempts: 1 } } })
    .interactions

const ask = (input: string, more: object = {}) => ({ model: 'm', input, ...more })
const textOf = ({ steps = [] }: interactions.Interaction): string =>
  steps
    .flatMap(step => (step.type === 'model_output' ? (step.content ?? []) : []))
    .map(part => (part as { text?: string }).text)
    .join('')

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = []
  for await (const event of stream) events.push(event)
  return events
}
type Event = interactions.InteractionSSEEvent
const typesOf = (events: readonly Event[]): string[] => events.map(({ event_type }) => event_type)
const saidIn = (events: readonly Event[]): string =>
  events.map(event => (event.event_type === 'step.delta' && 'text' in event.delta ? event.delta.text : '')).join('')

describe.each(['chat', 'messages', 'responses', 'contents', 'converse'])('an interaction before %s', format => {
  test('is retrieved, continued and deleted', async () => {
    const { speaker, client } = await open(format)
    speaker.scenes = [{ text: 'Plum.' }, { text: 'Still plum.' }]
    const first = await client.create(ask('What is the word?'))
    expect(first.id).toMatch(/^v1_/)
    expect(first.status).toBe('completed')
    const found = await client.get(first.id)
    expect(found).toMatchObject({ id: first.id, status: 'completed', model: 'm' })
    expect(found.steps?.map(({ type }) => type)).toEqual(['user_input', 'model_output'])
    expect(textOf(found)).toBe('Plum.')
    expect(found).not.toHaveProperty('background')
    const second = await client.create(ask('And now?', { previous_interaction_id: first.id }))
    expect(textOf(second)).toBe('Still plum.')
    expect(speaker.heard().turns.map(({ role, text }) => [role, text])).toEqual([
      ...[
        ['user', 'What is the word?'],
        ['assistant', 'Plum.'],
        ['user', 'And now?'],
      ],
    ])
    await client.delete(first.id)
    await expect(client.get(first.id)).rejects.toMatchObject({ status: 404 })
    expect(textOf(await client.get(second.id))).toBe('Still plum.')
  })

  test('is stored before its stream ends, and continued with the results of its calls', async () => {
    const { speaker, client } = await open(format)
    const call = { id: 'call_1', name: 'look', arguments: { at: 1 } }
    speaker.scenes = [{ calls: [call] }, { text: 'It is 7.' }]
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }] as never
    const events = await all(await client.create({ ...ask('Look.'), tools, stream: true }))
    const last = events.at(-1)!
    expect(last.event_type).toBe('interaction.completed')
    const { id, status } = (last as { interaction: { id: string; status: string } }).interaction
    expect(status).toBe('requires_action')
    const stored = await client.get(id, { include_input: true })
    expect(stored.steps?.map(({ type }) => type)).toEqual(['user_input', 'function_call'])
    expect(stored.input).toMatchObject([{ type: 'user_input' }])
    const { id: call_id = '' } = stored.steps!.at(-1) as { id?: string }
    const result = { type: 'function_result', name: 'look', call_id, result: '7' }
    const second = await client.create({ ...ask(''), input: [result] as never, tools, previous_interaction_id: id })
    expect(textOf(second)).toBe('It is 7.')
    expect(speaker.heard().turns.at(-1)?.results).toHaveLength(1)
  })
})

describe('a stored interaction', () => {
  test('belongs to its key and its format', async () => {
    const { gateway, client } = await open()
    const { id } = await client.create(ask('Hi'))
    const other = clientOf(gateway, OTHER_KEY)
    await expect(other.get(id)).rejects.toMatchObject({ status: 404 })
    await expect(other.delete(id)).rejects.toMatchObject({ status: 404 })
    await expect(other.create(ask('Go on', { previous_interaction_id: id }))).rejects.toMatchObject({ status: 400 })
    const { openai, responseId } = await (async () => {
      const openai = gateway.client()
      return { openai, responseId: (await openai.responses.create({ model: 'm', input: 'Hi' })).id }
    })()
    await expect(openai.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(openai.responses.create({ model: 'm', input: 'x', previous_response_id: id })).rejects.toMatchObject({
      status: 400,
    })
    await expect(client.get(responseId)).rejects.toMatchObject({ status: 404 })
    await expect(client.create(ask('x', { previous_interaction_id: responseId }))).rejects.toMatchObject({
      status: 400,
    })
    expect(textOf(await client.get(id))).toBe('Well.')
  })

  test('does not exist with store: false', async () => {
    const { client } = await open()
    const { id } = await client.create(ask('Hi', { store: false }))
    await expect(client.get(id)).rejects.toMatchObject({ status: 404 })
    await expect(client.create(ask('Hi', { store: false, background: true }))).rejects.toMatchObject({ status: 400 })
  })

  test('that was not streamed is streamed later, from any event on', async () => {
    const { speaker, client } = await open()
    speaker.scenes = [{ thought: 'Hm.', text: 'Plum it is.' }]
    const { id } = await client.create(ask('Hi'))
    const events = await all(await client.get(id, { stream: true }))
    expect(typesOf(events).slice(0, 2)).toEqual(['interaction.created', 'interaction.status_update'])
    expect(typesOf(events).at(-1)).toBe('interaction.completed')
    expect(saidIn(events)).toContain('Plum it is.')
    expect(events.map(({ event_id }) => event_id)).toEqual(events.map((_, index) => String(index + 1)))
    const rest = await all(await client.get(id, { stream: true, last_event_id: '3' }))
    expect(rest).toEqual(events.slice(3))
  })

  test('whose stream ends in an error is stored as failed', async () => {
    const { speaker, client } = await open()
    speaker.upstream.script = response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = { id: 'a', choices: [{ index: 0, delta: { content: 'Half.' } }] }
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: {"error":{"message":"The pen broke."}}\n\n`)
    }
    const events: Event[] = []
    const stream = await client.create({ ...ask('Hi'), stream: true })
    await (async () => {
      for await (const event of stream) events.push(event)
    })().catch(() => {})
    const { id } = (events[0] as { interaction: { id: string } }).interaction
    expect(await client.get(id)).toMatchObject({ id, status: 'failed', errors: [{ message: 'The pen broke.' }] })
    expect(typesOf(await all(await client.get(id, { stream: true }))).at(-1)).toBe('interaction.completed')
  })

  test('has readable errors', async () => {
    const { gateway, client } = await open()
    const { id } = await client.create(ask('Hi'))
    await expect(client.cancel(id)).rejects.toMatchObject({ status: 400 })
    for (const [method, path, status] of [
      ['GET', `/v1beta/interactions/${id}?stream=true&last_event_id=x`, 400],
      ['GET', '/v1beta/interactions/v1_nothing', 404],
      ['DELETE', '/v1/interactions/v1_nothing', 404],
      ['POST', '/v1beta/interactions/v1_nothing/cancel', 404],
      ['PUT', `/v1beta/interactions/${id}`, 405],
    ] as const) {
      const answer = await gateway.testServer.ask(path, undefined, { method })
      expect([path, answer.status]).toEqual([path, status])
      expect(answer.json.error.message).toMatch(/\w/)
      expect(answer.json.error.code).toMatch(/^[a-z_]+$/)
    }
  })
})

describe('an interaction in the background', () => {
  test('is answered at once, followed, and resumed after a cut', async () => {
    const { speaker, gateway, client } = await open()
    const gate = Promise.withResolvers<void>()
    speaker.gate = gate.promise
    speaker.scenes = [{ text: 'Plum it is.' }]
    const begun = await client.create(ask('Hi', { background: true }))
    expect(begun).toMatchObject({ status: 'in_progress', model: 'm' })
    expect(begun).not.toHaveProperty('background')
    expect((await client.get(begun.id)).status).toBe('in_progress')
    const followed = all(await client.get(begun.id, { stream: true }))
    // Another follower loses its connection after the first events.
    const cut = gateway.testServer.send(`/v1beta/interactions/${begun.id}?stream=true`, undefined, { method: 'GET' })
    const answer = await cut.answer
    await new Promise(resolve => answer.once('data', resolve))
    cut.out.destroy()
    answer.on('error', () => {})
    gate.resolve()
    const events = await followed
    expect(saidIn(events)).toBe('Plum it is.')
    expect(typesOf(events).at(-1)).toBe('interaction.completed')
    expect(events.map(({ event_id }) => event_id)).toEqual(events.map((_, index) => String(index + 1)))
    const whole = await client.get(begun.id)
    expect([whole.status, textOf(whole)]).toEqual(['completed', 'Plum it is.'])
    for (const after of [0, 2, events.length - 1])
      expect(await all(await client.get(begun.id, { stream: true, last_event_id: String(after) }))).toEqual(
        events.slice(after),
      )
    const next = await client.create(ask('Go on', { previous_interaction_id: begun.id }))
    expect(next.status).toBe('completed')
    expect(speaker.heard().turns).toHaveLength(3)
  })

  test('is streamed from the request that began it', async () => {
    const { speaker, client } = await open()
    speaker.scenes = [{ text: 'Plum it is.' }]
    const events = await all(await client.create({ ...ask('Hi', { background: true }), stream: true }))
    expect(saidIn(events)).toBe('Plum it is.')
    const { id } = (events[0] as { interaction: { id: string } }).interaction
    expect(textOf(await client.get(id))).toBe('Plum it is.')
  })

  test('is cancelled, and stays so', async () => {
    const { speaker, client } = await open()
    speaker.gate = new Promise(() => {})
    const { id } = await client.create(ask('Hi', { background: true }))
    expect((await client.cancel(id)).status).toBe('cancelled')
    expect((await client.get(id)).status).toBe('cancelled')
    const events = await all(await client.get(id, { stream: true }))
    expect(events.at(-1)).toMatchObject({ event_type: 'interaction.completed', interaction: { status: 'cancelled' } })
    await expect(client.create(ask('Go on', { previous_interaction_id: 'v1_none' }))).rejects.toMatchObject({
      status: 400,
    })
  })

  test('fails with the cause if its upstream does', async () => {
    const { speaker, client } = await open()
    speaker.upstream.script = response =>
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"Too odd."}}')
    const { id } = await client.create(ask('Hi', { background: true }))
    await expect.poll(async () => (await client.get(id)).status).not.toBe('in_progress')
    expect(await client.get(id)).toMatchObject({ status: 'failed', errors: [{ message: 'Too odd.' }] })
  })

  test('fails with the cause if its stream breaks off', async () => {
    const { speaker, client } = await open()
    speaker.upstream.script = response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"id":"a","choices":[{"index":0,"delta":{"content":"Half."}}]}\n\n')
    }
    const events = await all(await client.create({ ...ask('Hi', { background: true }), stream: true }))
    expect(events.at(-1)).toMatchObject({ event_type: 'interaction.completed', interaction: { status: 'failed' } })
    const { id } = (events[0] as { interaction: { id: string } }).interaction
    const failed = await client.get(id)
    expect(failed).toMatchObject({ status: 'failed', errors: [{ message: expect.stringMatching(/early|broke/) }] })
    // A step that was not completed is no step of the answer.
    expect(failed.steps?.map(({ type }) => type)).toEqual(['user_input'])
  })
})

describe('hostile calls', () => {
  test('of another key find no interaction in the background, and end none', async () => {
    const { speaker, gateway, client } = await open()
    const gate = Promise.withResolvers<void>()
    speaker.gate = gate.promise
    const { id } = await client.create(ask('Hi', { background: true }))
    const other = clientOf(gateway, OTHER_KEY)
    await expect(other.get(id)).rejects.toMatchObject({ status: 404 })
    await expect(other.get(id, { stream: true })).rejects.toMatchObject({ status: 404 })
    await expect(other.cancel(id)).rejects.toMatchObject({ status: 404 })
    await expect(other.delete(id)).rejects.toMatchObject({ status: 404 })
    gate.resolve()
    await expect.poll(async () => (await client.get(id)).status).toBe('completed')
  })

  test('with rubbish in last_event_id get an error or the rest of the stream', async () => {
    const { gateway, client } = await open()
    const { id } = await client.create(ask('Hi'))
    const path = (after: string) => `/v1beta/interactions/${id}?stream=true&last_event_id=${encodeURIComponent(after)}`
    const ask_ = async (after: string) => gateway.testServer.ask(path(after), undefined, { method: 'GET' })
    for (const after of ['x', '-1', '1.5', 'NaN', 'Infinity', '1e999', '{}', '\u0000', '1e3', '0x10', ' 2'])
      expect([after, (await ask_(after)).status]).toEqual([after, 400])
    for (const after of ['', '0', '999999999', '9007199254740991'])
      expect([after, (await ask_(after)).status]).toEqual([after, 200])
  })

  test('that continue without storing, and in a circle, are answered', async () => {
    const { speaker, client } = await open()
    const { id } = await client.create(ask('Hi'))
    const loose = await client.create(ask('Go on', { previous_interaction_id: id, store: false }))
    expect(loose.status).toBe('completed')
    expect(speaker.heard().turns).toHaveLength(3)
    const events = await all(
      await client.create({ ...ask('On', { previous_interaction_id: id, store: false }), stream: true }),
    )
    expect(typesOf(events).at(-1)).toBe('interaction.completed')
  })
})

describe('an upstream of interactions', () => {
  test('that gives every interaction the same id makes no endless chain', async () => {
    const { client } = await openNative(() => interaction('v1_up', 'Plum.'))
    const { id } = await client.create(ask('Hi'))
    for (const input of ['Go on', 'And on'])
      expect((await client.create(ask(input, { previous_interaction_id: id }))).status).toBe('completed')
    expect((await client.get(id)).status).toBe('completed')
  })

  const interaction = (id: string, text: string) => ({
    ...{ id, object: 'interaction', status: 'completed', model: 'm', created: '2026-11-28T12:00:00Z' },
    steps: [{ type: 'model_output', content: [{ type: 'text', text }] }],
  })

  test('that stores them gets their ids, and forgets what is deleted here', async () => {
    let count = 0
    const { upstream, client } = await openNative(() => interaction(`v1_up${++count}`, 'Plum.'))
    const first = await client.create(ask('Hi'))
    expect(first.id).toBe('v1_up1')
    const second = await client.create(ask('Go on', { previous_interaction_id: first.id }))
    expect(upstream.seen.map(({ text }) => JSON.parse(text))).toEqual([
      { model: 'm', input: 'Hi' },
      { model: 'm', input: 'Go on', previous_interaction_id: 'v1_up1' },
    ])
    await client.delete(second.id)
    expect(upstream.seen.at(-1)).toMatchObject({ method: 'DELETE', url: '/v1beta/interactions/v1_up2' })
  })

  test('that forgot an earlier one gets the whole history', async () => {
    let count = 0
    const { upstream, client } = await openNative(({ previous_interaction_id: previous }) =>
      previous === undefined ? interaction(`v1_up${++count}`, 'Plum.') : undefined,
    )
    const first = await client.create(ask('Hi'))
    expect(textOf(await client.create(ask('Go on', { previous_interaction_id: first.id })))).toBe('Plum.')
    const last = await client.create(ask('Go on', { previous_interaction_id: first.id }))
    expect(last.previous_interaction_id).toBe(first.id)
    expect(JSON.parse(upstream.seen.at(-1)!.text)).toEqual({
      model: 'm',
      input: [
        { type: 'user_input', content: [{ type: 'text', text: 'Hi' }] },
        { type: 'model_output', content: [{ type: 'text', text: 'Plum.' }] },
        { type: 'user_input', content: [{ type: 'text', text: 'Go on' }] },
      ],
    })
  })

  test('that gives no ids, or ids of its own kind, gets the gateway’s', async () => {
    for (const id of ['', 'other_1']) {
      const { client } = await openNative(() => interaction(id, 'Plum.'))
      const { id: given } = await client.create(ask('Hi'))
      expect(given).toMatch(/^v1_[0-9a-f]{32}$/)
      expect(textOf(await client.get(given))).toBe('Plum.')
    }
  })

  test('is asked without background work, which the gateway does', async () => {
    const { upstream, client } = await openNative(() => interaction('v1_up', 'Plum.'))
    const { id } = await client.create(ask('Hi', { background: true }))
    expect(id).not.toBe('v1_up')
    await expect.poll(async () => (await client.get(id)).status).toBe('completed')
    expect(JSON.parse(upstream.seen[0]!.text)).toEqual({ model: 'm', input: 'Hi' })
  })

  async function openNative(answer: (body: Loose) => object | undefined) {
    const upstream = await FakeUpstream.open((response, { text }) => {
      const body = text === '' ? {} : answer(JSON.parse(text))
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body ?? { error: { code: 'not_found', message: 'The interaction was not found.' } }))
    })
    const channel = channelAt(upstream.address, { format: 'interactions', baseUrl: upstream.address })
    const gateway = await StoringGateway.open([], {}, [channel])
    closing.push(
      () => upstream.close(),
      () => gateway.close(),
    )
    return { upstream, client: clientOf(gateway) }
  }
})

test('two processes share interactions: each reads, resumes, continues and cancels those of the other', async () => {
  const data = scratch()
  closing.push(() => data.drop())
  const speaker = await Speaker.open('chat')
  const gateways = await Promise.all([0, 1].map(() => StoringGateway.open([speaker], { dataDir: data.path })))
  for (const gateway of gateways) closing.push(() => gateway.close())
  const [one, two] = gateways.map(gateway => clientOf(gateway)) as [
    ReturnType<typeof clientOf>,
    ReturnType<typeof clientOf>,
  ]
  speaker.scenes = [{ text: 'Plum it is.' }]
  const first = await one.create(ask('Hi'))
  expect(textOf(await two.get(first.id))).toBe('Plum it is.')
  expect((await two.create(ask('Go on', { previous_interaction_id: first.id }))).status).toBe('completed')
  const gate = Promise.withResolvers<void>()
  speaker.gate = gate.promise
  speaker.scenes = [{ text: 'Slowly.' }]
  const running = await one.create(ask('Hi', { background: true }))
  const events = all(await two.get(running.id, { stream: true, last_event_id: '1' }))
  gate.resolve()
  expect(saidIn(await events)).toBe('Slowly.')
  expect((await events)[0]?.event_id).toBe('2')
  speaker.gate = new Promise(() => {})
  const endless = await one.create(ask('Hi', { background: true }))
  expect((await two.cancel(endless.id)).status).toBe('cancelled')
  await expect.poll(async () => (await one.get(endless.id)).status).toBe('cancelled')
})
