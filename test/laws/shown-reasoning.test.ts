import { describe, expect, it } from 'vitest'
import type { Part, ReasoningPart } from '../../src/canonical/content.ts'
import { fold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { ReasoningFilter, type ReasoningShown, withReasoning } from '../../src/canonical/shown-reasoning.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { READERS } from '../../src/ingress/index.ts'
import { REQUEST } from '../builders/requests.ts'
import { CLIENTS } from '../thoughts/clients.ts'
import { Stage, thoughtsIn, type Way, wholeOf } from '../thoughts/stage.ts'
import { streamed } from './arbitrary-result.ts'
import { grammarFault } from './grammar.ts'
import { holds, plain, same } from './support.ts'

/* A caller gets a model's reasoning only if the request asks for it (trap 110). */

const LESS = ['none', 'signatures'] as const

describe.each(LESS)('an answer with %s of its reasoning', shown => {
  it('is the same as a stream and whole, and its events keep the grammar', () =>
    holds(streamed(), ({ events }) => {
      const filter = new ReasoningFilter(shown)
      const left = events.flatMap(event => filter.pass(event) ?? [])
      expect(grammarFault(left)).toBe(grammarFault(events))
      same(fold(left), withReasoning(fold(events), shown))
    }))

  it('has everything else of the answer', () =>
    holds(streamed(), ({ result }) => {
      const less = withReasoning(result, shown)
      const others = ({ candidates }: CanonicalResult) => candidates.map(one => one.content.filter(isNotReasoning))
      expect(others(less)).toEqual(others(result))
      for (const { content } of less.candidates)
        for (const part of content)
          if (part.type === 'reasoning') expect([shown, part.text]).toEqual(['signatures', ''])
      expect(less.usage).toBe(result.usage)
    }))
})

it('an answer without reasoning passes as it is', () => {
  const plainly = ({ events }: { events: readonly { type: string; part?: Part }[] }) =>
    events.every(({ part }) => part?.type !== 'reasoning')
  holds(streamed().filter(plainly), ({ events, result }) => {
    const filter = new ReasoningFilter('none')
    for (const event of events) expect(filter.pass(event)).toBe(event)
    expect(withReasoning(result, 'none')).toBe(result)
  })
})

const isNotReasoning = ({ type }: Part): boolean => type !== 'reasoning'

/** Requests of callers with and without reasoning, and the reasoning that they get. */
const ASKS: { readonly [format: string]: readonly (readonly [ReasoningShown, JsonObject])[] } = {
  messages: [
    ['all', { thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['all', { thinking: { type: 'enabled', budget_tokens: 2048, display: 'summarized' } }],
    ['all', { thinking: { type: 'adaptive' } }],
    ['all', { thinking: { type: 'adaptive', display: null }, output_config: { effort: 'high' } }],
    ['signatures', { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } }],
    ['signatures', { thinking: { type: 'enabled', budget_tokens: 2048, display: 'omitted' } }],
    ['none', { thinking: { type: 'disabled' } }],
    ['none', { thinking: { type: 'between_tools' } }],
    ['none', { output_config: { effort: 'high' } }],
    ['none', {}],
  ],
  contents: [
    ['all', { generationConfig: { thinkingConfig: { includeThoughts: true } } }],
    ['all', { generation_config: { thinking_config: { include_thoughts: true, thinking_budget: 2048 } } }],
    ['none', { generationConfig: { thinkingConfig: { includeThoughts: false } } }],
    ['none', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
    ['none', { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } }],
    ['none', {}],
  ],
  chat: [
    ['all', {}],
    ['all', { reasoning_effort: 'high' }],
  ],
  responses: [
    ['all', {}],
    ['all', { reasoning: { summary: 'auto' } }],
  ],
}

const FORMATS = Object.keys(ASKS)

/** Returns the first request of a client, with these settings instead of its own. */
function asking(format: string, settings: JsonObject): WireRequest {
  const { body, ...first } = CLIENTS[format]!.first('What time is it?')
  const { thinking: _, ...rest } = body
  return { ...first, body: { ...rest, ...settings } }
}

const MARK = 'quokka'

/** Returns answers with reasoning, with or without text, and with calls. */
const answersOf = (format: string): readonly CanonicalResult[] =>
  [1, 2].flatMap(count => [false, true].map(spoken => answerOf(format, count, spoken)))

const answerOf = (format: string, count: number, spoken: boolean): CanonicalResult => ({
  candidates: [
    {
      content: [
        // Only messages separates consecutive reasoning parts.
        ...Array.from({ length: format === 'messages' ? count : 1 }, (_, at) => thought(format, at)),
        ...(spoken ? [{ type: 'text' as const, text: 'One moment.' }] : []),
        ...Array.from({ length: count }, (_, at) => call(at)),
      ],
      finish: { reason: 'tool-calls' },
    },
  ],
  usage: { input: 21, output: 13, reasoning: 5 },
})

const thought = (format: string, at: number): ReasoningPart => ({
  ...{ type: 'reasoning', text: `${MARK} ${at}` },
  ...(format === 'chat'
    ? {}
    : { signature: { format, value: Buffer.from(`proof of the ${MARK} ${at}`).toString('base64') } }),
})

const call = (at: number): Part => ({
  ...{ type: 'tool-call', id: `toolu_01AbCdEfGhIjKl${at}`, name: 'get_time', arguments: `{"zone":"${at}"}` },
})

const DIALECTS: { readonly [format: string]: JsonObject } = {
  chat: { reasoning_field: 'reasoning_content' },
  messages: { bound_proofs: true },
}

const ways = FORMATS.flatMap(caller =>
  ASKS[caller]!.flatMap(([shown, settings]) =>
    FORMATS.filter(upstream => upstream !== caller).flatMap(upstream =>
      [false, true].map(stream => ({ caller, upstream, stream, shown, settings })),
    ),
  ),
)

describe('a caller gets the reasoning that it requested, and the next turn has its signatures', () => {
  it.each(ways)(
    '$caller to $upstream, streamed: $stream, $settings',
    ({ caller, upstream, stream, shown, settings }) => {
      const way: Way = { caller, upstream, streamed: stream, dialect: DIALECTS[upstream] ?? {} }
      for (const answer of answersOf(upstream)) {
        const stage = new Stage()
        const first = asking(caller, settings)
        const told = stage.told(way, first, answer)
        const heard = READERS[caller]!.result!({ status: 200, headers: {}, body: told }, REQUEST).candidates[0]!.content
        const reasoning = heard.filter(part => part.type === 'reasoning')
        const given = answer.candidates[0]!.content
        const words = (parts: readonly Part[]) =>
          parts.flatMap(part => (part.type === 'reasoning' ? part.text : [])).join('')
        expect(words(reasoning)).toBe(shown === 'all' ? words(given) : '')
        if (shown !== 'all') expect(JSON.stringify(told)).not.toContain(MARK)
        if (shown === 'none') {
          expect(reasoning).toEqual([])
          expect(heard.map(({ type }) => type)).toEqual(given.filter(isNotReasoning).map(({ type }) => type))
        }
        if (shown === 'signatures' && upstream !== 'chat') expect(reasoning).not.toEqual([])
        const next = CLIENTS[caller]!.next(first, told, 'keeps')
        const client = CLIENTS[upstream]!
        const own = client.next(client.first('What time is it?'), wholeOf(upstream, answer), 'keeps')
        const proofs = (wire: WireRequest) =>
          thoughtsIn(upstream, plain(wire)).map(one => (one as { proof?: string }).proof)
        expect(proofs(stage.sent(way, next).wire)).toEqual(proofs(own))
        if (shown === 'none')
          expect(thoughtsIn(upstream, stage.sent(way, next).wire)).toEqual(thoughtsIn(upstream, own))
      }
    },
  )
})

describe('a caller that no longer requests reasoning still has its signatures', () => {
  const asks = [
    ['messages', { thinking: { type: 'adaptive' } }, { thinking: { type: 'disabled' } }],
    ['contents', { generationConfig: { thinkingConfig: { includeThoughts: true } } }, { generationConfig: {} }],
  ] as const
  const pairs = asks.flatMap(([caller, on, off]) =>
    FORMATS.filter(upstream => upstream !== caller).map(upstream => ({ caller, upstream, on, off })),
  )

  it.each(pairs)('$caller to $upstream', ({ caller, upstream, on, off }) => {
    const way: Way = { caller, upstream, dialect: DIALECTS[upstream] ?? {} }
    const stage = new Stage()
    const client = CLIENTS[caller]!
    const [one, two] = [answerOf(upstream, 1, true), renamed(answerOf(upstream, 1, false))]
    const first = asking(caller, on)
    const second = { ...client.next(first, stage.told(way, first, one), 'keeps') }
    const quiet = { ...second, body: { ...second.body, ...off } }
    const third = client.next(quiet, stage.told(way, quiet, two), 'keeps')
    const own = CLIENTS[upstream]!
    const asked = own.first('What time is it?')
    const before = own.next(asked, wholeOf(upstream, one), 'keeps')
    expect(thoughtsIn(upstream, stage.sent(way, third).wire)).toEqual(
      thoughtsIn(upstream, plain(own.next(before, wholeOf(upstream, two), 'keeps'))),
    )
  })
})

/** Returns the answer with other ids of its calls. */
const renamed = ({ candidates }: CanonicalResult): CanonicalResult => ({
  candidates: candidates.map(one => ({
    ...one,
    content: one.content.map(part => (part.type === 'tool-call' ? { ...part, id: `${part.id}b` } : part)),
  })),
})
