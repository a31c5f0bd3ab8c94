import { expect, test } from 'vitest'
import { Metrics, merge, type Snapshot } from '../../../src/gateway/metrics/index.ts'
import { MetricsMemory } from '../../../src/gateway/metrics/memory.ts'
import type { UsageRow } from '../../../src/store/usage/row.ts'
import { configOf } from '../../builders/config.ts'

const ROW: UsageRow = {
  ...{ id: 'req_1', at: 0, door: '/v1/chat/completions', format: 'chat', stream: false, attempts: 1, status: 200 },
  ...{ model: 'm', channel: 'one', upstreamFormat: 'chat', losses: 0, duration: 10, input: 5, output: 5 },
}

/** Metrics of a process after a number of requests to a model. */
async function snapshotOf(process: string, requests: number, model = 'm'): Promise<Snapshot> {
  const metrics = new Metrics(configOf([], { config: { models: new Map() } }))
  metrics.registerReaders({ interlingua_open_requests: () => 3, interlingua_wrong_keys_total: () => requests })
  for (let index = 0; index < requests; index++) metrics.count({ ...ROW, model })
  metrics.countAnswer('/v1/models', 200)
  return metrics.snapshot(process)
}

const pageOf = async (memory: MetricsMemory, ...answers: readonly Snapshot[]): Promise<string> =>
  merge(await memory.collect(async () => answers))

const sumOf = (page: string, name: string): number =>
  [...page.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  )

test('counters of ended processes remain, and their gauges do not', async () => {
  const memory = new MetricsMemory()
  const [one, two] = [await snapshotOf('one', 4), await snapshotOf('two', 3)]
  expect(sumOf(await pageOf(memory, one, two), 'interlingua_open_requests')).toBe(6)
  memory.end('one')
  const page = await pageOf(memory, two)
  expect(sumOf(page, 'interlingua_requests_total')).toBe(7)
  expect(sumOf(page, 'interlingua_wrong_keys_total')).toBe(7)
  expect(sumOf(page, 'interlingua_queries_total')).toBe(2)
  expect(sumOf(page, 'gen_ai_client_token_usage_count')).toBe(14)
  expect(sumOf(page, 'interlingua_open_requests')).toBe(3)
  memory.end('two')
  expect(sumOf(await pageOf(memory), 'interlingua_requests_total')).toBe(7)
})

test('an answer that arrives after the end of its process is not counted twice', async () => {
  const memory = new MetricsMemory()
  const one = await snapshotOf('one', 4)
  await pageOf(memory, one)
  const gathering = Promise.withResolvers<readonly Snapshot[]>()
  const page = memory.collect(() => gathering.promise)
  memory.end('one')
  gathering.resolve([one])
  expect(sumOf(await merge(await page), 'interlingua_requests_total')).toBe(4)
  expect(sumOf(await pageOf(memory), 'interlingua_requests_total')).toBe(4)
})

test('the last metrics of a process replace all others', async () => {
  const memory = new MetricsMemory()
  memory.finish(await snapshotOf('one', 5))
  expect(sumOf(await pageOf(memory, await snapshotOf('one', 4)), 'interlingua_requests_total')).toBe(5)
  memory.end('one')
  expect(sumOf(await pageOf(memory), 'interlingua_requests_total')).toBe(5)
})

test('names of models that change with each process do not fill the memory', async () => {
  const memory = new MetricsMemory()
  for (let index = 0; index < 1100; index++) {
    memory.finish(await snapshotOf(`${index}`, 1, `model-${index}`))
    memory.end(`${index}`)
  }
  const page = await pageOf(memory)
  expect(sumOf(page, 'interlingua_requests_total')).toBe(1100)
  expect(page.match(/^interlingua_requests_total/gm)!.length).toBeLessThan(1010)
})

test('a status that is none of HTTP counts as a failure of the server', async () => {
  const metrics = new Metrics(configOf([]))
  metrics.countAnswer('/v1/models', 999)
  expect(await merge([await metrics.snapshot()])).toContain(
    'interlingua_queries_total{door="/v1/models",status="5xx"} 1',
  )
})
