import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type LimitStep, MemoryEngine } from '../../src/accounts/limits/engine.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { readConfig } from '../../src/config/read.ts'
import { UsageRecorder } from '../../src/gateway/usage-recorder.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { BILLED_ANSWERS, eventText } from '../builders/billed-answers.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { textOf, VERSION } from '../builders/http.ts'
import { TIMED, until } from '../builders/time.ts'
import { HOUR } from '../builders/units.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/*
 * Whatever the work and however a request ends, the steps of its key's limits leave what its usage row states: its
 * tokens, its cost, one request and no slot.
 */

/** How an upstream or a caller ends a request. */
const ENDINGS = ['whole', 'cut', 'left', 'left-silent', 'failed', 'busy', 'garbled', 'empty', 'timed-out'] as const
type Ending = (typeof ENDINGS)[number]

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const json = (value: JsonObject): readonly [type: string, body: string] => ['application/json', JSON.stringify(value)]
const counted = { input_tokens: 40, output_tokens: 60, total_tokens: 100 }

/** Answers of upstreams that count no text, by format. */
const ANSWERS: { readonly [format: string]: () => readonly [type: string, body: string | Buffer] } = {
  images: () => json({ created: 1, data: [{ b64_json: PIXEL }], usage: counted }),
  speech: () => ['audio/mpeg', Buffer.alloc(4000, 1)],
  transcriptions: () => json({ text: 'Hello', usage: { type: 'duration', seconds: 30 } }),
  rerank: () =>
    json({ id: 'r', results: [{ index: 0, relevance_score: 0.5 }], meta: { billed_units: { search_units: 3 } } }),
  videos: () => json({ id: 'video_1', object: 'video', model: 'up', status: 'queued', created_at: 1, seconds: '4' }),
  embeddings: () => json(BILLED_ANSWERS['embeddings']!.whole(70, 0)),
}

const FORM = 'X-BOUNDARY'
const FORM_HEADERS = { 'content-type': `multipart/form-data; boundary=${FORM}` }
const form = (format: string): string =>
  `${[
    ['name="model"', 'm'],
    ['name="response_format"', format],
    ['name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg', 'ID3'],
  ]
    .map(([head, text]) => `--${FORM}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${text}\r\n`)
    .join('')}--${FORM}--\r\n`

type Sent = readonly [path: string, body: JsonObject | string, headers?: { readonly [name: string]: string }]

const asked = [{ role: 'user', content: 'Hi.' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi.' }] }]
const CONVERSATIONS: readonly Sent[] = [
  ['/v1/chat/completions', { model: 'm', messages: asked, stream: true }],
  ['/v1/messages', { model: 'm', messages: asked, max_tokens: 99 }, VERSION],
  ['/v1beta/models/m:generateContent', { contents }],
  ['/v1beta/models/m:streamGenerateContent?alt=sse', { contents }],
  ['/v1beta/interactions', { model: 'm', input: 'Hi.' }],
  ['/v1/responses', { model: 'm', input: 'Hi.', stream: true }],
]
const DRAWN: Sent = ['/v1/images/generations', { model: 'm', prompt: 'Hi.', response_format: 'b64_json' }]

/** Requests by the format of the upstream that answers them. */
const REQUESTS: { readonly [format: string]: readonly Sent[] } = {
  chat: [...CONVERSATIONS, ['/v1/audio/transcriptions', form('json'), FORM_HEADERS]],
  contents: [...CONVERSATIONS.slice(0, 4), DRAWN],
  images: [DRAWN, ['/v1/images/generations', { ...(DRAWN[1] as JsonObject), n: 2 }]],
  speech: [['/v1/audio/speech', { model: 'm', input: 'Hi.', voice: 'alloy' }]],
  transcriptions: ['json', 'text', 'srt'].map(
    (format): Sent => ['/v1/audio/transcriptions', form(format), FORM_HEADERS],
  ),
  rerank: [['/v2/rerank', { model: 'm', query: 'Hi.', documents: ['Hi.'] }]],
  embeddings: [
    ['/v1/embeddings', { model: 'm', input: ['Hi.', 'Ho.'] }],
    ['/v2/rerank', { model: 'm', query: 'Hi.', documents: ['Hi.'] }],
  ],
  videos: [['/v1/videos', { model: 'm', prompt: 'Hi.', seconds: '4' }]],
}

const { models } = readConfig(
  'channels: []\nmodels: { m: { price: { input: 3, output: 15, search: 10, minute: 6 } } }',
  {},
)

let folder: string
let upstream: FakeUpstream
let server: TestServer
let ending: Ending
let arrived: number
let rows: UsageRow[]
/** What the steps of the key's limits took and did not give back. */
let taken: { requests: number; tokens: number; cost: number; slots: Set<string> }

const answerOf = (format: string, text: string, url: string): readonly [type: string, body: string | Buffer] => {
  const answers = ANSWERS[format]
  if (answers !== undefined) return answers()
  const { whole, stream } = BILLED_ANSWERS[format]!
  const isStream = url.includes('stream') || (text.startsWith('{') && JSON.parse(text).stream === true)
  if (!isStream) return json(whole(40, 60))
  return ['text/event-stream', stream!(40, 60).map(eventText).join('')]
}

const script =
  (format: string): Script =>
  (response, { text, url }) => {
    arrived++
    const [type, body] = answerOf(format, text, url)
    if (ending === 'left-silent' || ending === 'timed-out') return undefined
    response.setHeader('content-type', ending === 'failed' || ending === 'busy' ? 'application/json' : type)
    if (ending === 'failed' || ending === 'busy')
      return response.writeHead(ending === 'busy' ? 429 : 500).end('{"error":{"message":"No."}}')
    if (ending === 'empty') return response.end()
    if (ending === 'garbled') return response.end(body.slice(0, 20))
    if (ending === 'whole') return response.end(body)
    response.write(body.slice(0, -30))
    return ending === 'cut' ? setImmediate(() => response.destroy()) : undefined
  }

const applied = ({ requests, tokens, cost, enter, leave }: LimitStep): void => {
  taken.requests += requests
  taken.tokens += tokens
  taken.cost += cost
  if (enter !== undefined) taken.slots.add(enter)
  if (leave !== undefined) taken.slots.delete(leave)
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'accounting-steps-'))
  rows = []
  const { step } = MemoryEngine.prototype
  vi.spyOn(MemoryEngine.prototype, 'step').mockImplementation(function (this: MemoryEngine, one, now) {
    const state = step.call(this, one, now)
    if (state.refused === undefined && state.unknown === undefined) applied(one)
    return state
  })
  const { take } = UsageRecorder.prototype
  vi.spyOn(UsageRecorder.prototype, 'take').mockImplementation(function (this: UsageRecorder, row) {
    rows.push(row)
    take.call(this, row)
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server.server.close(0)
  await upstream.close()
  rmSync(folder, { recursive: true })
})

async function send([path, body, headers = {}]: Sent): Promise<void> {
  const before = arrived
  const { out, answer } = server.send(path, body, { headers })
  out.on('error', () => {})
  if (ending.startsWith('left')) {
    await until(() => arrived > before || rows.length > 0)
    if (ending === 'left' && (path.includes('stream') || (typeof body === 'object' && body['stream'] === true))) {
      const head = await answer.catch(() => undefined)
      await new Promise(resolve => head?.on('error', resolve).on('end', resolve).once('data', resolve) ?? resolve(0))
    }
    out.destroy()
    await answer.catch(() => {})
  } else await textOf(await answer).catch(() => {})
  await until(() => rows.length > 0)
}

test.each(Object.keys(REQUESTS))(
  'the steps of requests to upstreams of %s leave what their rows state',
  TIMED,
  async format => {
    upstream = await FakeUpstream.open(script(format))
    const channel = channelAt(upstream.address, { format, timeout: { connect: 1000, firstByte: 60, idle: 1000 } })
    server = await TestServer.open([channel], {
      ...{ keep: folder, group: { budget: { day: 1e6, month: 1e6 }, tpm: 1e9, rpm: 1e6, concurrent: 1 } },
      config: {
        models,
        usage: { retention: HOUR },
        tasks: { poll: 0, retention: HOUR, limit: 2 ** 20, vendorPath: 'v' },
      },
    })
    const found: object[] = []
    const expected: object[] = []
    for (ending of ENDINGS)
      for (const sent of REQUESTS[format]!) {
        arrived = 0
        taken = { requests: 0, tokens: 0, cost: 0, slots: new Set() }
        rows = []
        await send(sent)
        await until(() => taken.slots.size === 0)
        const row = rows[0]!
        const about = { path: sent[0], ending, status: row.status, rows: 1 }
        const hasTokens = row.input !== undefined || row.output !== undefined
        // A row that is billed by other units, also for a caller that left, has no tokens.
        const hasUnits = !hasTokens && (row.status < 400 || (row.cost ?? 0) > 0)
        const tokens = hasUnits ? taken.tokens : Math.ceil((row.input ?? 0) + (row.output ?? 0))
        found.push({ ...about, rows: rows.length, requests: taken.requests, tokens: taken.tokens, cost: taken.cost })
        expected.push({ ...about, requests: 1, tokens, cost: row.cost })
      }
    expect(found).toEqual(expected)
  },
)
