import { expect, test, vi } from 'vitest'
import type { CaptureDocument, CapturedBody } from '../../../src/gateway/capture/shapes.ts'
import { AdminServer } from '../../builders/admin.ts'
import { ANSWER, HEAD, json, TAIL, words } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt, KEY, keyOf } from '../../builders/config.ts'
import { SOON } from '../../builders/time.ts'
import { HOUR } from '../../builders/units.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'

/* What a capture shows of both sides is what went over the wire, for every format of a caller and every ending. */

const closing = closingAfterEach()

const user = { role: 'user', content: 'Hi' }
/** Path, whole body and streaming body of a request, by the caller's format. */
const CALLERS = {
  chat: ['/v1/chat/completions', { model: 'm', messages: [user] }, { stream: true }],
  completions: ['/v1/completions', { model: 'm', prompt: 'Hi' }, { stream: true }],
  responses: ['/v1/responses', { model: 'm', input: 'Hi' }, { stream: true }],
  messages: ['/v1/messages', { model: 'm', max_tokens: 9, messages: [user] }, { stream: true }],
  cohere: ['/v2/chat', { model: 'm', messages: [user] }, { stream: true }],
  interactions: ['/v1beta/interactions', { model: 'm', input: 'Hi' }, { stream: true }],
} as const
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
const REQUESTS: readonly (readonly [name: string, path: string, body: object])[] = [
  ...Object.entries(CALLERS).flatMap(([name, [path, body, streams]]) => [
    [`${name}, whole`, path, body] as const,
    [`${name}, streamed`, path, { ...body, ...streams }] as const,
  ]),
  ['contents, whole', '/v1beta/models/m:generateContent', CONTENTS],
  ['contents, streamed', '/v1beta/models/m:streamGenerateContent?alt=sse', CONTENTS],
  ['contents, streamed as a list', '/v1beta/models/m:streamGenerateContent', CONTENTS],
]

const STREAM = `${HEAD}${words('Hel', 'lo ', 'there.')}${TAIL}`
const head = { 'content-type': 'text/event-stream' }
/** Answers of the upstream: whole or streamed, complete, cut short, refused, and no JSON at all. */
const ENDINGS: readonly (readonly [name: string, script: Script])[] = [
  [
    'answered',
    (response, { text }) => (isStreamed(text) ? response.writeHead(200, head).end(STREAM) : json(response, ANSWER)),
  ],
  [
    'cut',
    (response, { text }) => {
      response.writeHead(200, isStreamed(text) ? head : { 'content-type': 'application/json' })
      response.write(isStreamed(text) ? STREAM.slice(0, STREAM.length / 2) : '{"id":"c","choi')
      setTimeout(() => response.destroy(), 50)
    },
  ],
  [
    'refused',
    response =>
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"No.","code":"x"}}'),
  ],
  ['overloaded', response => response.writeHead(529, { 'content-type': 'text/html' }).end('<h1>Busy \u00e9</h1>')],
  [
    'of no sense',
    (response, { text }) =>
      response
        .writeHead(200, isStreamed(text) ? head : { 'content-type': 'text/plain' })
        .end('data: nonsense\r\n\r\n: ping\n\ndata: {"a":\ndata: 1}\n\n'),
  ],
]
const isStreamed = (text: string): boolean => JSON.parse(text).stream === true

/** The events of a text, as a client reads them. */
const eventsIn = (text: string) =>
  text
    .split(/\r?\n\r?\n/)
    .map(block => block.split(/\r?\n/).filter(line => !line.startsWith(':')))
    .filter(lines => lines.some(line => line.startsWith('data:')))
    .map(lines => ({
      event: lines
        .find(line => line.startsWith('event:'))
        ?.slice(6)
        .trim(),
      data: lines
        .filter(line => line.startsWith('data:'))
        .map(line => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    }))

/** A body as a capture shows it, for comparison with the text on the wire. */
const shown = ({ events, body, text }: CapturedBody, wire: string) => {
  if (events !== undefined) return [events.map(({ event, data }) => ({ event, data })), eventsIn(wire)]
  return body === undefined ? [text ?? '', wire] : [body, JSON.parse(wire)]
}

/** Opens an upstream that notes what it sends. */
async function upstreamOf(script: Script) {
  const sent: { text: string }[] = []
  const upstream = await FakeUpstream.open((response, request) => {
    const wire = { text: '' }
    sent.push(wire)
    for (const method of ['write', 'end'] as const) {
      const plain = response[method].bind(response) as (chunk?: unknown) => never
      response[method] = ((chunk?: unknown) => {
        if (typeof chunk === 'string') wire.text += chunk
        return plain(chunk)
      }) as never
    }
    return script(response, request)
  })
  closing.push(() => upstream.close())
  return { upstream, sent }
}

test.each(ENDINGS)('a capture of a request that is %s shows what both sides got', async (ending, script) => {
  const { upstream, sent } = await upstreamOf(script)
  const admin = await AdminServer.open([channelAt(upstream.address)], {
    keys: [{ ...keyOf(KEY, 'dev'), captureUntil: Date.now() + HOUR }],
    usage: { retention: HOUR },
  })
  closing.push(() => admin.close())
  for (const [name, path, body] of REQUESTS) {
    sent.length = 0
    const answer = await admin.testServer.ask(path, body, { headers: { 'anthropic-version': '2023-06-01' } })
    const captured: CaptureDocument = await vi.waitFor(
      async () => {
        const found = await admin.get(`/requests/${answer.headers['x-request-id']}/capture`)
        expect(found.status).toBe(200)
        return found.json
      },
      { ...SOON, interval: 5 },
    )
    const { returned, attempts, caller } = captured
    expect([caller.body, returned.status], name).toEqual([body, answer.status])
    const [seen, got] = shown(returned, answer.text)
    expect(seen, name).toEqual(got)
    expect(attempts, name).toHaveLength(sent.length)
    for (const [index, { answer: answered }] of attempts.entries()) {
      // Of a whole body that is cut, the last word may be half a secret.
      const isBroken = ending === 'cut' && answered!.events === undefined
      const [recorded, wire] = shown(answered!, sent[index]!.text)
      expect(recorded, name).toEqual(isBroken ? '{"id":"c","' : wire)
    }
  }
})
