import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fold } from '../../../src/canonical/fold.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { eventParser } from '../../../src/ingress/transport/event-parser.ts'
import { openFrameParser } from '../../../src/ingress/transport/frames.ts'
import { recordingOf } from '../../../src/kit/recordings/recorder.ts'
import { openReplay, type Replay } from '../../../src/kit/recordings/replay-server.ts'
import { converseFrame } from '../../builders/frames.ts'

/* Streams in every encoding, replayed to callers of every encoding: events, a JSON array, and two kinds of frames. */

const TEXT = 'Grüße aus Rom.'
const FRAMES = 'application/vnd.amazon.eventstream'
const EVENTS = 'text/event-stream'

const events = (...all: readonly object[]): Buffer =>
  Buffer.from(all.map(one => `data: ${JSON.stringify(one)}\n\n`).join(''))

const MESSAGE_EVENTS = [
  { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm' } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...[...TEXT].map(text => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

const HEADERS = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }

const prompt = (content: string) => [{ role: 'user', content }]
const blocks = (text: string) => [{ role: 'user', content: [{ text }] }]
const parts = (text: string) => [{ role: 'user', parts: [{ text }] }]

interface Endpoint {
  readonly format: string
  readonly path: string
  readonly body: (text: string) => object
  /** Media type of the recorded stream, and its bytes. Without it, answers are whole. */
  readonly stream?: { readonly type: string; readonly bytes: Buffer }
}

const claude = (text: string) => ({ max_tokens: 9, messages: prompt(text) })
const invoked = (text: string) => ({ anthropic_version: 'bedrock-2023-05-31', ...claude(text) })
const candidate = { candidates: [{ index: 0, content: { parts: [{ text: TEXT }] }, finishReason: 'STOP' }] }

const ENDPOINTS: { readonly [name: string]: Endpoint } = {
  'chat stream': {
    ...{ format: 'chat', path: '/v1/chat/completions' },
    body: text => ({ model: 'm', stream: true, messages: prompt(text) }),
    stream: {
      type: EVENTS,
      bytes: events(
        { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: TEXT } }] },
        { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ),
    },
  },
  'messages stream': {
    ...{ format: 'messages', path: '/v1/messages', body: text => ({ model: 'm', stream: true, ...claude(text) }) },
    stream: { type: EVENTS, bytes: events(...MESSAGE_EVENTS) },
  },
  'contents array': {
    ...{
      format: 'contents',
      path: '/v1beta/models/m:streamGenerateContent',
      body: text => ({ contents: parts(text) }),
    },
    stream: { type: 'application/json', bytes: Buffer.from(JSON.stringify([candidate])) },
  },
  'contents events': {
    ...{ format: 'contents', path: '/v1beta/models/m:streamGenerateContent?alt=sse' },
    ...{ body: text => ({ contents: parts(text) }), stream: { type: EVENTS, bytes: events(candidate) } },
  },
  'Converse stream': {
    ...{ format: 'converse', path: '/model/m/converse-stream', body: text => ({ messages: blocks(text) }) },
    stream: {
      type: FRAMES,
      bytes: Buffer.concat([
        converseFrame('messageStart', { role: 'assistant' }),
        ...[...TEXT].map(text => converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })),
        converseFrame('contentBlockStop', { contentBlockIndex: 0 }),
        converseFrame('messageStop', { stopReason: 'end_turn' }),
      ]),
    },
  },
  'InvokeModel stream': {
    ...{ format: 'messages', path: '/model/m/invoke-with-response-stream', body: invoked },
    stream: {
      type: FRAMES,
      bytes: Buffer.concat(
        MESSAGE_EVENTS.map(event =>
          converseFrame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') }),
        ),
      ),
    },
  },
  chat: { format: 'chat', path: '/v1/chat/completions', body: text => ({ model: 'm', messages: prompt(text) }) },
  Converse: { format: 'converse', path: '/model/m/converse', body: text => ({ messages: blocks(text) }) },
  InvokeModel: { format: 'messages', path: '/model/m/invoke', body: invoked },
}

const STREAMS = Object.entries(ENDPOINTS).filter(([, { stream }]) => stream !== undefined)

let replay: Replay
beforeAll(async () => {
  const recordings = STREAMS.map(async ([name, { path, body, stream }]) => ({
    file: `${name}.json`,
    recording: await recordingOf(
      {
        ...{ method: 'POST', url: path, headers: HEADERS },
        body: Buffer.from(JSON.stringify(body(name))),
      },
      {
        ...{ status: 200, headers: { 'content-type': stream!.type }, ms: 1, isComplete: true },
        chunks: [{ ms: 1, bytes: stream!.bytes }],
      },
      new Date(),
    ),
  }))
  replay = await openReplay({ recordings: await Promise.all(recordings) })
})
afterAll(() => replay.close())

async function asked({ path, body }: Endpoint, text: string) {
  const answer = await fetch(replay.url + path, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(body(text)),
  })
  const type = answer.headers.get('content-type') ?? ''
  return { status: answer.status, type, bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** Reads the text of an answer in the format of an endpoint. */
async function textOf({ format, stream }: Endpoint, bytes: Buffer, type: string): Promise<string> {
  const reader = READERS[format]!
  const request = { stream: stream !== undefined, messages: [], output: {} } as never
  if (stream === undefined) {
    const result = reader.result!({ status: 200, headers: {}, body: JSON.parse(bytes.toString()) }, request)
    return JSON.stringify(result.candidates[0]!.content)
  }
  const wire =
    stream.type === 'application/json'
      ? (JSON.parse(bytes.toString()) as object[]).map(one => ({ data: JSON.stringify(one) }))
      : drain(type.startsWith(FRAMES) ? await openFrameParser() : eventParser(), [bytes])
  return JSON.stringify(fold(drain(reader.events!(request), wire)).candidates[0]!.content)
}

describe.each(STREAMS)('a recorded %s', (recorded, { stream }) => {
  test('is sent byte for byte to its own caller', async () => {
    const { type, bytes } = await asked(ENDPOINTS[recorded]!, recorded)
    expect(type).toBe(stream!.type)
    expect(bytes.equals(stream!.bytes)).toBe(true)
  })

  test.each(Object.entries(ENDPOINTS))('answers a caller of %s', async (_, endpoint) => {
    const { status, type, bytes } = await asked(endpoint, recorded)
    expect(status).toBe(200)
    expect(type).toContain(endpoint.stream?.type ?? 'application/json')
    expect(await textOf(endpoint, bytes, type)).toContain(TEXT)
  })
})

test('an error of InvokeModel has the form that its callers expect', async () => {
  const { status, bytes } = await asked(ENDPOINTS['InvokeModel']!, 'never recorded')
  expect(status).toBe(404)
  const error = JSON.parse(bytes.toString()) as { readonly error?: object; readonly message: string }
  expect(error.error).toBeUndefined()
  expect(error.message).toContain('No recording matches')
})
