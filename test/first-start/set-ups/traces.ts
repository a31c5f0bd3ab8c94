import assert from 'node:assert/strict'
import { until } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { TURNS } from '../endpoints/said.ts'
import type { Outcomes } from '../outcomes.ts'
import { Started } from '../started.ts'
import { runsFromBundle } from './bundle.ts'

/** Traces to a collector, and metrics at an address of their own. */
export async function traces(outcomes: Outcomes, checkout: string): Promise<void> {
  const collector = await FakeUpstream.open(response => response.end('{}'))
  const config = { traces: { otlp: `${collector.address}/v1/traces` }, metrics: { key: 'metrics-key' } }
  const started = await Started.open(checkout, config)
  try {
    await outcomes.try('the bundle runs', () => runsFromBundle(started.administrator()))
    await outcomes.try('a request is a span, and its attempt another', async () => {
      await started.ask('/v1/chat/completions', { body: { model: 'replay', messages: TURNS } })
      await until(() => collector.seen.some(({ text }) => text.includes('POST /v1/chat/completions')))
      const text = collector.seen.map(one => one.text).join('\n')
      assert.match(text, /"interlingua\.attempts"/)
      assert.match(text, /"interlingua\.channel"/)
    })
    await outcomes.try('the page of metrics counts it', async () => {
      const { text } = await started.as('metrics-key')('/metrics')
      assert.match(text, /^\w*request\w*_count\{[^}]*\} [1-9]/m)
    })
    await outcomes.try('it stops in order', () => started.stop())
  } finally {
    await started.kill()
    await collector.close()
  }
}
