import { afterEach, describe, expect, test } from 'vitest'
import type { ChannelConfig, ModelFacts } from '../../src/config/index.ts'
import { AdminServer } from '../builders/admin.ts'
import { ASK, events, HEAD, hello, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { until } from '../builders/time.ts'
import { DAY } from '../builders/units.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/* Answers that their upstream did not count to the end. */

/** Prices: a thousandth of a dollar per token of the prompt, two thousandths per token of the answer. */
const PRICED: ModelFacts = { id: 'm', input: ['text'], output: ['text'], price: { input: 1000, output: 2000 } }
const MESSAGES_START = `event: message_start\ndata: ${JSON.stringify({
  type: 'message_start',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
    usage: { input_tokens: 300, cache_read_input_tokens: 200, output_tokens: 1 },
  },
})}\n\n`
const block = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, index: 0, ...more })}\n\n`
const thinking = (text: string): string =>
  block('content_block_start', { content_block: { type: 'thinking', thinking: '', signature: '' } }) +
  block('content_block_delta', { delta: { type: 'thinking_delta', thinking: text } })

describe('trap 120: a stream that is cancelled or cut', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  async function open(
    script: Script,
    { budget = 100, format = 'chat' as ChannelConfig['formats'][number]['format'], models = [PRICED] } = {},
  ) {
    const upstream = await FakeUpstream.open(script)
    closing.push(() => upstream.close())
    const admin = await AdminServer.open(
      [channelAt(upstream.address, { format })],
      {
        ...{ usage: { retention: 90 * DAY }, models: new Map(models.map(one => [one.id, one])) },
      },
      { group: { budget: { day: budget } } },
    )
    closing.push(() => admin.close())
    return admin
  }

  /** Returns the rows of the first requests, as administrators see them. */
  async function rowsOf(admin: AdminServer, count: number) {
    let rows: { readonly [field: string]: unknown }[] = []
    for (let tries = 0; rows.length < count && tries < 100; tries++) {
      rows = (await admin.get('/requests')).json.data
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    return rows
  }

  /** Requests a stream and leaves as soon as this number of characters has arrived. */
  async function leave(admin: AdminServer, length: number, body: object = STREAM): Promise<void> {
    const { out, answer } = admin.testServer.send(CHAT_PATH, body)
    let text = ''
    ;(await answer).setEncoding('utf8').on('data', piece => (text += piece))
    await until(() => text.length >= length)
    out.destroy()
  }

  const forever: Script = response => void events(response).write(HEAD + words('word '.repeat(80)))

  test('by its caller costs its input and what was written, marked as an estimate, and failed nowhere', async () => {
    const admin = await open(forever)
    await leave(admin, 400)
    const [row] = await rowsOf(admin, 1)
    expect(row).toMatchObject({ status: 499, estimated: true, output_tokens: 100 })
    const input = row!['input_tokens'] as number
    expect(input).toBeGreaterThan(2)
    expect(input).toBeLessThan(50)
    expect(row!['cost']).toBeCloseTo(input / 1000 + 0.2, 9)
    for (const query of ['', '&every=minute', '&exact']) {
      const [sum] = (await admin.get(`/usage?since=2h${query}`)).json.data
      expect(sum).toMatchObject({ requests: 1, errors: 0, cancelled: 1, estimated: 1, unpriced: 0 })
      expect(sum.cost).toBeCloseTo(row!['cost'] as number, 9)
    }
    expect((await admin.get('/requests?only=errors')).json.data).toEqual([])
  })

  test('settles what was reserved to the same figures, in limits as after a restart', async () => {
    const admin = await open(
      (response, seen) => (JSON.parse(seen.text).stream === true ? forever(response, seen) : hello(response, seen)),
      { budget: 1 },
    )
    const short = { ...ASK, max_tokens: 5 }
    await leave(admin, 400, { ...STREAM, max_tokens: 200 })
    const [row] = await rowsOf(admin, 1)
    const spent = row!['cost'] as number
    const day = await admin.store.usage.spent(row!['key'] as string, Date.now())
    expect(day.day / 1e9).toBeCloseTo(spent, 9)
    // The remaining budget is known exactly. Each request costs 0.009, and is expected to cost 0.01 and its input.
    let answered = 0
    while ((await admin.testServer.ask(CHAT_PATH, short)).status === 200) answered++
    const left = 1 - spent
    const reserved = (row!['input_tokens'] as number) / 1000 + 0.01
    expect(answered).toBeGreaterThanOrEqual(Math.floor((left - reserved) / 0.009))
    expect(answered).toBeLessThanOrEqual(Math.ceil(left / 0.009))
  })

  test('keeps what its upstream said, and estimates what came after that, reasoning included', async () => {
    const admin = await open(response => void events(response).write(MESSAGES_START + thinking('hmmm'.repeat(50))), {
      format: 'messages',
    })
    const { out, answer } = admin.testServer.send(
      '/v1/messages',
      {
        ...{ model: 'm', max_tokens: 2000, stream: true, messages: ASK.messages },
        thinking: { type: 'enabled', budget_tokens: 1024 },
      },
      VERSION_HEADERS,
    )
    let text = ''
    ;(await answer).setEncoding('utf8').on('data', piece => (text += piece))
    await until(() => text.includes('hmmm'))
    out.destroy()
    const [row] = await rowsOf(admin, 1)
    const counts = { input_tokens: 500, cache_read_tokens: 200, output_tokens: 51 }
    expect(row).toMatchObject({ status: 499, estimated: true, ...counts })
    expect(row!['cost']).toBeCloseTo(0.5 + 0.102, 9)
  })

  test('by its upstream is a failure with an estimate', async () => {
    const admin = await open(response => {
      events(response).write(HEAD + words('word '.repeat(80)))
      setTimeout(() => response.destroy(), 50)
    })
    await admin.testServer.ask(CHAT_PATH, STREAM)
    const [row] = await rowsOf(admin, 1)
    expect(row).toMatchObject({ status: 200, estimated: true, output_tokens: 100 })
    expect(row!['error']).toBeDefined()
    expect((await admin.get('/requests?only=errors')).json.data).toHaveLength(1)
  })

  test('of a model without a price has tokens and no cost, which is never nothing', async () => {
    const admin = await open(forever, { models: [] })
    await leave(admin, 400)
    const [row] = await rowsOf(admin, 1)
    expect(row).toMatchObject({ estimated: true, output_tokens: 100 })
    expect(row).not.toHaveProperty('cost')
    expect((await admin.get('/usage?since=2h')).json.data[0]).toMatchObject({ cost: 0, unpriced: 1 })
  })

  test('an answer that ends well without a count is estimated, too; one with a count is not', async () => {
    const admin = await open((response, { text }) => {
      if (JSON.parse(text).stream !== true) hello(response, { text } as never)
      else events(response).end(HEAD + words('word '.repeat(8)) + TAIL)
    })
    await admin.testServer.ask(CHAT_PATH, STREAM)
    await admin.testServer.ask(CHAT_PATH, ASK)
    const [whole, streamed] = await rowsOf(admin, 2)
    expect(streamed).toMatchObject({ status: 200, estimated: true, output_tokens: 10 })
    expect(whole).toMatchObject({ input_tokens: 5, output_tokens: 2 })
    expect(whole).not.toHaveProperty('estimated')
  })

  test('a whole answer that its caller does not wait for counts as expected', async () => {
    const admin = await open(response => void setTimeout(() => response.destroyed || json(response, {}), 2000))
    const { out, answer } = admin.testServer.send(CHAT_PATH, { ...ASK, max_tokens: 40 })
    answer.catch(() => {})
    await until(() => out.writableFinished)
    await new Promise(resolve => setTimeout(resolve, 200))
    out.destroy()
    const [row] = await rowsOf(admin, 1)
    expect(row).toMatchObject({ status: 499, estimated: true, output_tokens: 40 })
  })
})
