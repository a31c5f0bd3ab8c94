import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { describe, expect, test } from 'vitest'
import type { AnswerFacts } from '../../../src/kit/conformance/facts.ts'
import { CONVERSATIONS } from '../../../src/kit/conformance/formats/index.ts'
import { isObject, type Json, type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'
import { readSse, type SseEvent } from '../../../src/kit/conformance/sse.ts'

/* No recorded answer of a real provider fails a check, and the kit assembles streams as the official SDKs do. */

const HOME = process.env['RECORDINGS'] ?? join(import.meta.dirname, '../../../../shared/recordings')
const where = existsSync(HOME) ? '' : ` (skipped: no recordings at ${HOME})`

interface Recording {
  readonly file: string
  readonly host: string
  readonly request: { readonly body?: JsonObject } | null
  readonly response: { readonly status: number; readonly body?: JsonObject; readonly sse?: string }
}

const recordingsOf = (format: string): Recording[] =>
  existsSync(join(HOME, format))
    ? readdirSync(join(HOME, format)).map(file => ({
        file,
        ...JSON.parse(readFileSync(join(HOME, format, file), 'utf8')),
      }))
    : []

/** Each format's host of the publisher. Other hosts use dialects, to which the published schema does not apply. */
const PUBLISHERS: { readonly [format: string]: RegExp } = {
  chat: /^api\.openai\.com$/,
  messages: /^api\.anthropic\.com$/,
  responses: /^api\.openai\.com$/,
  contents: /^generativelanguage\.googleapis\.com$/,
}

const musts = (format: string): ReadonlySet<string> =>
  new Set(CONVERSATIONS[format]!.rules.filter(({ level }) => level === 'must').map(({ on, id }) => `${on}.${id}`))

const readable = (events: readonly Json[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      const text = events.map(event => `${JSON.stringify(event)}\n`).join('')
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })

/** Assembles events with Google's SDK, which does so in the history of a chat. */
async function googleAnswer(events: readonly Json[]): Promise<JsonObject> {
  const body = events.map(event => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')
  const server = createServer((_, reply) => reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(body))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const chat = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl } }).chats.create({ model: 'm' })
  let last: GenerateContentResponse | undefined
  for await (const event of await chat.sendMessageStream({ message: 'x' })) last = event
  server.close()
  const parts = chat.getHistory().flatMap(({ role, parts }) => (role === 'model' ? (parts ?? []) : []))
  const { finishReason, groundingMetadata } = last?.candidates?.[0] ?? {}
  const candidate = { content: { parts }, finishReason, groundingMetadata }
  return JSON.parse(JSON.stringify({ candidates: [candidate], usageMetadata: last?.usageMetadata }))
}

/** Whether arguments are streamed in chunks. Google's SDK returns these chunks unchanged. */
const hasPieces = (events: readonly Json[]): boolean => JSON.stringify(events).includes('"partialArgs"')

const ACCUMULATORS: { readonly [format: string]: (events: readonly Json[]) => Promise<unknown> } = {
  chat: events => ChatCompletionStream.fromReadableStream(readable(events)).finalChatCompletion(),
  messages: events => MessageStream.fromReadableStream(readable(events)).finalMessage(),
  responses: events => ResponseStream.fromReadableStream(readable(events)).finalResponse(),
  contents: googleAnswer,
}

/** Removes reasoning in vendors' own fields, which OpenAI's SDK does not assemble. */
const spoken = ({ candidates = [], usage }: AnswerFacts): object => ({
  usage,
  candidates: candidates.map(({ reasoning, order, ...rest }) => ({
    ...rest,
    ...(reasoning?.some(({ signature }) => signature) ? { reasoning, order } : {}),
  })),
})

/**
 * Returns the facts to compare. OpenAI encrypts reasoning anew in the final event, which the SDK reads, so that only
 * the presence of a signature is compared.
 */
const heldTo = (format: string, facts: AnswerFacts): unknown =>
  JSON.parse(JSON.stringify(spoken(facts)), (name, value) =>
    format === 'responses' && name === 'signature' ? 'a signature' : value,
  )

/** Returns the violations of failing rules in a stream. */
function faultsOf(format: string, { host, request }: Recording, events: readonly SseEvent[]): string[] {
  const { grammar: grammarOf, schemas, exceptions } = CONVERSATIONS[format]!
  const grammar = grammarOf({ body: objectOf(request?.body) })
  for (const event of events) grammar.event(event, parseJson(event.data))
  const broken = grammar.end(true).filter(({ rule }) => musts(format).has(`stream.${rule}`))
  const isPublisher = PUBLISHERS[format]!.test(host)
  const data = events.flatMap(event => parseJson(event.data) ?? []).filter(one => !('error' in objectOf(one)))
  const schema = isPublisher ? data.flatMap(one => schemaFaults(format, schemas.event, one, exceptions)) : []
  return [...broken.map(({ rule, detail }) => `${rule}: ${detail}`), ...new Set(schema)]
}

describe.skipIf(where !== '').each(Object.keys(PUBLISHERS))(`%s${where}`, format => {
  const { answer, assemble, lint, schemas, exceptions } = CONVERSATIONS[format]!
  const streams = recordingsOf(format).filter(({ response }) => response.status === 200 && response.sse)
  const wholes = recordingsOf(format).filter(({ response }) => response.status === 200 && isObject(response.body))

  test.each(streams.map(one => [one.file, one] as const))('stream %s', async (_, recording) => {
    const { events, faults } = readSse(Buffer.from(recording.response.sse!))
    expect(faults).toEqual([])
    expect(faultsOf(format, recording, events)).toEqual([])
    const data = events.flatMap(event => parseJson(event.data) ?? [])
    if (data.some(one => 'error' in objectOf(one))) return
    const ours = answer(assemble(data))
    const theirs = ACCUMULATORS[format]!(data)
    // The SDKs refuse streams that never finish, as some vendors send.
    if (ours.candidates?.some(({ finish }) => finish === undefined)) {
      await expect(theirs).rejects.toThrow(/finish_reason/)
      return
    }
    if (hasPieces(data)) {
      const calls = ours.candidates?.flatMap(candidate => candidate.calls ?? []) ?? []
      expect(calls.map(({ name }) => name)).toEqual(
        data.flatMap(one => JSON.stringify(one).match(/(?<="name":")\w+/g) ?? []),
      )
      expect(calls.every(call => Object.keys(objectOf(call.arguments)).length > 0)).toBe(true)
      return
    }
    const added = answer(JSON.parse(JSON.stringify(await theirs)))
    // A later chunk without usage makes OpenAI's SDK forget the usage.
    const theirFacts = added.usage === undefined ? { ...added, usage: ours.usage! } : added
    expect(heldTo(format, ours)).toEqual(heldTo(format, theirFacts))
  })

  test.each(wholes.map(one => [one.file, one] as const))('whole %s', (_, { host, response }) => {
    const broken = lint.answer(response.body!, {}).filter(({ rule }) => musts(format).has(`answer.${rule}`))
    expect(broken).toEqual([])
    if (PUBLISHERS[format]!.test(host))
      expect(schemaFaults(format, schemas.answer, response.body, exceptions)).toEqual([])
  })
})
