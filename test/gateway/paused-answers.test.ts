import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { events, json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { openStoreAt } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { CHAT_PATH, MESSAGES_PATH, RESPONSES_PATH } from '../builders/paths.ts'
import { HOUR } from '../builders/units.ts'
import { FakeUpstream, type Script, type Seen } from '../builders/upstream.ts'

/* A model that searches for long pauses, and goes on when its answer is sent back (docs/wire/messages.md#stop-reasons). */

interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

/** Counts of each part of an answer, and their cost in nanodollars at the price of the model. */
const [INPUT, OUTPUT] = [1000, 100]
const COST = INPUT * 1000 + OUTPUT * 10_000

/** The model itself calls the tool. */
const CALLED = { caller: { type: 'direct' } }

const search = (number: number): readonly Block[] => [
  { type: 'text', text: `Search ${number}. ` },
  { type: 'server_tool_use', id: `srvtoolu_${number}`, name: 'web_search', input: { query: `q${number}` }, ...CALLED },
  {
    type: 'web_search_tool_result',
    tool_use_id: `srvtoolu_${number}`,
    ...CALLED,
    content: [
      {
        type: 'web_search_result',
        url: `https://a.test/${number}`,
        title: 'A',
        encrypted_content: 'x',
        page_age: null,
      },
    ],
  },
]
const THINKING = { type: 'thinking', thinking: 'Where to look?', signature: 'c2lnbmVk' }
const CITED = {
  type: 'text',
  text: 'It is so.',
  citations: [
    {
      ...{ type: 'web_search_result_location', url: 'https://a.test/2', title: 'A' },
      ...{ encrypted_index: 'x', cited_text: 'so' },
    },
  ],
}
const BLOCKS: readonly Block[] = [THINKING, ...search(1), ...search(2), { type: 'text', text: 'Hence: ' }, CITED]

/** The blocks of an answer, in parts between which the model pauses. */
type Parts = readonly (readonly Block[])[]

const partsAt = (cuts: readonly number[]): Parts =>
  [...cuts, BLOCKS.length].map((cut, index) => BLOCKS.slice(cuts[index - 1] ?? 0, cut))

const bodyOf = ({ text }: Seen) => JSON.parse(text)

/** Returns the blocks of earlier parts that a request sends back. */
const returnedBlocks = (seen: Seen): readonly Block[] =>
  bodyOf(seen).messages.flatMap(({ role, content }: { role: string; content: Block[] }) =>
    role === 'assistant' ? content : [],
  )

/** Answers with the part behind those that the request sends back. */
function pausing(parts: Parts): Script {
  return (response, seen) => {
    const count = returnedBlocks(seen).length
    let before = 0
    const index = parts.findIndex(part => {
      const isNext = before === count
      before += part.length
      return isNext
    })
    const part = parts[index]
    if (part === undefined)
      return json(response, { type: 'error', error: { type: 'api_error', message: 'Lost.' } }, 500)
    const stop = index === parts.length - 1 ? 'end_turn' : 'pause_turn'
    return bodyOf(seen).stream === true ? events(response).end(streamOf(part, stop)) : json(response, whole(part, stop))
  }
}

const USAGE = { input_tokens: INPUT, output_tokens: OUTPUT }

const whole = (content: readonly Block[], stop: string | null, usage: object = USAGE) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content },
  ...{ stop_reason: stop, stop_sequence: null, usage },
})

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

function streamOf(blocks: readonly Block[], stop: string): string {
  const start = event('message_start', { message: whole([], null, { ...USAGE, output_tokens: 1 }) })
  const content = blocks.map((block, index) => {
    const [content_block, deltas] = opened(block)
    return [
      event('content_block_start', { index, content_block }),
      ...deltas.map(delta => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ].join('')
  })
  const end = event('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: USAGE })
  return start + content.join('') + end + event('message_stop', {})
}

/** Returns a block as its stream starts, and the deltas that complete it. */
function opened(block: Block): readonly [object, readonly object[]] {
  if (block.type === 'text') {
    const citations = (block['citations'] as readonly object[] | undefined) ?? []
    const deltas = citations.map(citation => ({ type: 'citations_delta', citation }))
    return [{ ...block, text: '', citations: [] }, [...deltas, { type: 'text_delta', text: block['text'] }]]
  }
  if (block.type === 'thinking')
    return [
      { type: 'thinking', thinking: '', signature: '' },
      [
        { type: 'thinking_delta', thinking: block['thinking'] },
        { type: 'signature_delta', signature: block['signature'] },
      ],
    ]
  if (block.type === 'server_tool_use')
    return [{ ...block, input: {} }, [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }]]
  return [block, []]
}

/** A caller of another format: its request with a web search. */
interface Caller {
  readonly path: string
  readonly streamPath?: string
  readonly body: object
}

/** Fields that request a stream with its usage, by path. */
const STREAMED: { readonly [path: string]: object } = {
  [CHAT_PATH]: { stream: true, stream_options: { include_usage: true } },
  [RESPONSES_PATH]: { stream: true },
}

const QUESTION = [{ role: 'user', content: 'Is it so?' }]
const CALLERS: { readonly [format: string]: Caller } = {
  chat: { path: CHAT_PATH, body: { model: 'm', messages: QUESTION, web_search_options: {} } },
  responses: { path: RESPONSES_PATH, body: { model: 'm', input: QUESTION, tools: [{ type: 'web_search' }] } },
  contents: {
    path: '/v1beta/models/m:generateContent',
    streamPath: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Is it so?' }] }], tools: [{ googleSearch: {} }] },
  },
}
const MESSAGES_BODY = {
  ...{ model: 'm', max_tokens: 100, messages: QUESTION },
  tools: [{ type: 'web_search_20250305', name: 'web_search' }],
}

let folder: string
let upstream: FakeUpstream
let server: TestServer | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paused-'))
})
afterEach(async () => {
  await server?.server.close(0)
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const { models: MODELS } = readConfig('channels: []\nmodels: { m: { price: { input: 1, output: 10 } } }', {})

async function open(script: Script): Promise<TestServer> {
  upstream = await FakeUpstream.open(script)
  server = await TestServer.open([channelAt(upstream.address, { format: 'messages' })], {
    ...{ keep: folder, config: { usage: { retention: HOUR }, models: MODELS } },
  })
  return server
}

const askAs = (gateway: TestServer, { path, streamPath = path, body }: Caller, stream: boolean) =>
  stream ? gateway.ask(streamPath, { ...body, ...STREAMED[path] }) : gateway.ask(path, body)

/** An answer without ids, times and counts, which differ with each request. */
const comparable = (text: string): string =>
  text
    .replace(/"(?:id|item_id|responseId|createTime|previous_response_id)":"[^"]*"/g, '')
    .replace(/"(?:created|created_at|completed_at|obfuscation)":(?:\d+|"[^"]*")/g, '')
    .replace(/"(?:usage|usageMetadata)":\{(?:[^{}]|\{[^{}]*\})*\}/g, '')

async function rows(): Promise<readonly UsageRow[]> {
  await server!.server.close()
  server = undefined
  const store = await openStoreAt(folder)
  const page = await store.usage.rows({ since: 0, until: Date.now() + HOUR, limit: 10 })
  await store.close()
  return page.rows
}

const FORMATS = Object.keys(CALLERS)

describe.each(FORMATS)('a caller of %s', format => {
  const caller = CALLERS[format]!

  test.each([false, true])('gets an answer with pauses as one without (stream: %s)', async stream => {
    const gateway = await open(pausing([BLOCKS]))
    const expected = await askAs(gateway, caller, stream)
    expect(expected.status, expected.text).toBe(200)
    expect(expected.text).toContain('It is so.')
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: BLOCKS.length - 1 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(cuts, async places => {
        const parts = partsAt(places.toSorted((a, b) => a - b))
        upstream.script = pausing(parts)
        upstream.seen.length = 0
        const answer = await askAs(gateway, caller, stream)
        expect(comparable(answer.text)).toBe(comparable(expected.text))
        expect(upstream.seen.length).toBe(parts.length)
        const returned = upstream.seen.map(returnedBlocks)
        expect(returned).toEqual(parts.map((_, index) => parts.slice(0, index).flat()))
      }),
      { numRuns: 10 },
    )
  })

  test.each([false, true])('pays for each part at its own price (stream: %s)', async stream => {
    const gateway = await open(pausing(partsAt([2, 4, 7])))
    const answer = await askAs(gateway, caller, stream)
    expect(answer.text).toMatch(new RegExp(`"(?:prompt_tokens|input_tokens|promptTokenCount)":${4 * INPUT}\\b`))
    expect(await rows()).toMatchObject([{ status: 200, input: 4 * INPUT, output: 4 * OUTPUT, cost: 4 * COST }])
  })
})

test('a caller of messages gets the pause', async () => {
  const gateway = await open(pausing(partsAt([4])))
  const { json: answer } = await gateway.ask(MESSAGES_PATH, MESSAGES_BODY, {
    headers: { 'anthropic-version': '2023-06-01' },
  })
  expect([answer.stop_reason, upstream.seen.length]).toEqual(['pause_turn', 1])
})

test.each([false, true])(
  'a model that pauses for ever is asked a limited number of times (stream: %s)',
  async stream => {
    const gateway = await open((response, seen) =>
      bodyOf(seen).stream === true
        ? events(response).end(streamOf(search(1), 'pause_turn'))
        : json(response, whole(search(1), 'pause_turn')),
    )
    const { text } = await askAs(gateway, CALLERS['chat']!, stream)
    expect(text).toContain('"finish_reason":"stop"')
    expect(upstream.seen.length).toBe(11)
  },
)

test.each([false, true])('an empty answer that pauses is not sent back (stream: %s)', async stream => {
  const gateway = await open((response, seen) =>
    bodyOf(seen).stream === true
      ? events(response).end(streamOf([], 'pause_turn'))
      : json(response, whole([], 'pause_turn')),
  )
  await askAs(gateway, CALLERS['chat']!, stream)
  expect(upstream.seen.length).toBe(1)
})

/** Pauses once, and fails then. */
const failing: Script = (response, seen) => {
  if (returnedBlocks(seen).length > 0)
    return json(response, { type: 'error', error: { type: 'api_error', message: 'Broken.' } }, 500)
  return pausing(partsAt([4]))(response, seen)
}

test('an answer that cannot go on is a failure, and what was billed is paid', async () => {
  const gateway = await open(failing)
  const answer = await askAs(gateway, CALLERS['chat']!, false)
  expect(answer.status).toBe(502)
  expect(await rows()).toMatchObject([{ status: 502, cost: COST }])
})

test('a stream that cannot go on ends with an error, and what was billed is paid', async () => {
  const gateway = await open(failing)
  const answer = await askAs(gateway, CALLERS['chat']!, true)
  expect(answer.text).toContain('"error":')
  expect(answer.text).not.toContain('"finish_reason":"stop"')
  const [row] = await rows()
  expect(row).toMatchObject({ error: 'upstream-failed', output: OUTPUT })
  // The request to go on counts as an estimate of its prompt.
  expect(row!.cost).toBeGreaterThanOrEqual(COST)
  expect(row!.cost).toBeLessThan(1.1 * COST)
})

test.each([false, true])('the request to go on ends when the caller leaves (stream: %s)', async stream => {
  const pending = Promise.withResolvers<void>()
  const gateway = await open((response, seen) => {
    if (returnedBlocks(seen).length === 0) return pausing(partsAt([4]))(response, seen)
    return pending.resolve()
  })
  const { out, answer } = gateway.send(CHAT_PATH, { ...CALLERS['chat']!.body, stream })
  answer.then(message => message.on('error', () => {}).resume()).catch(() => {})
  await pending.promise
  out.destroy()
  await expect.poll(() => upstream.seen[1]?.brokenAt).toBeDefined()
  expect(await rows()).toMatchObject([{ status: 499 }])
})
