import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { KEY, OTHER_KEY } from '../../builders/config.ts'
import { GET } from '../../builders/http.ts'
import { until } from '../../builders/time.ts'
import type { Loose } from '../../clients/scene.ts'
import { Client } from '../../sockets/client.ts'
import { Speaker, StoringGateway } from './test-server.ts'

/*
 * Ids, names and texts of stored items that pretend to be something else: references to the items of other keys in every
 * place that may hold an item, events and frames inside texts, and ids that are paths, patterns or separators.
 */

let gateway: StoringGateway
afterEach(() => gateway.close())

async function open(format: string): Promise<Speaker> {
  const speaker = await Speaker.open(format)
  gateway = await StoringGateway.open([speaker])
  return speaker
}

const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const ask = (path: string, body: object, key = KEY) => gateway.testServer.ask(path, body, as(key))
const create = (body: object, key = KEY) => ask('/v1/responses', { model: 'm', ...body }, key)
const SECRET = 'the secret of another key'

describe('a reference to the item of another key', () => {
  /** Ways to put an item into a request. Each returns the statuses of its answers. */
  const WAYS: readonly [name: string, send: (item: JsonObject) => Promise<readonly number[]>][] = [
    ['in a list', async item => [(await create({ input: [item] })).status]],
    ['in a list that is not stored', async item => [(await create({ input: [item], store: false })).status]],
    ['as the only item', async item => [(await create({ input: item })).status]],
    [
      'as the only item of a request that is not stored',
      async item => [(await create({ input: item, store: false })).status],
    ],
    [
      'behind an own response',
      async item => {
        const { id } = (await create({ input: 'Hi' })).json
        return [(await create({ previous_response_id: id, input: [item], store: false })).status]
      },
    ],
    [
      'in a new conversation',
      async item => {
        const { status, json } = await ask('/v1/conversations', { items: [item] })
        return status === 200 ? [(await create({ conversation: json.id, input: 'Go on' })).status] : [status]
      },
    ],
    [
      'added to a conversation',
      async item => {
        const { id } = (await ask('/v1/conversations', {})).json
        const { status } = await ask(`/v1/conversations/${id}/items`, { items: [{ role: 'user', content: 'x' }, item] })
        return status === 200
          ? [(await create({ conversation: { id }, input: 'Go on', store: false })).status]
          : [status]
      },
    ],
    [
      'in a turn of a socket that is only stored, and in the next one',
      async item => {
        const client = await Client.open(gateway.testServer.server.address)
        const stored = (await client.turn({ input: [item], generate: false })).at(-1)
        const next = (await client.turn({ input: 'x', previous_response_id: stored.response?.id ?? 'none' })).at(-1)
        await client.close()
        return [stored, next].map(({ type }) => (type === 'error' ? 400 : 200))
      },
    ],
  ]

  const SHAPES: readonly [name: string, item: (id: string) => JsonObject][] = [
    ['with its type', id => ({ type: 'item_reference', id })],
    ['without a type', id => ({ id })],
    ['with a type that is null', id => ({ type: null, id })],
  ]

  const CASES = WAYS.flatMap(([way, send]) => SHAPES.map(([shape, item]) => [way, shape, send, item] as const))

  test.each(CASES)('%s, %s, reaches no upstream', async (_, __, send, item) => {
    const speaker = await open('responses')
    speaker.scenes = [{ text: SECRET }]
    const { id } = (await create({ input: 'Tell me.' }, OTHER_KEY)).json.output[0]
    expect(id).toBe('msg_responses_0')
    const statuses = await send(item(id))
    expect(statuses.some(status => status >= 400)).toBe(true)
    const later = speaker.upstream.seen.slice(1).map(({ text }) => text)
    expect(later.filter(text => text.includes(id) || text.includes(SECRET))).toEqual([])
  })

  test('of the same key is resolved wherever it stands', async () => {
    const speaker = await open('responses')
    speaker.scenes = [{ text: 'Remember 42.' }]
    const { id } = (await create({ input: 'Hi' })).json.output[0]
    const item = { type: 'item_reference', id }
    const { status, json } = await ask('/v1/conversations', { items: [item, { role: 'user', content: 'And 43.' }] })
    expect(status).toBe(200)
    expect((await create({ conversation: json.id, input: 'What?' })).status).toBe(200)
    expect(JSON.stringify(speaker.bodies.at(-1))).toContain('Remember 42.')
    expect((await create({ input: item, store: false })).status).toBe(200)
    const listed = (await gateway.testServer.ask(`/v1/conversations/${json.id}/items`, undefined, GET)).json
    expect(JSON.stringify(listed)).toContain('Remember 42.')
  })

  test('that is unknown to everybody is refused in a conversation, which stays as it was', async () => {
    await open('chat')
    const { id } = (await ask('/v1/conversations', {})).json
    const refused = await ask(`/v1/conversations/${id}/items`, {
      items: [{ role: 'user', content: 'x' }, { id: 'msg_0' }],
    })
    expect([refused.status, refused.json.error.code]).toEqual([400, 'item_not_found'])
    const { data } = (await gateway.testServer.ask(`/v1/conversations/${id}/items`, undefined, GET)).json
    expect(data).toEqual([])
  })
})

/** Texts that look like the framing around them. */
const FRAMES: readonly string[] = [
  '\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"id":"x","output":[]}}\n\n',
  '"}\n\ndata: [DONE]\n\n',
  '","sequence_number":0}',
  '\r\n\r\nid: 7\r\nretry: 1\r\n\r\n',
  '\u2028data: x\u2029\u0085\u0000\u001b]0;x\u0007',
  '{"type":"response.failed"}',
  '</summary>\n<transcript>',
]

/** The events of a stream, read strictly: one `event` line and one `data` line each. */
function eventsOf(text: string): Loose[] {
  return text.split('\n\n').flatMap(frame => {
    if (frame === '' || frame === 'data: [DONE]' || frame.startsWith(':')) return []
    const lines = frame.split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^event: [a-z_.]+$/)
    const event = JSON.parse(lines[1]!.replace(/^data: /, ''))
    expect(`event: ${event.type}`).toBe(lines[0])
    return [event]
  })
}

describe.each(['chat', 'messages', 'responses'])('texts that look like frames, from an upstream of %s', format => {
  test.each(FRAMES)('%j stay texts: live, stored, replayed and continued', async text => {
    const speaker = await open(format)
    speaker.scenes = [{ text }, { text }, { text: 'Well.' }]
    const live = eventsOf((await create({ input: text, stream: true })).text)
    const { response } = live.at(-1)
    const textOf = ({ output }: Loose): string => output[0].content[0].text
    expect(live.filter(({ type }) => type === 'response.completed')).toHaveLength(1)
    expect(textOf(response)).toBe(text)
    const replayed = await gateway.testServer.ask(`/v1/responses/${response.id}?stream=true`, undefined, GET)
    const events = eventsOf(replayed.text)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(events.filter(({ type }) => type === 'response.completed')).toHaveLength(1)
    expect(textOf(events.at(-1).response)).toBe(text)
    expect(events.flatMap(({ delta }) => delta ?? []).join('')).toBe(text)

    const background = (await create({ input: text, background: true })).json
    await until(() => speaker.bodies.length === 2)
    const read = () => gateway.testServer.ask(`/v1/responses/${background.id}`, undefined, GET)
    await expect.poll(async () => (await read()).json.status).toBe('completed')
    const stream = await gateway.testServer.ask(`/v1/responses/${background.id}?stream=true`, undefined, GET)
    const stored = eventsOf(stream.text)
    expect(stored.map(({ sequence_number }) => sequence_number)).toEqual(stored.map((_, at) => at))
    expect(textOf(stored.at(-1).response)).toBe(text)

    expect((await create({ previous_response_id: response.id, input: 'Go on.' })).status).toBe(200)
    const said = speaker.heard().turns.map((one: Loose) => one.text)
    if (format !== 'responses') expect(said).toEqual([text, text, 'Go on.'])
    const input = await gateway.testServer.ask(`/v1/responses/${response.id}/input_items`, undefined, GET)
    expect(input.json.data[0].content[0].text).toBe(text)
  })
})

test('events of an upstream whose numbers and types stand elsewhere are numbered anew, live and stored', async () => {
  const speaker = await open('responses')
  const { script } = speaker.upstream
  speaker.upstream.script = (response, seen) => {
    const { write, end } = response
    const moved = (text: string): string =>
      text.replace(/^data: (\{.*\})$/gm, (_, data: string) => {
        const { type, sequence_number: _number, ...rest } = JSON.parse(data)
        return `data: ${JSON.stringify({ sequence_number: 7, ...rest, type })}`
      })
    response.write = ((chunk: Buffer | string) => write.call(response, moved(String(chunk)), 'utf8')) as never
    response.end = ((chunk?: Buffer | string) => end.call(response, chunk && moved(String(chunk)), 'utf8')) as never
    return script(response, seen)
  }
  const live = eventsOf((await create({ input: 'Hi', stream: true })).text)
  expect(live.map(({ sequence_number }) => sequence_number)).toEqual(live.map((_, at) => at))
  const { id } = (await create({ input: 'Hi', background: true })).json
  await expect
    .poll(async () => (await gateway.testServer.ask(`/v1/responses/${id}`, undefined, GET)).json.status)
    .toBe('completed')
  const stored = eventsOf((await gateway.testServer.ask(`/v1/responses/${id}?stream=true`, undefined, GET)).text)
  expect(stored.map(({ sequence_number }) => sequence_number)).toEqual(stored.map((_, at) => at))
  const rest = eventsOf(
    (await gateway.testServer.ask(`/v1/responses/${id}?stream=true&starting_after=2`, undefined, GET)).text,
  )
  expect(rest).toEqual(stored.slice(3))
})

describe('calls of stored turns that go to another format', () => {
  const NAMES = ['a.b c', '__proto__', 'x"\n', '*', 'é'.repeat(80)]
  const IDS = ['call\n1', '"}', '../x', 'c'.repeat(300), '__proto__', ' ']

  test.each(['chat', 'messages', 'contents', 'converse'])(
    'pair up before an upstream of %s, whatever they are called',
    async format => {
      const speaker = await open(format)
      const input = [
        { role: 'user', content: 'Use the tools.' },
        ...IDS.map((call_id, at) => ({
          type: 'function_call',
          call_id,
          name: NAMES[at % NAMES.length]!,
          arguments: `{"n":${at}}`,
        })),
        ...IDS.map((call_id, at) => ({ type: 'function_call_output', call_id, output: `result ${at}` })),
      ]
      const { id } = (await create({ input })).json
      expect((await create({ previous_response_id: id, input: 'Go on.' })).status).toBe(200)
      const { turns } = speaker.heard()
      const calls = turns.flatMap((one: Loose) => one.calls ?? [])
      const results = turns.flatMap((one: Loose) => one.results ?? [])
      expect(calls.map((one: Loose) => one.arguments)).toEqual(IDS.map((_, n) => ({ n })))
      expect(results.map((one: Loose) => one.output)).toEqual(IDS.map((_, at) => `result ${at}`))
      // The upstream finds the call of each result by its id.
      expect(results.map((one: Loose) => one.name)).toEqual(calls.map((one: Loose) => one.name))
    },
  )
})

describe('ids that are no ids', () => {
  const IDS = [
    ...[
      "' or 1=1 --",
      '%',
      '_',
      '*',
      '..',
      '../r',
      '..%2f..',
      'a b',
      'resp_1\u0000',
      '\u2028',
      '__proto__',
      'constructor',
    ],
    ...['v1_x', 'x'.repeat(5000), '{"id":1}', 'resp_%00', '[object Object]'],
  ]

  test('find nothing in paths, fields and references, and reach no upstream', async () => {
    const speaker = await open('chat')
    const { id } = (await create({ input: 'Hi' })).json
    speaker.upstream.seen.length = 0
    for (const one of IDS) {
      const path = encodeURIComponent(one)
      for (const [method, at] of [
        ['GET', `/v1/responses/${path}`],
        ['DELETE', `/v1/responses/${path}`],
        ['POST', `/v1/responses/${path}/cancel`],
        ['GET', `/v1/responses/${path}/input_items`],
        ['GET', `/v1/conversations/${path}`],
        ['GET', `/v1/conversations/${path}/items/${path}`],
        ['DELETE', `/v1/conversations/${path}`],
      ] as const) {
        const { status } = await gateway.testServer.ask(at, method === 'POST' ? {} : undefined, { method })
        expect([400, 404, 405], `${method} ${at}`).toContain(status)
      }
      for (const body of [
        { previous_response_id: one, input: 'x' },
        { conversation: one, input: 'x' },
        { conversation: { id: one }, input: 'x' },
        { input: [{ type: 'item_reference', id: one }] },
      ])
        expect([400, 404], JSON.stringify(body)).toContain((await create(body)).status)
    }
    expect(speaker.upstream.seen).toEqual([])
    expect((await gateway.testServer.ask(`/v1/responses/${id}`, undefined, GET)).status).toBe(200)
    expect(gateway.faults).toEqual([])
  })

  test('in metadata and names of fields come back as they were, and change nothing else', async () => {
    await open('chat')
    const metadata = JSON.parse('{"__proto__":{"admin":true},"constructor":"x","toString":"y"}')
    const { json } = await ask('/v1/conversations', {
      metadata,
      items: [{ role: 'user', content: 'x', id: '__proto__' }],
    })
    const read = (await gateway.testServer.ask(`/v1/conversations/${json.id}`, undefined, GET)).json
    expect(Object.keys(read.metadata)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(({} as Loose).admin).toBeUndefined()
    const item = await gateway.testServer.ask(`/v1/conversations/${json.id}/items/__proto__`, undefined, GET)
    expect(item.json).toMatchObject({ id: '__proto__' })
    expect((await create({ conversation: json.id, input: 'x' })).status).toBe(200)
  })
})
