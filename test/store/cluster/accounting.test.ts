import { request } from 'node:http'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { expect, test } from 'vitest'
import { hashOf } from '../../../src/config/hash.ts'
import { openStore } from '../../../src/store/store.ts'
import { BILLED_ANSWERS, eventText } from '../../builders/billed-answers.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { textOf } from '../../builders/http.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { SERVING_KEY, Serving } from '../../builders/serving.ts'
import { pause, TIMED, until } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

/** Nanodollars that 40 tokens of input and 5000 of output cost, much more than requests reserve. */
const COST = 40 * 3000 + 5000 * 15_000
/** Models by the way in which their upstream answers. */
const MODELS = ['whole', 'cut', 'failed', 'held']
const METRICS_KEY = 'metrics-key'
const LIMITS = `interlingua:limits:{${hashOf(SERVING_KEY).slice(0, 32)}}`

describeWithRedis('two workers that count in Redis', () => {
  const closing = closingAfterEach()

  async function open() {
    const redis = await RedisServer.open()
    closing.push(() => redis.close())
    const upstream = await FakeUpstream.open((response, { text }) => {
      const { model, stream } = JSON.parse(text)
      const isStream = stream === true && model !== 'failed'
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
      if (model === 'failed') return response.writeHead(400).end('{"error":{"message":"No."}}')
      const { whole, stream: streamed } = BILLED_ANSWERS['chat']!
      const pieces = isStream ? streamed!(40, 5000).map(eventText) : [JSON.stringify(whole(40, 5000))]
      if (model === 'whole') return response.end(pieces.join(''))
      response.write(isStream ? pieces[0]! : pieces[0]!.slice(0, 20))
      return model === 'cut' ? setImmediate(() => response.destroy()) : undefined
    })
    closing.push(() => upstream.close())
    const serving = await Serving.start({
      server: { port: 0, drain: '0s', grace: '1s', workers: 2 },
      data_dir: 'data',
      redis: redis.url,
      usage: { keep: '10d' },
      metrics: { key: METRICS_KEY },
      groups: { default: { models: ['*'], budget: { day: 1000, month: 1000 }, tpm: 1e9, concurrent: 50 } },
      keys: [{ name: 'dev', key: SERVING_KEY, group: 'default' }],
      models: Object.fromEntries(MODELS.map(name => [name, { price: { input: 3, output: 15 } }])),
      channels: [
        {
          ...{ name: 'up', provider: 'custom', formats: ['chat'], key: 'upstream-key', models: MODELS },
          base_url: `${upstream.address}/v1`,
        },
      ],
    })
    closing.push(() => serving.close())
    await until(() => serving.workers.length === 2)
    const client = createClient({ url: redis.url }).on('error', () => {})
    await client.connect()
    closing.push(() => client.destroy())
    return { serving, upstream, client, redis }
  }

  /** Sends a request over its own connection. Leaves it after the first bytes of a stream that is held. */
  function send(serving: Serving, model: string, stream: boolean): Promise<void> {
    const body = JSON.stringify({ model, stream, max_tokens: 200, messages: [{ role: 'user', content: 'Hi.' }] })
    const headers = { authorization: `Bearer ${SERVING_KEY}`, 'content-length': Buffer.byteLength(body) }
    return new Promise(resolve => {
      const out = request(`${serving.address}/v1/chat/completions`, { method: 'POST', agent: false, headers })
      out
        .on('error', () => resolve())
        .on('response', answer => {
          if (model === 'held') answer.on('error', () => {}).once('data', () => out.destroy())
          else
            void textOf(answer).then(
              () => resolve(),
              () => resolve(),
            )
        })
      out.on('close', resolve)
      out.end(body)
    })
  }

  test.each(['stays', 'is silent for two seconds'])(
    'state the same in rows, sums, metrics and the budget, and hold no slot, if Redis %s',
    TIMED,
    async how => {
      const { serving, client, redis } = await open()
      const requests = Array.from(
        { length: 48 },
        (_, index) => [MODELS[index % 4]!, index % 4 === 3 || index % 8 < 4] as const,
      )
      const all = (some: typeof requests) => Promise.all(some.map(([model, stream]) => send(serving, model, stream)))
      await all(requests.slice(0, 16))
      const sending = all(requests.slice(16, 32))
      if (how === 'is silent for two seconds') {
        redis.pause()
        setTimeout(() => redis.resume(), 2000)
      }
      await sending
      await all(requests.slice(32, 40))
      await all(requests.slice(40))
      await until(() => serving.lines('request').length === requests.length)
      const head = { headers: { authorization: `Bearer ${METRICS_KEY}` } }
      const page = await (await fetch(`${serving.address}/metrics`, head)).text()
      const metrics = [...page.matchAll(/^interlingua_cost_dollars_total\{.*\} (\S+)$/gm)]
      const dollars = metrics.reduce((total, [, one]) => total + Number(one), 0)
      const spent = async () => Number(await client.hGet(LIMITS, 'd'))
      for (let tries = 0; tries < 50 && (await spent()) !== Math.round(dollars * 1e9); tries++) {
        // What Redis counted of steps that it did not answer is unknown. The rows raise it later.
        if (how === 'is silent for two seconds' && tries > 20) break
        await pause(100)
      }
      expect(await serving.stop()).toBe(0)
      const store = await openStore({ engine: 'sqlite', path: join(serving.dir, 'data', 'interlingua.sqlite') })
      closing.push(() => store.close())
      const period = { since: 0, until: 4e12 }
      const { rows } = await store.usage.rows({ ...period, limit: 1000 })
      const [sum] = await store.usage.sums({ ...period, by: [], limit: 1 })
      const cost = rows.reduce((total, row) => total + row.cost!, 0)
      expect(rows.length).toBe(requests.length)
      expect(rows.filter(({ model }) => model === 'whole').map(row => row.cost)).toEqual(Array(12).fill(COST))
      const { d, m } = await client.hGetAll(LIMITS)
      if (how === 'is silent for two seconds') {
        expect([Number(d) <= cost, Number(m) <= cost, sum!.cost]).toEqual([true, true, cost])
        return
      }
      expect({
        ...{ sum: sum!.cost, day: Number(d), month: Number(m), slots: await client.zCard(`${LIMITS}:places`) },
        metrics: Math.round(dollars * 1e9),
      }).toEqual({ sum: cost, day: cost, month: cost, slots: 0, metrics: cost })
    },
  )
})
