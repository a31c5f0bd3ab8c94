import { afterEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import type { TestServerOptions } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { pathsOf, withValueAt } from '../builders/rubbish.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { FUNCTION_CALL, playing, SPOKEN_TURN } from './sessions.ts'
import { channelTo, created, type Script, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer | undefined
let upstreams: ScriptedUpstream[] = []

afterEach(async () => {
  await testServer?.server.close(0)
  const faults = testServer?.lines.filter(({ level }) => level === 'error') ?? []
  testServer = undefined
  for (const upstream of upstreams) await upstream.close()
  upstreams = []
  expect(faults).toEqual([])
})

async function open(script: Script, options: TestServerOptions = {}): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.open(script)
  upstreams.push(upstream)
  testServer = await TestServer.open([channelTo(upstream)], options)
  return upstream
}

/** Relayed frame by frame, and translated through canonical events. */
const PATHS = [
  ['relayed', {}],
  ['translated', { 'openai-beta': 'realtime=v1' }],
] as const

const client = (headers: { readonly [name: string]: string } = {}) =>
  Client.open(testServer!.server.address, headers, '/v1/realtime?model=voice')

/** Nesting that exceeds any recursion limit. */
const DEPTH = 30_000
const DEEP = '['.repeat(DEPTH) + ']'.repeat(DEPTH)
const MARK = '"deep value"'

const RUBBISH: readonly Json[] = [
  ...[null, 0, -1, 1.5, 1e308, '', 'x', '\u0000\ud800', true, false, 'deep value', '__proto__'],
  ...[[], {}, [[]], [null], [{}], { type: 1 }, { type: 'x' }, { __proto__x: 1 }, [1, 'a']],
]

/** Yields the event with each field replaced by invalid values or left out. */
function* mutated(event: JsonObject): Generator<string> {
  for (const path of pathsOf(event)) {
    for (const value of RUBBISH) yield JSON.stringify(withValueAt(event, path, value)).replaceAll(MARK, DEEP)
    yield JSON.stringify(withValueAt(event, path, undefined))
  }
}

const TOOL = { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' } }
const SESSION = {
  type: 'realtime',
  instructions: 'i',
  output_modalities: ['audio'],
  tools: [TOOL, { type: 'mcp', server_label: 's' }],
  tool_choice: { type: 'function', name: 'f' },
  parallel_tool_calls: true,
  max_output_tokens: 100,
  temperature: 0.8,
  reasoning: { effort: 'low' },
  tracing: 'auto',
  audio: {
    input: {
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: { model: 'm', language: 'en', prompt: 'p' },
      noise_reduction: { type: 'near_field' },
      turn_detection: {
        ...{ type: 'server_vad', threshold: 0.5, prefix_padding_ms: 1, silence_duration_ms: 1, idle_timeout_ms: 5000 },
        ...{ create_response: true, interrupt_response: true },
      },
    },
    output: { format: { type: 'audio/pcmu' }, voice: { id: 'v' }, speed: 1 },
  },
}
const ITEM = {
  ...{ id: 'i', type: 'message', status: 'completed', role: 'user' },
  content: [
    { type: 'input_text', text: 't' },
    { type: 'input_audio', audio: 'AAAA', transcript: 't' },
    { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
    { type: 'other', value: {} },
  ],
}
const CALL = { type: 'function_call', id: 'i', name: 'f', call_id: 'c', arguments: '{}' }
const OUTPUT = { type: 'function_call_output', call_id: 'c', output: 'o' }

const CLIENT_EVENTS: readonly JsonObject[] = [
  { type: 'session.update', event_id: 'e', session: SESSION },
  {
    type: 'session.update',
    session: {
      ...{ input_audio_format: 'pcm16', output_audio_format: 'g711_ulaw', voice: 'v', modalities: ['text'] },
      ...{ turn_detection: { type: 'semantic_vad', eagerness: 'low' }, max_response_output_tokens: 'inf' },
      input_audio_transcription: { model: 'm' },
    },
  },
  { type: 'transcription_session.update', session: { input_audio_format: 'pcm16' } },
  { type: 'input_audio_buffer.append', event_id: 'e', audio: 'AAAA' },
  { type: 'input_audio_buffer.commit', event_id: 'e' },
  { type: 'input_audio_buffer.clear', event_id: 'e' },
  { type: 'output_audio_buffer.clear', event_id: 'e' },
  { type: 'conversation.item.create', event_id: 'e', previous_item_id: 'root', item: ITEM },
  { type: 'conversation.item.create', item: CALL },
  { type: 'conversation.item.create', item: OUTPUT },
  { type: 'conversation.item.create', item: { type: 'mcp_approval_response', approve: true } },
  { type: 'conversation.item.retrieve', event_id: 'e', item_id: 'i' },
  { type: 'conversation.item.delete', event_id: 'e', item_id: 'i' },
  { type: 'conversation.item.truncate', event_id: 'e', item_id: 'i', content_index: 0, audio_end_ms: 1e9 },
  {
    type: 'response.create',
    event_id: 'e',
    response: { ...SESSION, conversation: 'none', metadata: { a: 'b' }, input: [ITEM, CALL, OUTPUT] },
  },
  { type: 'response.cancel', event_id: 'e', response_id: 'r' },
]

const SERVER_EVENTS: readonly JsonObject[] = [
  ...[...SPOKEN_TURN, ...FUNCTION_CALL].filter(event => event !== null),
  { ...created(), type: 'session.updated' },
  created(),
  { type: 'conversation.created', conversation: { id: 'c' } },
  { type: 'conversation.item.retrieved', item: ITEM },
  { type: 'conversation.item.deleted', item_id: 'i' },
  { type: 'conversation.item.truncated', item_id: 'i', content_index: 0, audio_end_ms: 1 },
  { type: 'conversation.item.input_audio_transcription.delta', item_id: 'i', content_index: 0, delta: 'd' },
  {
    type: 'conversation.item.input_audio_transcription.completed',
    ...{ item_id: 'i', content_index: 0, transcript: 't' },
    usage: { type: 'tokens', input_tokens: 1, output_tokens: 1, input_token_details: { text_tokens: 1 } },
  },
  {
    type: 'conversation.item.input_audio_transcription.failed',
    ...{ item_id: 'i', content_index: 0, error: { type: 't', code: 'c', message: 'm', param: 'p' } },
  },
  { type: 'input_audio_buffer.speech_started', item_id: 'i', audio_start_ms: 1 },
  { type: 'input_audio_buffer.speech_stopped', item_id: 'i', audio_end_ms: 1 },
  { type: 'input_audio_buffer.committed', item_id: 'i', previous_item_id: null },
  { type: 'input_audio_buffer.cleared' },
  { type: 'response.mcp_call.completed', output_index: 0, item_id: 'i' },
  { type: 'error', error: { type: 't', code: 'c', message: 'm', param: 'p', event_id: 'e' } },
]

describe.each(PATHS)('%s', (name, headers) => {
  it.each(CLIENT_EVENTS.map(event => [String(event['type']), event] as const))(
    'goes on after every field of %s was rubbish',
    async (_, event) => {
      const upstream = await open(playing([]))
      const caller = await client(headers)
      for (const frame of mutated(event)) caller.send(frame)
      caller.send({ type: 'conversation.item.delete', item_id: 'last' })
      const { received } = upstream.connections[0]!
      await until(() => received.some(({ item_id }) => item_id === 'last'), 10_000)
      expect(caller.closed).toBeUndefined()
    },
  )

  it.each(SERVER_EVENTS.map((event, index) => [`${index} ${event['type']}`, event] as const))(
    'goes on after every field of the upstream’s %s was rubbish',
    async (_, event) => {
      const last = { type: 'input_audio_buffer.speech_started', audio_start_ms: 7, item_id: 'last' }
      await open(async connection => {
        connection.send(created())
        if (name === 'translated') connection.send({ ...created(), type: 'session.updated' })
        for (const frame of mutated(event)) connection.send(frame)
        connection.send(last)
      })
      const caller = await client(headers)
      await until(() => caller.events.some(({ item_id }) => item_id === 'last') || caller.closed !== undefined, 10_000)
      expect(caller.closed).toBeUndefined()
    },
  )

  it('passes on no frame of an upstream that no client could read', async () => {
    const rubbish = ['{"type":"response.output_text.delta","delta":"half', '', '[]', 'null', '{"type"']
    await open(connection => {
      connection.send(created())
      connection.send({ ...created(), type: 'session.updated' })
      for (const frame of rubbish) connection.send(frame)
      connection.socket.send(Buffer.from([0x7b, 0xff, 0xfe]))
      connection.socket.send(Buffer.from('{"type":"input_audio_buffer.cleared"}'))
    })
    const caller = await client(headers)
    await until(() => caller.events.some(({ type }) => type === 'input_audio_buffer.cleared'), 10_000)
    expect(caller.events.filter(({ type }) => type === 'error')).toHaveLength(rubbish.length + 1)
    expect(caller.closed).toBeUndefined()
  })
})
