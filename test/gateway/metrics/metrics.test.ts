import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Metrics, merge } from '../../../src/gateway/metrics/index.ts'
import type { UsageRow } from '../../../src/store/usage/row.ts'
import { channelAt, configOf } from '../../builders/config.ts'

const CONFIG = configOf([channelAt('http://127.0.0.1:1', { name: 'one', provider: 'openai' })])

const ROW: UsageRow = {
  ...{ id: 'req_1', at: 0, door: '/v1/chat/completions', format: 'chat', stream: false, attempts: 1, status: 200 },
  ...{ model: 'm', upstreamModel: 'up', channel: 'one', upstreamFormat: 'messages', losses: 0, duration: 1500 },
  ...{ input: 100, output: 20, cacheRead: 60, cost: 2_000_000, firstByteAfter: 300 },
}

const FAILED: UsageRow = {
  ...{ id: 'req_2', at: 0, door: '/v1/messages', format: 'messages', stream: true, attempts: 2, status: 502 },
  ...{ model: 'm', channel: 'one', upstreamFormat: 'chat', losses: 3, duration: 90, error: 'upstream-failed' },
}

const metricsOf = (rows: readonly UsageRow[]): Metrics => {
  const metrics = new Metrics(CONFIG)
  for (const row of rows) metrics.count(row)
  return metrics
}

const pageOf = async (...metrics: readonly Metrics[]): Promise<string> =>
  merge(await Promise.all(metrics.map(async one => JSON.parse(JSON.stringify(await one.snapshot())))))

/** The samples of a page, by name and labels. */
const samplesOf = (page: string): ReadonlyMap<string, number> =>
  new Map(
    page.split('\n').flatMap(line => {
      const at = line.lastIndexOf(' ')
      return line === '' || line.startsWith('#') ? [] : [[line.slice(0, at), Number(line.slice(at + 1))] as const]
    }),
  )

describe('requests', () => {
  test('whose conversation chose the channel are counted by hits of its prompt cache', async () => {
    const missed = { ...ROW, affinity: 'beginning', cacheRead: undefined }
    const rows = [ROW, { ...ROW, affinity: 'session' }, { ...ROW, affinity: 'cache-key' }, missed]
    const samples = samplesOf(await pageOf(metricsOf(rows), metricsOf(rows)))
    const labels = 'model="m",channel="one"'
    expect(samples.get(`interlingua_affinity_requests_total{${labels},hit="true"}`)).toBe(4)
    expect(samples.get(`interlingua_affinity_requests_total{${labels},hit="false"}`)).toBe(2)
    expect(await pageOf(metricsOf([ROW]))).not.toContain('interlingua_affinity_requests_total{')
  })

  test('are counted by endpoint, formats, model, channel and status class', async () => {
    const samples = samplesOf(await pageOf(metricsOf([ROW, ROW, FAILED])))
    const ok =
      'door="/v1/chat/completions",format="chat",model="m",channel="one",upstream_format="messages",status="2xx"'
    expect(samples.get(`interlingua_requests_total{${ok}}`)).toBe(2)
    expect(samples.get(`interlingua_request_duration_seconds_count{${ok}}`)).toBe(2)
    expect(samples.get(`interlingua_request_duration_seconds_sum{${ok}}`)).toBe(3)
    expect(samples.get(`interlingua_request_duration_seconds_bucket{le="1.28",${ok}}`)).toBe(0)
    expect(samples.get(`interlingua_request_duration_seconds_bucket{le="2.56",${ok}}`)).toBe(2)
    expect(samples.get(`interlingua_request_duration_seconds_bucket{le="+Inf",${ok}}`)).toBe(2)
    expect(samples.get(`interlingua_first_byte_seconds_bucket{le="0.25",${ok}}`)).toBe(0)
    expect(samples.get(`interlingua_first_byte_seconds_bucket{le="0.5",${ok}}`)).toBe(2)
    const tokens = 'format="chat",model="m",channel="one"'
    expect(samples.get(`interlingua_tokens_total{${tokens},kind="input"}`)).toBe(200)
    expect(samples.get(`interlingua_tokens_total{${tokens},kind="cache_read"}`)).toBe(120)
    expect(samples.get('interlingua_cost_dollars_total{model="m",channel="one"}')).toBeCloseTo(0.004)
    const failed = 'door="/v1/messages",format="messages",model="m",channel="one"'
    expect(samples.get(`interlingua_errors_total{${failed},error="upstream-failed"}`)).toBe(1)
    expect(samples.get('interlingua_attempts_total{format="messages",model="m",channel="one"}')).toBe(2)
    expect(samples.get('interlingua_losses_total{format="messages",upstream_format="chat",model="m"}')).toBe(3)
  })

  test('are told under the names of OpenTelemetry', async () => {
    const samples = samplesOf(await pageOf(metricsOf([ROW, FAILED])))
    const labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m"'
    expect(samples.get(`gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"}`)).toBe(100)
    expect(samples.get(`gen_ai_server_request_duration_seconds_count{${labels}}`)).toBe(1)
    expect(samples.get(`gen_ai_server_request_duration_seconds_count{${labels},error_type="5xx"}`)).toBe(1)
    expect(samples.get(`gen_ai_server_time_to_first_token_seconds_count{${labels}}`)).toBe(1)
  })

  test('of several processes make one page, as if one had had them all', async () => {
    const rows = fc.array(fc.constantFrom(ROW, FAILED, { ...ROW, channel: 'two', model: 'x' }, { ...ROW, output: 9 }))
    await fc.assert(
      fc.asyncProperty(rows, rows, async (ours, theirs) => {
        const ofRequests = (page: string) => [...samplesOf(page)].filter(([name]) => !/^(process|nodejs)_/.test(name))
        const apart = new Map(ofRequests(await pageOf(metricsOf(ours), metricsOf(theirs))))
        const together = ofRequests(await pageOf(metricsOf([...ours, ...theirs])))
        expect(apart.size).toBe(together.length)
        for (const [name, value] of together) expect(apart.get(name)).toBeCloseTo(value)
      }),
      { numRuns: 30 },
    )
  })
})

describe('labels are bounded', () => {
  const modelsIn = (page: string): ReadonlySet<string> =>
    new Set([...page.matchAll(/interlingua_requests_total\{.*?,model="([^"]*)"/g)].map(([, model]) => model!))

  test('models that callers invented are one', async () => {
    const invented = Array.from({ length: 500 }, (_, place) => ({ ...FAILED, model: `invented-${place}` }))
    const unrouted = invented.map(({ channel: _, ...row }) => row)
    expect(modelsIn(await pageOf(metricsOf([...invented, ...unrouted, ROW])))).toEqual(new Set(['other', 'm']))
  })

  test('long names of models are not told apart', async () => {
    expect(modelsIn(await pageOf(metricsOf([{ ...ROW, model: 'x'.repeat(101) }])))).toEqual(new Set(['other']))
  })

  test('models that answered are told apart, up to a number', async () => {
    const answered = Array.from({ length: 1000 }, (_, place) => ({ ...ROW, model: `answered-${place}` }))
    const models = modelsIn(await pageOf(metricsOf([...answered, ROW])))
    expect(models).toContain('answered-0')
    expect(models).toContain('m')
    expect(models.size).toBe(102)
  })

  test('sets of labels are told apart up to a number', async () => {
    const rows = Array.from({ length: 10_000 }, (_, place) => ({ ...ROW, channel: `channel-${place}` }))
    const page = await pageOf(metricsOf(rows))
    const counted = [...samplesOf(page)].filter(([name]) => name.startsWith('interlingua_requests_total'))
    expect(counted.length).toBeLessThanOrEqual(1001)
    expect(counted.reduce((sum, [, value]) => sum + value, 0)).toBe(10_000)
  })

  test('a model is written so that it ends no label', async () => {
    const page = await pageOf(metricsOf([{ ...ROW, model: 'a"}\n\\b' }]))
    expect(page).toContain('model="a\\"}\\n\\\\b"')
  })
})

describe('states', () => {
  test('are read when metrics are, and merged by what they mean', async () => {
    const reading = (sockets: number, up: number): Metrics => {
      const metrics = new Metrics(CONFIG)
      metrics.registerReaders({ interlingua_open_sockets: () => sockets, interlingua_store_up: async () => up })
      return metrics
    }
    const samples = samplesOf(await pageOf(reading(2, 1), reading(3, 0)))
    expect(samples.get('interlingua_open_sockets')).toBe(5)
    expect(samples.get('interlingua_store_up')).toBe(0)
  })

  test('that cannot be read are left out', async () => {
    const metrics = new Metrics(CONFIG)
    const fails = () => {
      throw new Error('no')
    }
    metrics.registerReaders({
      interlingua_open_sockets: fails,
      interlingua_redis_up: () => Promise.reject(new Error('no')),
    })
    const page = await pageOf(metrics)
    expect(page).not.toMatch(/interlingua_(open_sockets|redis_up)/)
    expect(page).toContain('nodejs_heap_size_used_bytes')
  })
})
