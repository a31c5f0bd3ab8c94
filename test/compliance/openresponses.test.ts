import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { Client, type Event } from '../sockets/client.ts'
import { expectEvents, expectSchema, HAS_SCHEMAS } from './schemas.ts'
import { isNative, openGateway } from './upstream.ts'

/* Every row of the public compliance suite of OpenResponses, version 2026-04-24, with upstreams of every format. */

const user = (content: unknown): JsonObject => ({ type: 'message', role: 'user', content }) as JsonObject
const HELLO = { model: 'm', input: [user('Say hello in exactly 3 words.')] }
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** Requests over HTTP that must be answered whole, completely and in accordance with the schema. */
const WHOLE: { readonly [id: string]: JsonObject } = {
  'basic-response': HELLO,
  'assistant-phase': {
    model: 'm',
    input: [
      user('Plan a trip.'),
      { type: 'message', role: 'assistant', phase: 'commentary', content: 'I look at maps first.' },
      { type: 'message', role: 'assistant', phase: 'final_answer', content: 'Go to Rome.' },
      user('Thanks. And then?'),
    ],
  },
  'system-prompt': {
    model: 'm',
    input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Say hello.')],
  },
  'image-input': {
    model: 'm',
    input: [
      user([
        { type: 'input_text', text: 'What is it?' },
        { type: 'input_image', image_url: PIXEL },
      ]),
    ],
  },
  'multi-turn': {
    model: 'm',
    input: [user('I am Ana.'), { type: 'message', role: 'assistant', content: 'Hello Ana!' }, user('What is my name?')],
  },
}

describe
  .skipIf(!HAS_SCHEMAS)
  .each([...['chat', 'messages', 'contents', 'responses', 'responses, incomplete', 'responses, null'], 'replay'])(
  'before an upstream of %s',
  format => {
    let gateway: Awaited<ReturnType<typeof openGateway>>
    const clients: Client[] = []

    beforeAll(async () => {
      gateway = await openGateway(format)
    })
    afterEach(() => {
      for (const client of clients.splice(0)) client.socket.terminate()
    })
    afterAll(() => gateway.close())

    const ask = (body: JsonObject, path = '/v1/responses') => gateway.testServer.ask(path, body)

    async function socket(): Promise<Client> {
      const client = await Client.open(gateway.testServer.server.address)
      clients.push(client)
      return client
    }

    function expectTurn(events: readonly Event[]): Event {
      expectEvents(events)
      const { type, response } = events.at(-1)
      expect(type).toBe('response.completed')
      expect(response.status).toBe('completed')
      expect(response.output.length).toBeGreaterThan(0)
      return response
    }

    const expectLost = (events: readonly Event[]): void => {
      const last = events.at(-1)
      expect(last.error?.code ?? last.response?.error?.code).toBe('previous_response_not_found')
      expectSchema('WebSocketErrorEvent', last)
      expectEvents(events)
    }

    it.each(Object.keys(WHOLE))('%s', async id => {
      const { status, json } = await ask(WHOLE[id]!)
      expect(status).toBe(200)
      expectSchema('ResponseResource', json)
      expect(json.status).toBe('completed')
      expect(json.output.length).toBeGreaterThan(0)
    })

    it('tool-calling', async () => {
      const { status, json } = await ask({ ...HELLO, tools: [WEATHER] })
      expect(status).toBe(200)
      expectSchema('ResponseResource', json)
      expect(json.output.some(({ type }: JsonObject) => type === 'function_call')).toBe(true)
      const { call_id } = json.output.find(({ type }: JsonObject) => type === 'function_call')
      const turns = [...HELLO.input, ...json.output, { type: 'function_call_output', call_id, output: '21' }]
      const next = await ask({ ...HELLO, input: turns, tools: [WEATHER] })
      expectSchema('ResponseResource', next.json)
      expect(next.json.status).toBe('completed')
    })

    it.each([{}, { tools: [WEATHER] }])('streaming-response %#', async more => {
      const { text, headers } = await ask({ ...HELLO, ...more, stream: true })
      expect(headers['content-type']).toContain('text/event-stream')
      const events: Event[] = []
      for (const block of text.split('\n\n').filter(one => one !== '' && one !== 'data: [DONE]')) {
        const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!
        events.push(JSON.parse(data!))
        expect(events.at(-1).type).toBe(name)
      }
      const response = expectTurn(events)
      expectSchema('ResponseResource', response)
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    })

    it('websocket-response', async () => {
      expectTurn(await (await socket()).turn(HELLO))
      expectTurn(await (await socket()).turn({ ...HELLO, tools: [WEATHER] }))
    })

    it('websocket-sequential-responses', async () => {
      const client = await socket()
      const first = expectTurn(await client.turn({ ...HELLO, store: false }))
      const second = expectTurn(await client.turn({ ...HELLO, store: false }))
      expect(second.id).not.toBe(first.id)
      expect(first.store).toBe(false)
    })

    it('websocket-continuation', async () => {
      const client = await socket()
      const first = expectTurn(await client.turn({ ...HELLO, store: false }))
      gateway.upstream.seen.length = 0
      const more = { input: [user('And once more.')], previous_response_id: first.id, store: false }
      const second = expectTurn(await client.turn(more))
      expect(second.previous_response_id).toBe(first.id)
      const answered = first.output.findLast(({ type }: JsonObject) => type === 'message').content[0].text
      for (const said of ['exactly 3 words', answered, 'And once more.'])
        expect(gateway.upstream.seen[0]!.text).toContain(said)
    })

    it('websocket-continuation of a turn that was only prepared', async () => {
      const client = await socket()
      const prepared = (await client.turn({ ...HELLO, store: false, generate: false })).at(-1).response
      gateway.upstream.seen.length = 0
      expectTurn(await client.turn({ input: [user('Go.')], previous_response_id: prepared.id, store: false }))
      expect(gateway.upstream.seen[0]!.text).toContain('exactly 3 words')
    })

    it('websocket-reconnect-store-false-recovery', async () => {
      const first = expectTurn(await (await socket()).turn({ ...HELLO, store: false }))
      const other = await socket()
      gateway.upstream.seen.length = 0
      expectLost(await other.turn({ input: [user('Go on.')], previous_response_id: first.id, store: false }))
      expect(gateway.upstream.seen).toEqual([])
      expectTurn(await other.turn({ ...HELLO, store: false }))
    })

    it('websocket-previous-response-not-found', async () => {
      const client = await socket()
      expectLost(await client.turn({ ...HELLO, previous_response_id: 'resp_unknown', store: false }))
    })

    it('websocket-failed-continuation-evicts-cache', async () => {
      const client = await socket()
      const first = expectTurn(await client.turn({ ...HELLO, store: false }))
      const orphan = { type: 'function_call_output', call_id: 'call_nobody_made', output: '{}' }
      const failed = await client.turn({ input: [orphan], previous_response_id: first.id, store: false })
      expect(['error', 'response.failed']).toContain(failed.at(-1).type)
      expectEvents(failed)
      expectLost(await client.turn({ input: [user('Again.')], previous_response_id: first.id, store: false }))
    })

    it('websocket-compact-new-chain', async () => {
      const { status, json } = await ask(HELLO, '/v1/responses/compact')
      expect(status).toBe(200)
      expectSchema('CompactResource', json)
      const input = [...json.output, user('Go on from there.')]
      expectTurn(await (await socket()).turn({ input, tools: [], store: false }))
    })

    it('compact-response', async () => {
      const input = [user('I move to Lisbon.'), { type: 'message', role: 'assistant', content: 'When?' }]
      const { status, json } = await ask({ model: 'm', input, prompt_cache_key: 'k' }, '/v1/responses/compact')
      expect(status).toBe(200)
      expectSchema('CompactResource', json)
      expect(json.object).toBe('response.compaction')
      expect(json.output.some(({ type }: JsonObject) => type === 'compaction')).toBe(true)
    })

    it('compact-missing-model', async () => {
      const { status } = await ask({ input: HELLO.input }, '/v1/responses/compact')
      expect([400, 422]).toContain(status)
    })

    it.skipIf(isNative(format))('what was asked is repeated in the answer, over every transport', async () => {
      const settings = { presence_penalty: 0.5, frequency_penalty: 0.25, top_p: 0.5, temperature: 0.5 }
      const more = { ...settings, store: false, max_output_tokens: 99, metadata: { a: 'b' }, prompt_cache_key: 'k' }
      const { json } = await ask({ ...HELLO, ...more })
      const told = expectTurn(await (await socket()).turn({ ...HELLO, ...more }))
      for (const response of [json, told]) {
        expectSchema('ResponseResource', response)
        expect(response).toMatchObject({ ...more, background: false, top_logprobs: 0, service_tier: 'default' })
      }
    })
  },
)

describe.skipIf(!HAS_SCHEMAS)('the description itself', () => {
  it('response-output-phase-schema', () => {
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }
    expectSchema('Message', { ...message, phase: 'final_answer' })
    expectSchema('ItemField', { ...message, phase: 'commentary' })
  })
})
