import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold } from '../../src/canonical/fold.ts'
import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { eventParser } from '../../src/ingress/transport/event-parser.ts'
import { events, json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { fixtureCases } from '../builders/demo.ts'
import { TestServer } from '../builders/gateway.ts'
import { REQUEST } from '../builders/requests.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { grammarFault } from '../laws/grammar.ts'

/** For each format, the paths of whole and streamed requests, and the headers they need. */
const DOORS: {
  readonly [format: string]: {
    readonly whole: string
    readonly stream: string
    readonly headers?: Record<string, string>
  }
} = {
  chat: { whole: '/v1/chat/completions', stream: '/v1/chat/completions' },
  responses: { whole: '/v1/responses', stream: '/v1/responses' },
  messages: { whole: '/v1/messages', stream: '/v1/messages', headers: { 'anthropic-version': '2023-06-01' } },
  contents: {
    whole: '/v1beta/models/m:generateContent',
    stream: '/v1beta/models/m:streamGenerateContent?alt=sse',
  },
}

const FORMATS = Object.keys(DOORS).filter(
  format => READERS[format]?.events !== undefined && WRITERS[format]?.events !== undefined,
)

const CASES = fixtureCases(FORMATS).filter(one => one.result !== undefined && one.events !== undefined)

const casesOf = (format: string) => CASES.filter(one => one.format === format)

const helloOf = (format: string): JsonObject => casesOf(format).find(({ name }) => name === 'hello')!.request!

/** The content of an answer that every format can express: texts, refusals and tool calls, freeform ones as functions. */
const said = ({ candidates }: CanonicalResult): unknown[] =>
  candidates.flatMap(({ content }) =>
    content.flatMap((part): unknown[] => {
      if (part.type === 'text' || part.type === 'refusal') return part.text === '' ? [] : [part.text]
      if (part.type !== 'tool-call') return []
      return [[part.name, part.freeform ? { input: part.arguments } : (parseObject(part.arguments) ?? part.arguments)]]
    }),
  )
const readWhole = (format: string, body: JsonObject): CanonicalResult =>
  READERS[format]!.result!({ status: 200, headers: {}, body }, REQUEST)

function readEvents(format: string, text: string): CanonicalEvent[] {
  const wire = drain(eventParser(), [Buffer.from(text)])
  return drain(READERS[format]!.events!({ ...REQUEST, stream: true }), wire)
}

let upstream: FakeUpstream
beforeAll(async () => void (upstream = await FakeUpstream.open(() => {})))
afterAll(() => upstream.close())

describe.each(FORMATS)('a caller of %s', caller => {
  describe.each(FORMATS)('before an upstream of %s', format => {
    let testServer: TestServer
    beforeAll(async () => {
      const channel = channelAt(upstream.address, { format })
      testServer = await TestServer.open([channel])
    })
    afterAll(() => testServer.server.close(0))

    const asks = (stream: boolean): JsonObject => {
      const body = { ...helloOf(caller), model: 'm' }
      return caller === 'contents' ? body : { ...body, stream }
    }

    test.each(casesOf(format))('gets $name whole', async ({ result }) => {
      upstream.script = response => json(response, result)
      const answer = await testServer.ask(DOORS[caller]!.whole, asks(false), { headers: DOORS[caller]!.headers ?? {} })
      expect(answer.status, answer.text).toBe(200)
      expect(said(readWhole(caller, answer.json))).toEqual(said(readWhole(format, result!)))
    })

    test.each(casesOf(format))('gets $name streamed, however the bytes are cut', async ({ events: text }) => {
      const bytes = Buffer.from(text!)
      upstream.script = async response => {
        events(response)
        for (let at = 0; at < bytes.length; at += 97) {
          response.write(bytes.subarray(at, at + 97))
          await new Promise(resolve => setImmediate(resolve))
        }
        response.end()
      }
      const answer = await testServer.ask(DOORS[caller]!.stream, asks(true), { headers: DOORS[caller]!.headers ?? {} })
      expect(answer.status, answer.text).toBe(200)
      const read = readEvents(caller, answer.text)
      expect(grammarFault(read)).toBeUndefined()
      const whole = fold(read)
      expect(whole.error).toBeUndefined()
      expect(said(whole)).toEqual(said(fold(readEvents(format, text!))))
      expect(whole.candidates.every(({ finish }) => finish !== undefined)).toBe(true)
    })
  })
})
