import { describe, expect, test } from 'vitest'
import type { TracesConfig } from '../../../src/config/index.ts'
import { ANSWER, ASK, chunk, events, failure, json, STREAM, TAIL } from '../../builders/chat.ts'
import { channelAt, configOf, KEY } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { until } from '../../builders/time.ts'
import { deadAddress, type Script } from '../../builders/upstream.ts'
import { CLIENT, SERVER, spansOf } from './spans.ts'

const { openGateway, openUpstream } = opener()

const ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const CALLERS = { traceparent: `00-${ID}-${SPAN}-01`, tracestate: 'vendor=a1' }
const USAGE = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } }

const answers: Script = (response, { text }) =>
  JSON.parse(text).stream === true
    ? events(response).end(`${chunk({ content: 'Hello.' })}data: ${JSON.stringify(USAGE)}\n\n${TAIL}`)
    : json(response, ANSWER)
const fails: Script = response => json(response, failure('secret words of the upstream'), 500)

/** A gateway before upstreams with these scripts, and a collector of its traces. */
async function open(scripts: readonly Script[], settings: Partial<TracesConfig> = {}) {
  const collector = await openUpstream(response => json(response, {}))
  const upstreams = await Promise.all(scripts.map(openUpstream))
  const channels = upstreams.map(({ address }, place) =>
    channelAt(address, { name: `channel-${place}`, priority: place }),
  )
  const traces = { otlp: `${collector.address}/v1/traces`, headers: { 'x-token': 'collector-token' }, sample: 1 }
  const testServer = await openGateway(channels, { config: { traces: { ...traces, ...settings } } })
  return { testServer, upstreams, collector }
}

describe('traces', () => {
  test('have one span for the request and one for each attempt, which the upstreams can continue', async () => {
    const opened = await open([fails, answers])
    await opened.testServer.ask('/v1/chat/completions', ASK, { headers: CALLERS })
    const spans = await spansOf(opened)
    const [server] = spans.filter(({ kind }) => kind === SERVER)
    const clients = spans.filter(({ kind }) => kind === CLIENT)
    expect(spans.map(({ traceId }) => traceId)).toEqual([ID, ID, ID])
    expect(server).toMatchObject({ name: 'POST /v1/chat/completions', parentSpanId: SPAN })
    expect(server!.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 2,
      'http.response.status_code': 200,
      'interlingua.attempts': 2,
    })
    expect(clients.map(({ parentSpanId }) => parentSpanId)).toEqual([server!.spanId, server!.spanId])
    expect(clients[0]!.attributes).toMatchObject({ 'error.type': 'upstream-failed', 'http.response.status_code': 500 })
    expect(clients[0]!.status.code).toBe(2)
    expect(clients[1]!.attributes).toMatchObject({
      'interlingua.channel': 'channel-1',
      'gen_ai.provider.name': 'custom',
      'gen_ai.usage.output_tokens': 2,
      'http.response.status_code': 200,
    })
    expect(clients[1]!.attributes['error.type']).toBeUndefined()
    const told = opened.upstreams.map(({ seen }) => seen[0]!.headers)
    expect(told.map(({ traceparent }) => traceparent)).toEqual(clients.map(({ spanId }) => `00-${ID}-${spanId}-01`))
    expect(told.map(({ tracestate }) => tracestate)).toEqual(['vendor=a1', 'vendor=a1'])
    expect(opened.collector.seen[0]!.headers['x-token']).toBe('collector-token')
    expect(opened.collector.seen[0]!.text).toContain('"interlingua"')
  })

  test('hold nothing that was said, and no credential', async () => {
    const opened = await open([fails, answers])
    const asked = { ...ASK, messages: [{ role: 'user', content: 'secret words of the caller' }] }
    await opened.testServer.ask('/v1/chat/completions', asked)
    await spansOf(opened)
    const text = JSON.stringify(opened.collector.seen)
    for (const hidden of ['secret words', 'Hello.', KEY, 'upstream-key-1234']) expect(text).not.toContain(hidden)
  })

  test('know the tokens of streams', async () => {
    const opened = await open([answers])
    await opened.testServer.ask('/v1/chat/completions', { ...STREAM, stream_options: { include_usage: true } })
    const spans = await spansOf(opened)
    expect(spans).toHaveLength(2)
    for (const { attributes } of spans) expect(attributes['gen_ai.usage.output_tokens']).toBe(2)
  })

  test('are made of so many requests as are to be sampled, unless the caller decided', async () => {
    const opened = await open([answers], { sample: 0 })
    await opened.testServer.ask('/v1/chat/completions', ASK)
    const untraced = { traceparent: `00-${ID}-${SPAN}-00` }
    await opened.testServer.ask('/v1/chat/completions', ASK, { headers: untraced })
    await opened.testServer.ask('/v1/chat/completions', ASK, { headers: CALLERS })
    const spans = await spansOf(opened)
    expect(spans).toHaveLength(2)
    const told = opened.upstreams[0]!.seen.map(({ headers }) => String(headers['traceparent']))
    expect(told.map(parent => parent.slice(-2))).toEqual(['00', '00', '01'])
  })

  test('are not made of requests without a valid key', async () => {
    const opened = await open([answers])
    const refused = { headers: { ...CALLERS, authorization: 'Bearer wrong' } }
    await opened.testServer.ask('/v1/chat/completions', ASK, refused)
    await opened.testServer.ask('/v1/chat/completions', ASK)
    const spans = await spansOf(opened)
    expect(spans).toHaveLength(2)
    expect(spans[0]!.traceId).not.toBe(ID)
  })

  test('cost nothing but a line in the log where their collector is gone', async () => {
    const { testServer } = await open([answers], { otlp: `${await deadAddress()}/v1/traces` })
    const asked = await Promise.all([1, 2, 3].map(() => testServer.ask('/v1/chat/completions', ASK)))
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200])
    testServer.server.reload(configOf([]))
    await until(() => testServer.lines.some(({ message }) => message === 'traces cannot be sent'))
    expect(testServer.lines.filter(({ message }) => message === 'traces cannot be sent')).toHaveLength(1)
  })
})

describe('without traces', () => {
  const toldTo = async (headers: { readonly [name: string]: string }) => {
    const upstream = await openUpstream(answers)
    const testServer = await openGateway([channelAt(upstream.address)])
    await testServer.ask('/v1/chat/completions', ASK, { headers })
    const { traceparent, tracestate } = upstream.seen[0]!.headers
    return { traceparent, tracestate }
  }

  test('what the caller says of its own is passed on where it is valid', async () => {
    expect(await toldTo(CALLERS)).toEqual(CALLERS)
    expect(await toldTo({ traceparent: 'invalid', tracestate: 'vendor=a1' })).toEqual({})
    expect(await toldTo({})).toEqual({})
  })
})
