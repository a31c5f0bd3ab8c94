import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part, ReasoningPart } from '../../src/canonical/content.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { filled, record } from './arbitrary.ts'
import { asked, type Streamed, streamed } from './arbitrary-result.ts'
import { meaning } from './same.ts'
import { holds, plain, same } from './support.ts'

/*
 * An upstream gets its own signed reasoning back in the next turn: for every caller format with a signature field and
 * every issuer, whole and streamed, and however much of the answer a client returns.
 */

// biome-ignore lint/suspicious/noExplicitAny: bodies of the wire, put together as clients do
type Loose = any

const proof = (format: string) => record({ format: fc.constant(format), value: filled })
const words = fc.oneof(filled, fc.constantFrom('Hm,', ' yes.', 'Hm, yes.', '\n\n'))
const signed = (format: string) =>
  record<ReasoningPart>({ type: fc.constant('reasoning'), text: words, signature: proof(format) })
const lone = (format: string) =>
  record<ReasoningPart>({ type: fc.constant('reasoning'), text: fc.constant(''), signature: proof(format) })
const hidden = (format: string) => lone(format).map(part => ({ ...part, redacted: true as const }))
const unsigned = record<ReasoningPart>({ type: fc.constant('reasoning'), text: words })

/** Reasoning of the upstreams of each format. */
const ISSUERS: { readonly [format: string]: fc.Arbitrary<ReasoningPart> } = {
  chat: unsigned,
  messages: fc.oneof(signed('messages'), hidden('messages')),
  responses: fc.oneof(signed('responses'), lone('responses')),
  contents: fc.oneof(signed('contents'), lone('contents')),
}

const said = fc.oneof(
  record<Part>({ type: fc.constant('text'), text: filled }),
  fc.nat(99).map((id): Part => ({ type: 'tool-call', id: `call_${id}`, name: 'f', arguments: '{"a":1}' })),
)

/** Answers with reasoning before texts and calls, and possibly some at the end. */
function answers(thought: fc.Arbitrary<ReasoningPart>): fc.Arbitrary<CanonicalResult> {
  const step = fc.tuple(fc.array(thought, { maxLength: 2 }), said).map(([thoughts, part]) => [...thoughts, part])
  return fc
    .tuple(fc.array(step, { minLength: 1, maxLength: 3 }), fc.array(thought, { maxLength: 1 }))
    .map(([steps, last]) => ({
      ...{ id: 'a', model: 'm', createdAt: 1 },
      candidates: [{ content: unique([...steps.flat(), ...last]), finish: { reason: 'stop' as const } }],
    }))
}

/** Makes the ids of the calls in a turn unique. */
const unique = (content: readonly Part[]): Part[] =>
  content.map((part, index) => (part.type === 'tool-call' ? { ...part, id: `call_${index}` } : part))

/** A client that converts an answer to the model's turns of a history. */
interface Client {
  readonly whole: (body: Loose) => readonly JsonObject[]
  readonly streamed: (events: readonly Loose[]) => readonly JsonObject[]
}

const contentOf = (answer: Loose): Loose => answer.candidates[0].content ?? { role: 'model', parts: [] }
const turn = (parts: readonly Loose[]): JsonObject => ({ role: 'model', parts })
const spoken = (parts: readonly Loose[]): Loose[] => parts.filter(part => part.thought !== true)
const inOneTurn = (keep: (parts: readonly Loose[]) => Loose[]): Client => ({
  whole: body => [turn(keep(contentOf(body).parts))],
  streamed: events => [turn(keep(events.flatMap(event => contentOf(event).parts)))],
})
const inTurns = (keep: (parts: readonly Loose[]) => Loose[]): Client => ({
  ...inOneTurn(keep),
  streamed: events =>
    events.map(event => turn(keep(contentOf(event).parts))).filter(({ parts }: Loose) => parts.length),
})

/** Joins neighbouring texts and retains the signature of the first, as Gemini CLI and the AI SDK do with streams. */
function merged(parts: readonly Loose[]): Loose[] {
  const out: Loose[] = []
  for (const part of parts) {
    const last = out.at(-1)
    const joins = last?.text !== undefined && part.text !== undefined && last.thought === part.thought
    if (joins && part.thoughtSignature === undefined) out[out.length - 1] = { ...last, text: last.text + part.text }
    else out.push(part)
  }
  return out
}

const proofsOnly = (items: readonly Loose[]): Loose[] =>
  items.map(({ id: _, ...item }) => (item.type === 'reasoning' ? { ...item, summary: [] } : item))
const itemsIn = (keep: (items: readonly Loose[]) => Loose[]): Client => ({
  whole: body => keep(body.output),
  streamed: events => {
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    return keep(done.sort((a, b) => a.output_index - b.output_index).map(({ item }) => item))
  },
})

const CLIENTS: { readonly [format: string]: { readonly [name: string]: Client } } = {
  messages: { 'keeps everything': { whole: body => [{ role: 'assistant', content: body.content }], streamed: blocks } },
  responses: { 'keeps everything': itemsIn(items => [...items]), 'keeps proofs only': itemsIn(proofsOnly) },
  contents: {
    'keeps everything': inOneTurn(parts => [...parts]),
    'strips thoughts': inOneTurn(spoken),
    'keeps chunks as turns': inTurns(parts => [...parts]),
    'keeps chunks as turns without thoughts': inTurns(spoken),
    'merges pieces': inOneTurn(merged),
    'merges pieces without thoughts': inOneTurn(parts => merged(spoken(parts))),
  },
}

/** Assembles a message as the SDK does. */
function blocks(events: readonly Loose[]): readonly JsonObject[] {
  const content: Loose[] = []
  for (const { type, index, content_block, delta } of events) {
    if (type === 'content_block_start') content[index] = { ...content_block, ...(content_block.input && { json: '' }) }
    const block = content[index]
    if (type !== 'content_block_delta') continue
    if (delta.type === 'text_delta') block.text += delta.text
    if (delta.type === 'thinking_delta') block.thinking += delta.thinking
    if (delta.type === 'signature_delta') block.signature = delta.signature
    if (delta.type === 'input_json_delta') block.json += delta.partial_json
  }
  const whole = content.map(({ json, ...block }) =>
    json === undefined ? block : { ...block, input: JSON.parse(json) },
  )
  return [{ role: 'assistant', content: whole }]
}

const HISTORIES: { readonly [format: string]: (turns: readonly JsonObject[]) => JsonObject } = {
  messages: turns => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }, ...turns] }),
  responses: turns => ({ model: 'm', input: [{ role: 'user', content: 'Hi' }, ...turns] }),
  contents: turns => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }, ...turns] }),
}

const PATHS: { readonly [format: string]: string } = { contents: '/v1beta/models/m:generateContent' }

const read = (format: string, turns: readonly JsonObject[]): CanonicalRequest =>
  READERS[format]!.request!({
    path: PATHS[format] ?? '/v1',
    query: {},
    headers: {},
    body: plain(HISTORIES[format]!(turns)),
  })

/** Returns the content with all reasoning and signatures. Texts and their chunks are joined. */
function essence(messages: CanonicalRequest['messages']): unknown {
  const { messages: turns } = meaning({ model: 'm', messages, output: {}, sampling: {}, stream: false })
  const parts = turns.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content)
  const out: Loose[] = []
  for (const { extras: _, ...part } of parts as Loose[]) {
    const last = out.at(-1)
    if (part.type === 'text' && last?.type === 'text') out[out.length - 1] = { ...last, text: last.text + part.text }
    else out.push(part)
  }
  return out
}

const eventsOf = (format: string, events: Streamed['events']): Loose[] =>
  drain(WRITERS[format]!.events!(asked), events).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]))

/**
 * Whether the field has a plain signature. An upstream's own signature is not wrapped for its own callers, so that a
 * client that stores only the field has only the signature.
 */
const isPlain = (format: string, name: string, issuer: string): boolean =>
  name === 'keeps proofs only' && issuer === format

const CASES = Object.entries(CLIENTS).flatMap(([format, clients]) =>
  Object.entries(clients).flatMap(([name, client]) =>
    Object.keys(ISSUERS)
      .filter(issuer => !isPlain(format, name, issuer))
      .map(issuer => [format, name, issuer, client] as const),
  ),
)

describe('thoughts come back: what an answer says is in the history a client makes of it', () => {
  it.each(CASES)('%s, a client that %s: thoughts of %s', (format, _, issuer, client) => {
    holds(streamed(answers(ISSUERS[issuer]!)), ({ result, events }) => {
      const want = essence([{ role: 'assistant', content: result.candidates[0]!.content }])
      const whole = WRITERS[format]!.result!(result, asked).wire.body
      same(essence(read(format, client.whole(whole)).messages), want)
      same(essence(read(format, client.streamed(eventsOf(format, events))).messages), want)
    })
  })
})

describe('an envelope reaches no upstream', () => {
  it.each(CASES)('%s, a client that %s: thoughts of %s', (format, _, issuer, client) => {
    holds(streamed(answers(ISSUERS[issuer]!)), ({ result, events }) => {
      for (const turns of [
        client.whole(WRITERS[format]!.result!(result, asked).wire.body),
        client.streamed(eventsOf(format, events)),
      ])
        for (const target of Object.keys(ISSUERS)) {
          const options = target === format ? NATIVE : FOREIGN
          const { wire } = WRITERS[target]!.request!(read(format, turns), options)
          expect(JSON.stringify(wire.body)).not.toMatch(/"aWw6/)
        }
    })
  })
})

describe('no stream of contents has a part without data, or a signature on a thought part (traps 90, 91)', () => {
  it.each(Object.keys(ISSUERS))('thoughts of %s', issuer => {
    holds(streamed(answers(ISSUERS[issuer]!)), ({ result, events }) => {
      const whole = WRITERS['contents']!.result!(result, asked).wire.body
      for (const event of [whole, ...eventsOf('contents', events)])
        for (const part of contentOf(event).parts) {
          expect(part).toSatisfy((said: Loose) => said.text !== undefined || said.functionCall !== undefined)
          if (part.thought !== undefined) expect(part).toEqual({ text: expect.stringMatching(/./s), thought: true })
        }
    })
  })
})
