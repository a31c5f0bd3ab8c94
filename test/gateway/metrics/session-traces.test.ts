import { afterEach, describe, expect, test } from 'vitest'
import type { ChannelConfig, Config } from '../../../src/config/index.ts'
import { chunk, events, json, TAIL } from '../../builders/chat.ts'
import { channelAt, REALTIME } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { until } from '../../builders/time.ts'
import type { Script } from '../../builders/upstream.ts'
import { Client } from '../../sockets/client.ts'
import { playing, SPOKEN_TURN, CLIENT as TURN } from '../../voice/sessions.ts'
import { channelTo, ScriptedUpstream } from '../../voice/upstream.ts'
import { CLIENT, INTERNAL, SERVER, type SpanSeen, spansOf } from './spans.ts'

const { openGateway, openUpstream } = opener()

const ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const CALLERS = { traceparent: `00-${ID}-${SPAN}-01`, tracestate: 'vendor=a1' }

const upstreams: ScriptedUpstream[] = []
afterEach(() => Promise.all(upstreams.splice(0).map(one => one.close())))

async function openScripted(): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.open(playing(SPOKEN_TURN))
  upstreams.push(upstream)
  return upstream
}

async function open(channels: readonly ChannelConfig[], config: Partial<Config> = {}) {
  const collector = await openUpstream(response => json(response, {}))
  const traces = { otlp: `${collector.address}/v1/traces`, headers: {}, sample: 1 }
  return { collector, testServer: await openGateway(channels, { config: { ...config, traces } }) }
}

/** A session in which a turn was answered, and which the caller ended. */
async function talk(opened: Awaited<ReturnType<typeof open>>, model: string, turn: readonly object[]) {
  const client = await Client.open(opened.testServer.server.address, CALLERS, `/v1/realtime?model=${model}`)
  for (const event of turn) client.send(event as never)
  await until(() => client.events.some(({ type }) => type === 'response.done'))
  await client.close()
  await until(() => opened.testServer.lines.some(({ message }) => message === 'session'))
  return spansOf(opened)
}

const only = (spans: readonly SpanSeen[], kind: number): readonly SpanSeen[] => spans.filter(one => one.kind === kind)

describe('traces of voice sessions', () => {
  test('have one span for the session and one for each attempt, which the upstreams can continue', async () => {
    const [refusing, speaking] = [await openScripted(), await openScripted()]
    refusing.refusal = { status: 500, body: { error: { message: 'secret words of the upstream' } } }
    const channels = [channelTo(refusing, { name: 'a' }), channelTo(speaking, { name: 'b', priority: 1 })]
    const spans = await talk(await open(channels), 'voice', TURN)
    const [session] = only(spans, SERVER)
    const attempts = only(spans, CLIENT)
    expect(spans.map(({ traceId }) => traceId)).toEqual([ID, ID, ID])
    expect(session).toMatchObject({ name: 'GET /v1/realtime', parentSpanId: SPAN })
    expect(session!.attributes).toMatchObject({
      'http.response.status_code': 101,
      'gen_ai.request.model': 'voice',
      'gen_ai.usage.output_tokens': 20,
      'interlingua.attempts': 2,
    })
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([session!.spanId, session!.spanId])
    expect(attempts.map(({ attributes }) => attributes['error.type'])).toEqual(['upstream-failed', undefined])
    expect(attempts[1]!.attributes).toMatchObject({ 'interlingua.channel': 'b' })
    const { headers } = speaking.connections[0]!.message
    expect(headers).toMatchObject({ traceparent: `00-${ID}-${attempts[1]!.spanId}-01`, tracestate: 'vendor=a1' })
  })

  test('hold the requests that a cascade makes, and their attempts', async () => {
    const answers: Script = response => events(response).end(`${chunk({ content: 'Hello.' })}${TAIL}`)
    const upstream = await openUpstream(answers)
    const realtime = { ...REALTIME, cascade: { transcription: 'm', speech: 'm', voice: 'nova' } }
    const text = { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } }
    const spans = await talk(await open([channelAt(upstream.address)], { realtime }), 'm', [text, ...TURN])
    const [session] = only(spans, SERVER)
    const [own] = only(spans, INTERNAL)
    expect(own).toMatchObject({ name: 'chat', traceId: ID, parentSpanId: session!.spanId })
    const attempt = only(spans, CLIENT).find(({ parentSpanId }) => parentSpanId === own!.spanId)!
    expect(upstream.seen.at(-1)!.headers['traceparent']).toBe(`00-${ID}-${attempt.spanId}-01`)
  })

  test('are passed on as the caller has them, where none are made', async () => {
    const speaking = await openScripted()
    const testServer = await openGateway([channelTo(speaking)])
    const client = await Client.open(testServer.server.address, CALLERS, '/v1/realtime?model=voice')
    await client.close()
    expect(speaking.connections[0]!.message.headers).toMatchObject(CALLERS)
  })
})
