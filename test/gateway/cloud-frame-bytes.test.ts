import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunkFrame } from '../builders/clouds/answers.ts'
import { channelAt } from '../builders/config.ts'
import { converseFrame, framesIn } from '../builders/frames.ts'
import { TestServer } from '../builders/gateway.ts'
import { VERSION } from '../builders/http.ts'

/*
 * Binary streams of AWS over a socket that cuts, joins, damages or ends them at every single byte: callers get exactly
 * the answer, or an error after a part of it.
 */

const WORDS = ['Grüße ', 'aus ', '🌍 ', 'Köln.']
const delta = (delta: object): object => ({ contentBlockIndex: 0, delta })
const CONVERSE: readonly Buffer[] = [
  converseFrame('messageStart', { role: 'assistant' }),
  ...WORDS.map(text => converseFrame('contentBlockDelta', delta({ text }) as never)),
  converseFrame('contentBlockStop', { contentBlockIndex: 0 }),
  converseFrame('messageStop', { stopReason: 'end_turn' }),
  converseFrame('metadata', { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, metrics: { latencyMs: 1 } }),
]
const INVOKE: readonly Buffer[] = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...WORDS.map(text => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
].map(event => chunkFrame(event as never))

const TURNS = [{ role: 'user', content: 'Hi' }]
const CALLERS = [
  {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: TURNS, stream: true },
    complete: /"finish_reason":"stop"/,
    failed: /"error":\{/,
  },
  {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 9, messages: TURNS, stream: true },
    complete: /message_stop/,
    failed: /^event: error$/m,
  },
  {
    path: '/model/m/converse-stream',
    body: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
    complete: /messageStop/,
    failed: /^\w+Exception /m,
  },
  {
    path: '/model/m/invoke-with-response-stream',
    body: { anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages: TURNS },
    complete: /message_stop/,
    failed: /^\w+Exception /m,
  },
] as const

/** Every how many bytes a stream is cut. `STEP=9` cuts at nearly every byte. */
const STEP = Number(process.env['STEP'] ?? 43)
const TIMED = { timeout: 300_000 }

/** Parts of a stream that are written one after the other, and how the connection ends. */
interface Plan {
  readonly parts: readonly Buffer[]
  readonly end?: 'reset' | 'close'
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\ntransfer-encoding: chunked\r\n\r\n'
const chunked = (part: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])

describe.each([
  ['Converse', 'converse', CONVERSE],
  ['InvokeModel', 'messages', INVOKE],
] as const)('a stream of %s', (_, format, frames) => {
  const bytes = Buffer.concat(frames)
  /** Number of bytes after which the answer has ended. The last frame adds nothing to it. */
  const finished = bytes.length - frames.at(-1)!.length
  let plan: Plan
  let server: Server
  let gateway: TestServer
  beforeAll(async () => {
    server = createServer({ noDelay: true }, socket => {
      let request = ''
      socket.on('error', () => {})
      socket.on('data', async data => {
        request += data.toString('latin1')
        if (!request.endsWith('}')) return
        const { parts, end } = plan
        request = ''
        socket.write(HEAD)
        for (const part of parts) {
          if (part.length > 0) socket.write(chunked(part))
          await new Promise(resolve => setImmediate(resolve))
        }
        if (end === 'reset') socket.resetAndDestroy()
        else if (end === 'close') socket.destroy()
        else socket.write('0\r\n\r\n')
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const channel = channelAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      format,
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    })
    const invoked = { ...channel.formats[0]!, hosting: 'bedrock-invoke', errors: 'converse' } as const
    gateway = await TestServer.open([{ ...channel, ...(format === 'messages' ? { formats: [invoked] } : {}) }])
  })
  afterAll(async () => {
    await gateway.server.close(0)
    server.close()
  })

  /** Returns the caller's stream as text, without ids and times. */
  async function answerTo({ path, body }: (typeof CALLERS)[number], next: Plan): Promise<string> {
    plan = next
    const answer = await gateway.send(path, body, { headers: VERSION }).answer
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const whole = Buffer.concat(chunks)
    if (answer.statusCode !== 200) return `status ${answer.statusCode}`
    const isBinary = String(answer.headers['content-type']).includes('eventstream')
    const text = isBinary
      ? framesIn(whole)
          .map(
            ({ name, data }) =>
              `${name} ${JSON.stringify(data)} ${data.bytes === undefined ? '' : Buffer.from(data.bytes, 'base64')}`,
          )
          .join('\n')
      : whole.toString()
    return text
      .replaceAll(/"(?:id|created|latencyMs)":[^,}]+|"p":"\w*"/g, '')
      .replaceAll(/\{"bytes":"[^"]*".*?\}(?= )/g, '')
  }

  const places = (first: number): readonly number[] =>
    Array.from({ length: bytes.length }, (_, at) => at).filter(at => at > 0 && at % STEP === first)

  for (const [index, caller] of CALLERS.entries()) {
    test(`is read the same by ${caller.path}, wherever it is cut into chunks`, TIMED, async () => {
      const expected = await answerTo(caller, { parts: [bytes] })
      expect(expected).toMatch(caller.complete)
      for (const at of places(index))
        expect(await answerTo(caller, { parts: [bytes.subarray(0, at), bytes.subarray(at)] }), `${at}`).toBe(expected)
      const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
      expect(await answerTo(caller, { parts: single })).toBe(expected)
    })

    test(`is an error for ${caller.path}, wherever it ends or is damaged`, TIMED, async () => {
      for (const at of places(index + 4)) {
        const damaged = Buffer.from(bytes)
        damaged[at]! ^= 1 << (at % 8)
        const plans: readonly Plan[] = [
          ...(['reset', 'close', undefined] as const).map(end => ({
            parts: [bytes.subarray(0, at)],
            ...(end && { end }),
          })),
          { parts: [damaged] },
        ]
        for (const [number, plan] of plans.entries()) {
          const said = await answerTo(caller, plan)
          if (at >= finished) continue
          expect(said, `plan ${number} at ${at}`).not.toMatch(caller.complete)
          // Before the first event, the answer is an error as a whole.
          if (said !== 'status 502') expect(said, `plan ${number} at ${at}`).toMatch(caller.failed)
        }
      }
    })
  }
})
