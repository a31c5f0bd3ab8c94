import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part, ReasoningPart, ToolCallPart } from '../../src/canonical/content.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { repair } from '../../src/canonical/repair.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../src/canonical/result.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { prepare } from '../../src/gateway/prepare.ts'
import { ReasoningMemory } from '../../src/gateway/thoughts/reasoning-memory.ts'
import { READERS } from '../../src/ingress/index.ts'
import { REQUEST } from '../builders/requests.ts'
import { NATIVE } from '../builders/write-options.ts'
import { CLIENTS, type Habit } from '../thoughts/clients.ts'
import { LIMITS, Stage, targetOf, thoughtsIn, type Way, wholeOf } from '../thoughts/stage.ts'
import { request } from './arbitrary.ts'
import { meaning } from './same.ts'
import { conversing, holds, holdsForPair, plain, same } from './support.ts'

/*
 * With remembered reasoning, an agent's second step reaches every upstream with the content that the upstream's own
 * client would send.
 */

const word = fc.constantFrom('so', 'hmm', 'I see.\n\nThen', 'naïve 日本', '{"a":1}')
const text: fc.Arbitrary<Part> = word.map(said => ({ type: 'text', text: said }))

/** Reasoning of upstreams before a call: plain, signed, hidden, or a signature alone in front of the signed part. */
const plainly: fc.Arbitrary<ReasoningPart> = word.map(said => ({ type: 'reasoning', text: said }))
const signed = (format: string, said: fc.Arbitrary<string>): fc.Arbitrary<ReasoningPart> =>
  said.map(text => ({ type: 'reasoning', text, signature: { format, value: 'cHJvb2Y=' } }))
const hidden = (format: string) =>
  signed(format, fc.constant('')).map((part): ReasoningPart => ({ ...part, redacted: true }))
const worded = fc.oneof(word, fc.constant(''))

interface Thinking {
  readonly first: fc.Arbitrary<readonly ReasoningPart[]>
  /** Reasoning right before the first call. */
  readonly last: fc.Arbitrary<readonly ReasoningPart[]>
}

const NOTHING: fc.Arbitrary<readonly ReasoningPart[]> = fc.constant([])
const some = (one: fc.Arbitrary<ReasoningPart>, minLength: number) => fc.array(one, { minLength, maxLength: 2 })

const THINKING: { readonly [format: string]: Thinking } = {
  chat: { first: some(plainly, 1).map(list => list.slice(0, 1)), last: NOTHING },
  messages: { first: some(fc.oneof(signed('messages', worded), hidden('messages')), 1), last: NOTHING },
  responses: { first: some(signed('responses', worded), 1), last: some(signed('responses', word), 0) },
  contents: {
    first: some(plainly, 0).map(list => list.slice(0, 1)),
    last: signed('contents', fc.constant('')).map(one => [one]),
  },
  converse: { first: some(fc.oneof(signed('converse', worded), hidden('converse')), 1), last: NOTHING },
  'cohere-chat': { first: some(plainly, 1).map(list => list.slice(0, 1)), last: NOTHING },
  interactions: { first: some(signed('interactions', worded), 1), last: NOTHING },
}

const id = fc.constantFrom('call_0', 'functions.get_time:1', 'toolu_01AbCdEfGhIjKl', 'call_9Xy8Wv7Ut6', 'wEiRd id/ö')
const call = fc
  .tuple(id, fc.constantFrom('{"zone":"UTC"}', '{"b":[1,2],"a":{"c":null}}', '{}'))
  .map(([id, said]): ToolCallPart => ({ type: 'tool-call', id, name: 'get_time', arguments: said }))

/** Calls of an answer, all with different ids. */
const calls = fc.uniqueArray(call, { selector: ({ id }) => id, minLength: 1, maxLength: 3 })

/** Gives each reasoning part of an answer its own signature and text. */
const numbered = (content: readonly Part[]): readonly Part[] =>
  content.map((part, index) =>
    part.type !== 'reasoning'
      ? part
      : {
          ...part,
          ...(part.text === '' ? {} : { text: `${index} ${part.text}` }),
          ...(part.signature && {
            signature: { ...part.signature, value: Buffer.from(`proof ${index}`).toString('base64') },
          }),
        },
  )

/** An answer with reasoning before its first call, and possibly a text between them. */
const answerOf = (format: string): fc.Arbitrary<CanonicalResult> =>
  fc
    .tuple(THINKING[format]!.first, fc.array(text, { maxLength: 1 }), THINKING[format]!.last, calls)
    .map(parts => ({ candidates: [{ content: numbered(parts.flat()), finish: { reason: 'tool-calls' } }] }))

const DIALECTS: { readonly [format: string]: JsonObject } = {
  chat: { reasoning_field: 'reasoning_content' },
  messages: { bound_proofs: true },
  converse: { bound_proofs: true },
  'cohere-chat': { thinks: true },
}
const FORMATS = conversing('events')

/** Returns what the upstream's own client would send, reduced to reasoning and calls. */
function ownStep(upstream: string, answers: readonly CanonicalResult[]): readonly unknown[] {
  const its = CLIENTS[upstream]!
  const last = answers.reduce((wire, answer) => its.next(wire, wholeOf(upstream, answer), 'keeps'), its.first(QUESTION))
  const { wire } = WRITERS[upstream]!.request!(READERS[upstream]!.request!(last), NATIVE)
  return thoughtsIn(upstream, wire)
}

const QUESTION = 'What time is it?'

/** Returns the requests of a client that gets this number of answers. */
function requestsOf(stage: Stage, way: Way, answers: readonly CanonicalResult[], habit: Habit): readonly WireRequest[] {
  const client = CLIENTS[way.caller]!
  const wires = [client.first(QUESTION)]
  for (const answer of answers) wires.push(client.next(wires.at(-1)!, stage.told(way, wires.at(-1)!, answer), habit))
  return wires
}

const wayOf = (caller: string, upstream: string, streamed = false): Way => ({
  ...{ caller, upstream, streamed, dialect: DIALECTS[upstream] ?? {} },
})

const pairs = FORMATS.flatMap(caller => FORMATS.map(upstream => ({ caller, upstream })))
const ways = pairs.flatMap(pair => [false, true].map(streamed => ({ ...pair, streamed })))

describe('a client’s next step reaches the upstream as its own client’s would, whatever the client threw away', () => {
  it.each(ways)('$caller to $upstream, streamed: $streamed', ({ caller, upstream, streamed }) => {
    const way = wayOf(caller, upstream, streamed)
    holdsForPair(answerOf(upstream), answer => {
      const stage = new Stage()
      const [, second] = requestsOf(stage, way, [answer], 'drops')
      expect(thoughtsIn(upstream, stage.sent(way, second!).wire)).toEqual(ownStep(upstream, [answer]))
    })
  })

  it.each(FORMATS)('contents to %s, the ids of calls as well', upstream => {
    const way = wayOf('contents', upstream)
    const unnamed = (list: readonly unknown[]) => list.map(one => ({ ...(one as object), call: undefined }))
    holds(answerOf(upstream), answer => {
      const stage = new Stage()
      const [, second] = requestsOf(stage, way, [answer], 'drops-ids')
      const written = thoughtsIn(upstream, stage.sent(way, second!).wire)
      expect(unnamed(written)).toEqual(unnamed(ownStep(upstream, [answer])))
    })
  })
})

describe('reasoning that a client returns is not repeated, and has its signature', () => {
  it.each(pairs)('$caller to $upstream', ({ caller, upstream }) => {
    const way = wayOf(caller, upstream)
    holdsForPair(answerOf(upstream), answer => {
      const stage = new Stage()
      const [, second] = requestsOf(stage, way, [answer], 'keeps')
      const { wire, losses } = stage.sent(way, second!)
      const read = READERS[upstream]!.request!(plain(wire))
      same(meaning(read), meaning(lose(stage.read(way, second!), losses)))
      const written = thoughtsIn(upstream, wire).map(one => JSON.stringify(one))
      expect(written.length).toBe(new Set(written).size)
      const proofs = ownStep(upstream, [answer]).filter(one => (one as { proof?: string }).proof !== undefined)
      for (const proof of proofs.slice(0, 1)) expect(written.join()).toContain((proof as { proof: string }).proof)
    })
  })
})

/**
 * Answers of one conversation. All calls have different ids, except in formats that number them anew in each answer.
 */
const answersOf = (format: string): fc.Arbitrary<readonly CanonicalResult[]> =>
  fc
    .array(answerOf(format), { minLength: 2, maxLength: 3 })
    .map(list => list.map(({ candidates }, round) => ({ candidates: candidates.map(one => inRound(one, round)) })))

const inRound = ({ content, ...rest }: Candidate, round: number): Candidate => ({
  ...rest,
  content: content.map((part): Part => (part.type === 'tool-call' ? { ...part, id: `${part.id}${round}` } : part)),
})

describe('prefix stability: with what is remembered, a turn added changes no byte of what was written (law 21)', () => {
  it.each(pairs)('$caller to $upstream', ({ caller, upstream }) => {
    const way = wayOf(caller, upstream)
    holdsForPair(answersOf(upstream), answers => {
      const stage = new Stage()
      const wires = requestsOf(stage, way, answers, 'drops')
      const written = wires.map(wire => turnsIn(stage.sent(way, wire).wire))
      for (const [index, turns] of written.slice(1).entries()) {
        const before = written[index]!
        expect(JSON.stringify(turns.slice(0, before.length))).toBe(JSON.stringify(before))
      }
      expect(thoughtsIn(upstream, stage.sent(way, wires.at(-1)!).wire)).toEqual(ownStep(upstream, answers))
    })
  })
})

const turnsIn = ({ body }: WireRequest): readonly Json[] =>
  (body['messages'] ?? body['contents'] ?? body['input']) as readonly Json[]

/** Remembered reasoning for the calls of any request. */
const kept = (format: string) => fc.array(answerOf(format), { minLength: 1, maxLength: 3 })

describe('exact loss: with what was put back, reading what was written gives the request minus what was reported', () => {
  it.each(FORMATS)('%s', format => {
    const target = targetOf({ caller: 'elsewhere', upstream: format, dialect: DIALECTS[format] ?? {} })
    holds(fc.tuple(request, kept(format)), ([given, answers]) => {
      const thoughts = new ReasoningMemory(LIMITS).of('ann')!
      // Repairs are reported in another way (`canonical/repair.ts`), and tested elsewhere.
      const asked = repair(withLongIds(given)).request
      const ids = asked.messages.flatMap(({ content }) =>
        content.flatMap(part => (part.type === 'tool-call' ? [part.id] : [])),
      )
      for (const [index, answer] of answers.entries())
        thoughts.save(named(answer, ids.slice(index)), {
          attempt: { incoming: { call: { format: 'chat' } }, target, request: REQUEST },
          prepared: { recalled: undefined },
        })
      const { wire, losses } = prepare(asked, target, thoughts)
      const read = READERS[format]!.request!(plain(wire))
      same(meaning(read), meaning({ ...lose(asked, losses), model: 'm' }))
    })
  })
})
/** Gives calls ids by which they are found anywhere. */
const withLongIds = (given: CanonicalRequest): CanonicalRequest => ({
  ...given,
  messages: given.messages.map(message => ({
    ...message,
    content: message.content.map(part =>
      part.type === 'tool-call' || part.type === 'tool-result' ? { ...part, id: `call_Ab3Cd4Ef5Gh6_${part.id}` } : part,
    ),
  })),
})

const named = ({ candidates }: CanonicalResult, ids: readonly string[]): CanonicalResult => {
  const left = [...ids]
  return {
    candidates: candidates.map(candidate => ({
      ...candidate,
      content: candidate.content.map(part =>
        part.type === 'tool-call' ? { ...part, id: left.shift() ?? part.id } : part,
      ),
    })),
  }
}
