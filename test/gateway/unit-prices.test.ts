import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MemoryEngine } from '../../src/accounts/limits/engine.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { hashOf } from '../../src/config/hash.ts'
import { readConfig } from '../../src/config/read.ts'
import type { Budget, ModelFacts } from '../../src/config/types.ts'
import { UsageRecorder } from '../../src/gateway/usage-recorder.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/*
 * Images, speech, recordings, rankings and videos that their upstream does not bill by tokens cost a price per image,
 * per character, per second or per search. Row and budget state the same, and a budget refuses what exceeds it.
 */

const MODELS = `
channels: []
models:
  paints: { price: { image: 0.04 } }
  both: { price: { input: 5, output: 40, image: 0.04 } }
  speaks: { price: { characters: 15 } }
  films: { price: { video_second: 0.1 } }
  hears: { price: { minute: 0.006 } }
  listens: { price: { input: 2.5, output: 10 } }
  ranks: { price: { search: 2 } }
  embeds: { price: { input: 0.1 } }`
const { models } = readConfig(MODELS, {}) as { readonly models: ReadonlyMap<string, ModelFacts> }

/** Nanodollars of an image, of a character, of a second of a video and of a recording, and of a search. */
const [IMAGE, CHARACTER, SECOND, HEARD, SEARCH] = [40_000_000, 15_000, 100_000_000, 100_000, 2_000_000]
const PNG = 'iVBORw0KGgo='

let upstream: FakeUpstream
let server: TestServer
let rows: UsageRow[]
let folder: string
let engine: MemoryEngine | undefined

beforeEach(() => {
  rows = []
  folder = mkdtempSync(join(tmpdir(), 'interlingua-prices-'))
  engine = undefined
  vi.spyOn(UsageRecorder.prototype, 'take').mockImplementation(row => void rows.push(row))
  const { step } = MemoryEngine.prototype
  vi.spyOn(MemoryEngine.prototype, 'step').mockImplementation(function (this: MemoryEngine, ...args) {
    engine = this
    return step.apply(this, args)
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server.server.close(0)
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

async function open(
  format: string,
  script: Script,
  budget: Budget = { day: 1e6 },
  dialect: JsonObject = {},
  upstreamModel?: string,
): Promise<void> {
  upstream = await FakeUpstream.open(script)
  const named = new Map([...models.keys()].map(name => [name, upstreamModel ?? name]))
  const channel = channelAt(upstream.address, { format, dialect, models: { named, patterns: [] } })
  server = await TestServer.open([channel], { group: { budget }, config: { models }, keep: folder })
}

const spent = (): number | undefined => engine!.spent(hashOf(KEY).slice(0, 32), { day: 1, month: undefined })?.day

/** Waits for the next row. Checks that the budget of the key was charged its cost. */
async function nextCost(): Promise<number | undefined> {
  await until(() => rows.length > 0)
  const { cost } = rows.shift()!
  expect(spent()).toBe(cost)
  return cost
}

const json =
  (body: JsonObject, status = 200): Script =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }

const imagesOf = (count: number, usage?: JsonObject): JsonObject => ({
  ...{ created: 1, data: Array.from({ length: count }, () => ({ b64_json: PNG })) },
  ...(usage && { usage }),
})

describe('images', () => {
  const ZERO = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
  const COUNTED = { input_tokens: 10, output_tokens: 100, total_tokens: 110 }

  test.each<[string, number, JsonObject | undefined, number]>([
    ['paints', 1, undefined, IMAGE],
    ['paints', 3, undefined, 3 * IMAGE],
    ['paints', 2, ZERO, 2 * IMAGE],
    ['paints', 2, COUNTED, 2 * IMAGE],
    ['both', 2, COUNTED, 10 * 5000 + 100 * 40_000],
    ['both', 2, ZERO, 2 * IMAGE],
    ['both', 2, undefined, 2 * IMAGE],
  ])('of %s: %d with usage %j', async (model, n, usage, cost) => {
    await open('images', json(imagesOf(n, usage)))
    const { status } = await server.ask('/v1/images/generations', { model, prompt: 'A cat.', n })
    expect(status).toBe(200)
    expect(await nextCost()).toBe(cost)
  })

  test('cost what the upstream made, not what was requested', async () => {
    await open('images', json(imagesOf(1)))
    await server.ask('/v1/images/generations', { model: 'paints', prompt: 'A cat.', n: 4 })
    expect(await nextCost()).toBe(IMAGE)
  })

  test('of a stream cost each completed one', async () => {
    await open('images', response => {
      response.setHeader('content-type', 'text/event-stream')
      for (const type of ['partial_image', 'completed', 'partial_image', 'completed'])
        response.write(
          `event: image_generation.${type}\ndata: ${JSON.stringify({ type: `image_generation.${type}`, b64_json: PNG, partial_image_index: 0 })}\n\n`,
        )
      return response.end()
    })
    const body = { model: 'paints', prompt: 'A cat.', n: 2, stream: true, partial_images: 1 }
    const { text } = await server.ask('/v1/images/generations', body)
    expect(text.match(/\.completed"/g)).toHaveLength(2)
    expect(await nextCost()).toBe(2 * IMAGE)
  })

  test('made one by one cost those that succeeded, although one failed', async () => {
    let count = 0
    const drawing: JsonObject = {
      candidates: [
        { content: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] }, finishReason: 'STOP' },
      ],
    }
    await open('contents', (...args) => {
      const script = ++count === 3 ? json({ error: { code: 400, message: 'No.' } }, 400) : json(drawing)
      setTimeout(() => script(...args), count === 3 ? 100 : 0)
      return undefined
    })
    const { status } = await server.ask('/v1/images/generations', { model: 'paints', prompt: 'A cat.', n: 3 })
    expect(status).toBe(400)
    expect(await nextCost()).toBe(2 * IMAGE)
  })

  test('that failed cost nothing', async () => {
    await open('images', json({ error: { message: 'No.', type: 'invalid_request_error' } }, 400))
    expect((await server.ask('/v1/images/generations', { model: 'paints', prompt: 'A cat.' })).status).toBe(400)
    expect(await nextCost()).toBe(0)
  })

  test('are refused once the budget does not cover them', async () => {
    await open('images', json(imagesOf(2)), { day: 0.1, unknown: 'refuse' })
    const ask = () => server.ask('/v1/images/generations', { model: 'paints', prompt: 'A cat.', n: 2 })
    expect((await ask()).status).toBe(200)
    await until(() => rows.length === 1)
    expect((await ask()).status).toBe(429)
    expect(rows[0]!.cost).toBe(2 * IMAGE)
  })
})

describe('speech', () => {
  const speaking: Script = response => {
    response.setHeader('content-type', 'audio/mpeg')
    response.end(Buffer.from([0xff, 0xfb, 0x90, 0, 1, 2, 3, 4]))
  }

  test('costs its characters', async () => {
    await open('speech', speaking, { day: 1, unknown: 'refuse' })
    const { status } = await server.ask('/v1/audio/speech', { model: 'speaks', input: 'Größe 😀', voice: 'alloy' })
    expect(status).toBe(200)
    expect(await nextCost()).toBe(7 * CHARACTER)
  })

  test('is refused if the budget does not cover it', async () => {
    await open('speech', speaking, { day: 0.001 })
    const { status } = await server.ask('/v1/audio/speech', { model: 'speaks', input: 'x'.repeat(100), voice: 'alloy' })
    expect(status).toBe(429)
  })
})

describe('a transcript', () => {
  const words = [{ text: 'Hi.', type: 'word', start: 3599, end: 3600 }]
  const spoken = { transcript: 'Hi.', words: [{ word: 'hi', start: 3599, end: 3600 }] }
  const results = { channels: [{ alternatives: [spoken] }] }
  const ask = (model: string, fields: readonly string[] = [], file = 'abc') => {
    const parts = [`name="model"\r\n\r\n${model}`, `name="file"; filename="a.mp3"\r\n\r\n${file}`, ...fields]
    const text = `${parts.map(part => `--b\r\ncontent-disposition: form-data; ${part}\r\n`).join('')}--b--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    return server.ask('/v1/audio/transcriptions', text, { headers })
  }

  const VERBOSE = ['name="response_format"\r\n\r\nverbose_json']
  test.each<[string, readonly string[], JsonObject]>([
    ['deepgram', [], { metadata: { duration: 3600 }, results }],
    ['deepgram', VERBOSE, { metadata: { duration: 3600 }, results }],
    ['deepgram', [], { results }],
    ['elevenlabs', [], { text: 'Hi.', audio_duration_secs: 3600, words }],
    ['elevenlabs', VERBOSE, { text: 'Hi.', audio_duration_secs: 3600, words }],
    ['elevenlabs', [], { text: 'Hi.', words }],
  ])('of %s with the fields %j costs the length of its recording', async (format, fields, answer) => {
    await open(format, json(answer), { day: 1, unknown: 'refuse' })
    const { status, json: body } = await ask('hears', fields)
    expect([status, body.text, body.duration]).toEqual([200, 'Hi.', 3600])
    expect(await nextCost()).toBe(3600 * HEARD)
  })

  test.each([
    ['a voice message', 'x'.repeat(160_000), 10],
    ['ten minutes that are sent on while they arrive', 'x'.repeat(9_600_000), 600],
  ])('of %s whose length nobody states costs an estimate from the size of its file', async (_, file, seconds) => {
    // Groq and whisper.cpp state the text alone.
    await open('transcriptions', json({ text: 'Hi.' }), { day: 1, unknown: 'refuse' })
    expect((await ask('hears', [], file)).status).toBe(200)
    await until(() => rows.length > 0)
    expect(rows[0]!.estimated).toBe(true)
    const cost = (await nextCost())!
    expect(cost / HEARD / seconds).toBeCloseTo(1, 3)
  })

  test.each([
    ['tokens', 'hears', { type: 'tokens', input_tokens: 50, output_tokens: 5, total_tokens: 55 }],
    ['seconds', 'listens', { type: 'duration', seconds: 30 }],
    ['no tokens', 'listens', { type: 'tokens', input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
  ])('that is counted in %s, which have no price, costs an estimate', async (_, model, usage) => {
    await open('transcriptions', json({ text: 'Hi.', usage }), { day: 1, unknown: 'refuse' })
    expect((await ask(model)).status).toBe(200)
    await until(() => rows.length > 0)
    expect(rows[0]!.estimated).toBe(true)
    expect(await nextCost()).toBeGreaterThan(0)
  })
})

describe('a ranking', () => {
  const results = [{ index: 0, relevance_score: 0.5 }]

  test.each<[string, number, JsonObject, number]>([
    ['one search for up to 100 documents', 100, {}, 1],
    ['one search for each 100 documents', 101, {}, 2],
    ['the searches that the upstream counts', 1, { meta: { billed_units: { search_units: 3 } } }, 3],
    [
      'searches, also beside tokens',
      1,
      { meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: 9 } } },
      1,
    ],
    ['searches where tokens are counted', 1, { usage: { total_tokens: 9 } }, 1],
    ['searches where none are counted', 1, { meta: { billed_units: { search_units: 0, input_tokens: 0 } } }, 1],
  ])('costs %s', async (_, documents, answer, searches) => {
    await open('rerank', json({ id: 'r', results, ...answer }), { day: 1, unknown: 'refuse' })
    const body = { model: 'ranks', query: 'A?', documents: Array.from({ length: documents }, () => 'A.') }
    expect((await server.ask('/v1/rerank', body)).status).toBe(200)
    expect(await nextCost()).toBe(searches * SEARCH)
  })

  test('is refused if the budget does not cover its searches', async () => {
    await open('rerank', json({ id: 'r', results }), { day: 0.001 })
    const { status } = await server.ask('/v1/rerank', { model: 'ranks', query: 'A?', documents: ['A.'] })
    expect(status).toBe(429)
  })
})

test.each<[string, string, JsonObject]>([
  ['embeddings', 'prompt_tokens', { data: [{ index: 0, embedding: [0.5] }] }],
  ['rerank', 'total_tokens', { results: [{ index: 0, relevance_score: 0.5 }] }],
])('tokens of %s that are counted as zero cost an estimate', async (format, field, answer) => {
  await open(format, json({ ...answer, usage: { [field]: 0 } }))
  const body = format === 'rerank' ? { query: 'A?', documents: ['A cat and a dog.'] } : { input: 'A cat and a dog.' }
  expect((await server.ask(`/v1/${format}`, { model: 'embeds', ...body })).status).toBe(200)
  expect(await nextCost()).toBeGreaterThan(0)
})

test('tokens of batches that are counted as zero cost an estimate', async () => {
  const vectors = { data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 0, total_tokens: 0 } }
  await open('embeddings', json(vectors), undefined, { batch: 1 })
  expect((await server.ask('/v1/embeddings', { model: 'embeds', input: ['A cat.', 'A dog.'] })).status).toBe(200)
  expect(await nextCost()).toBeGreaterThan(0)
})

describe('a video', () => {
  const task = (fields: JsonObject = {}): Script =>
    json({ id: 'task_1', object: 'video', status: 'queued', model: 'films', created_at: 1, ...fields })

  test.each<[string, JsonObject, JsonObject, number]>([
    ['of the requested length', { seconds: '12' }, {}, 12],
    ['of the length that the upstream states', { seconds: '5' }, { seconds: '4' }, 4],
    ['of unknown length', {}, {}, 8],
    [
      'that fails at once',
      { seconds: '4' },
      { status: 'failed', error: { code: 'moderation_blocked', message: 'No.' } },
      0,
    ],
  ])('%s', async (_, fields, answer, seconds) => {
    await open('videos', task(answer), { day: 1e6, unknown: 'refuse' })
    const { status } = await server.ask('/v1/videos', { model: 'films', prompt: 'A cat.', ...fields })
    expect(status).toBe(200)
    expect(await nextCost()).toBe(seconds * SECOND)
  })

  test.each(['videos', 'veo'])(
    'of several that are requested of %s costs the one that callers can fetch',
    async format => {
      await open(format, format === 'veo' ? json({ name: 'models/films/operations/task_1' }) : task())
      const { status } = await server.ask('/v1/video/generations', {
        model: 'films',
        prompt: 'A cat.',
        duration: 4,
        n: 3,
      })
      expect(status).toBe(200)
      expect(await nextCost()).toBe(4 * SECOND)
    },
  )

  test('costs the length that the upstream makes, if it is not the requested one', async () => {
    await open('veo', json({ name: 'models/veo/operations/task_1' }), undefined, {}, 'veo-3.1-generate-preview')
    const { status, json: video } = await server.ask('/v1/videos', { model: 'films', prompt: 'A cat.', seconds: '12' })
    expect([status, video.seconds, await nextCost()]).toEqual([200, '8', 8 * SECOND])
  })

  test('is refused once the budget does not cover it, also if many are ordered at once', async () => {
    await open('videos', task(), { day: 2 })
    const order = () => server.ask('/v1/videos', { model: 'films', prompt: 'A cat.', seconds: '8' })
    const answers = await Promise.all(Array.from({ length: 6 }, order))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429, 429])
    await until(() => rows.length === 6)
    expect(spent()).toBe(16 * SECOND)
  })

  test.each([{ seconds: '12' }, {}])('that is a remix costs the length of its original: %j', async answer => {
    let count = 0
    await open('videos', (...args) => task({ id: `task_${++count}`, status: 'completed', ...answer })(...args), {
      ...{ day: 5, unknown: 'refuse' },
    })
    const order = { model: 'films', prompt: 'A cat.', seconds: '12' }
    const { id } = (await server.ask('/v1/videos', order)).json
    const remix = () => server.ask(`/v1/videos/${id}/remix`, { prompt: 'A dog.' })
    const answers = await Promise.all(Array.from({ length: 6 }, remix))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429])
    await until(() => rows.length === 7)
    expect(rows.map(({ model }) => model)).toEqual(Array.from({ length: 7 }, () => 'films'))
    expect(spent()).toBe(48 * SECOND)
  })

  test('costs nothing again if its submission is repeated', async () => {
    await open('videos', task())
    const order = () =>
      server.ask('/v1/videos', { model: 'films', prompt: 'A.', seconds: '4' }, { headers: { 'idempotency-key': 'k' } })
    expect([(await order()).status, (await order()).status]).toEqual([200, 200])
    await until(() => rows.length === 2)
    expect(rows.map(({ cost }) => cost)).toEqual([4 * SECOND, 0])
  })
})
