import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONVERSE_FRAMES, chunkFrame, EVENTS } from '../builders/clouds/answers.ts'
import { channelAt } from '../builders/config.ts'
import { converseFrame, frameBytes, frames, framesIn } from '../builders/frames.ts'
import { TestServer } from '../builders/gateway.ts'
import { VERSION } from '../builders/http.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/*
 * Binary streams of AWS that break off after half an answer, before callers of every format: an error in the caller's
 * form and a cause for the operator, never a hang or an end that looks complete.
 */

const TURNS = [{ role: 'user', content: 'Hi' }]
const CONVERSE = { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }

/** A caller: its request, how its stream says that an answer is complete, and how it says that it failed. */
interface Caller {
  readonly path: string
  readonly body: object
  readonly complete: RegExp
  readonly failed: RegExp
}

const CALLERS: { readonly [format: string]: Caller } = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: TURNS, stream: true },
    complete: /"finish_reason":"/,
    failed: /^data: \{"error":\{/m,
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 9, messages: TURNS, stream: true },
    complete: /message_stop|"stop_reason":"/,
    failed: /^event: error$/m,
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'm', input: 'Hi', stream: true },
    complete: /response\.completed/,
    failed: /^event: response\.failed$/m,
  },
  contents: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    complete: /"finishReason"/,
    failed: /^data: \{"error":\{/m,
  },
  'cohere-chat': {
    path: '/v2/chat',
    body: { model: 'm', messages: TURNS, stream: true },
    complete: /"finish_reason":"(?!ERROR)/,
    failed: /"finish_reason":"ERROR"/,
  },
  converse: {
    path: '/model/m/converse-stream',
    body: CONVERSE,
    complete: /^messageStop /m,
    failed: /^\w+Exception /m,
  },
  invoke: {
    path: '/model/m/invoke-with-response-stream',
    body: { anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages: TURNS },
    complete: /message_stop|"stop_reason":"/,
    failed: /^\w+Exception /m,
  },
}

const said = (name: string, message: string): Buffer => converseFrame(name, { message })
const corrupted = (frame: Buffer): Buffer => {
  const bytes = Buffer.from(frame)
  bytes[bytes.length - 6]! ^= 1
  return bytes
}
const longer = (frame: Buffer): Buffer => {
  const bytes = Buffer.from(frame)
  bytes.writeUInt32BE(frame.length + 1, 0)
  return bytes
}
const WORD = converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: ' More.' } })

/** Ends of half an answer, and the report to the operator. `silent` leaves the connection open. */
type Break = readonly [name: string, bytes: Buffer, cause: RegExp, silent?: true]

const BREAKS: readonly Break[] = [
  ['an exception of the model', said('modelStreamErrorException', 'The model broke.'), /The model broke\./],
  ['an exception of throttling', said('throttlingException', 'Slow down.'), /Slow down\./],
  ['an exception of the server', said('internalServerException', 'It broke.'), /It broke\./],
  ['an exception without a message', converseFrame('validationException', {}), /The upstream failed\./],
  [
    'an error frame',
    frameBytes(
      { event: '', data: '' },
      { ':message-type': 'error', ':error-code': 'X', ':error-message': 'Unusable.' },
    ),
    /Unusable\./,
  ],
  ['a corrupted frame', corrupted(WORD), /damaged frame/],
  ['a frame of a wrong length', longer(WORD), /damaged frame|within a frame/],
  ['a truncated frame', WORD.subarray(0, WORD.length - 3), /within a frame/],
  ['a truncated length', WORD.subarray(0, 2), /within a frame/],
  ['an end without a stop', Buffer.alloc(0), /ended its answer early/],
  ['silence', Buffer.alloc(0), /stopped sending in the middle/, true],
  ['silence within a frame', WORD.subarray(0, 20), /stopped sending in the middle/, true],
]

/** Events of a binary stream as lines, so that all streams can be matched as text. */
const shown = (bytes: Buffer): string =>
  framesIn(bytes)
    .map(({ name, data }) => {
      const inside = data.bytes === undefined ? '' : Buffer.from(data.bytes, 'base64').toString()
      return `${name} ${JSON.stringify(data)} ${inside}`
    })
    .join('\n')

describe.each([
  ['Converse', 'converse', CONVERSE_FRAMES.slice(0, 2)],
  ['InvokeModel', 'messages', EVENTS.slice(0, 3).map(chunkFrame)],
] as const)('a stream of %s', (_, format, half) => {
  let upstream: FakeUpstream
  let gateway: TestServer
  beforeAll(async () => {
    upstream = await FakeUpstream.open(() => {})
    const channel = channelAt(upstream.address, { format, baseUrl: upstream.address })
    const invoked = { ...channel.formats[0]!, hosting: 'bedrock-invoke', errors: 'converse' } as const
    const timeout = { connect: 10_000, firstByte: 20_000, idle: 400 }
    gateway = await TestServer.open([{ ...channel, timeout, ...(format === 'messages' ? { formats: [invoked] } : {}) }])
  })
  afterAll(async () => {
    await gateway.server.close(0)
    await upstream.close()
  })

  for (const [name, bytes, cause, silent] of BREAKS)
    test(`that breaks off by ${name} fails for every caller and is explained in the log`, async () => {
      const script: Script = response => {
        frames(response).write(Buffer.concat([...half, bytes]))
        if (silent !== true) response.end()
      }
      upstream.script = script
      gateway.lines.length = 0
      await Promise.all(
        Object.entries(CALLERS).map(async ([name, { path, body, complete, failed }]) => {
          const answer = await gateway.send(path, body, { headers: VERSION }).answer
          const chunks: Buffer[] = []
          for await (const chunk of answer) chunks.push(chunk as Buffer)
          const whole = Buffer.concat(chunks)
          const isBinary = String(answer.headers['content-type']).includes('eventstream')
          const text = isBinary ? shown(whole) : whole.toString()
          expect(answer.statusCode, `${name}: ${text}`).toBe(200)
          expect(text, name).toContain('Hello.')
          expect(text, name).toMatch(failed)
          expect(text, name).not.toMatch(complete)
          expect(text, name).not.toContain(' More.')
        }),
      )
      const causes = gateway.lines
        .filter(({ message }) => message === 'a channel failed')
        .map(({ fields }) => fields['said'])
      expect(causes.length).toBe(Object.keys(CALLERS).length)
      for (const one of causes) expect(one).toMatch(cause)
    })
})
