import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { RUNS } from '../runs.ts'
import { FORMATS } from './callers.ts'
import { judge } from './judge.ts'
import { type Step, type Talk, talks } from './script.ts'
import { LANES, Theatre, UPSTREAMS } from './theatre.ts'

/*
 * Conversations of several turns through a whole gateway, with models of several vendors: no strict server refuses a
 * request, nothing that was said is lost, doubled or moved, and each request begins with the one before it.
 */

let theatre: Theatre
beforeAll(async () => void (theatre = await Theatre.open()))
afterAll(() => theatre.close())

const holds = async (caller: string, talk: Talk, lane = 0): Promise<void> =>
  judge(caller, talk, await theatre.hold(caller, talk, lane))

describe('conversations that change the model at any turn', () => {
  it.each(FORMATS)(
    'of a caller of %s',
    async caller => {
      const property = fc.asyncProperty(talks(UPSTREAMS), talk => holds(caller, talk))
      await fc.assert(property, { numRuns: Math.ceil(RUNS / 15) })
    },
    60_000 + RUNS * 1000,
  )
})

describe('conversations of one key that are held at once, with calls of the same ids', () => {
  it(
    'of callers of any formats',
    async () => {
      const conversation = (lane: number) => fc.tuple(fc.constantFrom(...FORMATS), talks(UPSTREAMS, lane))
      const lanes = fc.tuple(...Array.from({ length: LANES }, (_, lane) => conversation(lane)))
      const property = fc.asyncProperty(lanes, async held => {
        const ended = await Promise.allSettled(held.map(([caller, talk], lane) => holds(caller, talk, lane)))
        for (const one of ended) if (one.status === 'rejected') throw one.reason
      })
      await fc.assert(property, { numRuns: Math.ceil(RUNS / 15) })
    },
    60_000 + RUNS * 2000,
  )
})

/** Conversations that once went wrong. */
const step = (upstream: string, said: Step['answer']['said'], fields: Partial<Step> = {}): Step => ({
  ...{ upstream, stream: false, results: [], edit: 'nothing', reversed: false },
  ...{ answer: { said, end: 'stop' } },
  ...fields,
})
const thought = { type: 'thought', text: 'Thot900', proof: 'Proof900' } as const
const call = (id: string, tool: number, mark: string) => ({ type: 'call', id, tool, mark }) as const
const TOOLS = ['get_time', 'mcp__github__create_pull_request_review_comment', 'ünï']
const end = (upstream: string, fields: Partial<Step>): Step =>
  step(upstream, [{ type: 'text', text: 'Text999' }], fields)

const FOUND: { readonly [name: string]: readonly [callers: readonly string[], steps: readonly Step[]] } = {
  'results of tools have the names of their calls at Vertex AI, which takes no ids': [
    ['chat', 'cohere-chat', 'messages', 'responses', 'converse', 'interactions'],
    [
      step('vertex', [call('', 0, 'Call001'), call('', 1, 'Call002')], { user: 'User001' }),
      end('vertex', { results: ['Resl001', 'Resl002'] }),
    ],
  ],
  'results of tools have the names of their calls where a server numbers the calls of each answer from zero': [
    ['chat'],
    [
      step('chat-r', [call('c:0', 0, 'Call001')], { user: 'User001' }),
      step('chat-r', [call('c:0', 1, 'Call002')], { results: ['Resl001'] }),
      step('contents', [call('g1', 2, 'Call003')], { results: ['Resl002'] }),
      end('interactions', { results: ['Resl003'] }),
    ],
  ],
  'results are in the order of the calls of their turn at Vertex AI, also if an earlier call had the id of one': [
    ['converse', 'interactions', 'messages'],
    [
      step('converse', [call('tooluse_a-B1', 0, 'Call001')], { user: 'User001' }),
      step('converse', [call('tooluse_a-B0', 0, 'Call002'), call('tooluse_a-B1', 0, 'Call003')], {
        results: ['Resl001'],
      }),
      end('vertex', { results: ['Resl002', 'Resl003'] }),
    ],
  ],
  'OpenAI gets neither a signature of Google’s nor an id that is too long': [
    ['chat'],
    [
      step('contents', [thought, call('', 1, 'Call001')], { user: 'User001' }),
      step('chat', [call('call_1', 0, 'Call002')], { results: ['Resl001'] }),
      end('contents', { results: ['Resl002'] }),
    ],
  ],
  'an answer without a word is no null in the next turn': [
    ['chat'],
    [step('messages', [], { user: 'User001' }), end('chat', { user: 'User002' })],
  ],
  'reasoning comes back to its upstream, also that of the first answer after a change from Gemini': [
    ['chat'],
    [
      step('contents', [thought, call('', 1, 'Call001')], { user: 'User001' }),
      step('responses', [{ ...thought, text: 'Thot901', proof: 'Proof901' }, call('call_1', 0, 'Call002')], {
        results: ['Resl001'],
      }),
      end('responses', { results: ['Resl002'] }),
    ],
  ],
  'another account of the same vendor gets everything but the reasoning': [
    ['responses', 'messages', 'interactions', 'contents', 'converse'],
    ['responses', 'messages', 'interactions', 'contents', 'converse'].flatMap((upstream, at) => {
      const mark = (kind: string, turn: number): string => `${kind}${turn}0${at}`
      const thoughtIn = (turn: number) => ({ ...thought, text: mark('Thot', turn), proof: mark('Proof', turn) })
      return [
        step(upstream, [thoughtIn(1), call(`call_${at}`, 0, mark('Call', 1))], { user: mark('User', 1) }),
        step(`${upstream}-b`, [thoughtIn(2), { type: 'text', text: mark('Text', 2) }], { results: [mark('Resl', 2)] }),
      ]
    }),
  ],
  'Claude on Bedrock gets no unsigned reasoning of another model': [
    ['converse'],
    [
      step('chat-r', [thought, call('call_1', 0, 'Call001')], { user: 'User001' }),
      end('converse', { results: ['Resl001'] }),
    ],
  ],
}

describe.each(Object.entries(FOUND))('%s', (_, [callers, steps]) => {
  it.each(callers.flatMap(caller => [false, true].map(stream => ({ caller, stream }))))(
    'caller of $caller, streamed: $stream',
    ({ caller, stream }) => holds(caller, { tools: TOOLS, steps: steps.map(one => ({ ...one, stream })) }),
  )
})
