import type { Part } from '../../../src/canonical/content.ts'
import type { CanonicalEvent, PartStart } from '../../../src/canonical/event.ts'
import type { TokenLogprob } from '../../../src/canonical/result.ts'
import { times } from './times.ts'

/* Streamed answers of n nodes, one row per shape in which an upstream could send them. */

export type Stream = (n: number) => readonly CanonicalEvent[]
const CALL: Part = { type: 'tool-call', id: 'c', name: 'look', arguments: '' }
const TEXT: Part = { type: 'text', text: '' }
const THOUGHT: Part = { type: 'reasoning', text: '' }
const call = (index: number): Part => ({ ...CALL, id: `c${index}` }) as Part

const at = (part: number, candidate = 0) => ({ candidate, part })
const start = (part: number, what: Part, candidate = 0): PartStart => ({
  type: 'part-start',
  at: at(part, candidate),
  part: what,
})
const delta = (part: number, append: string, candidate = 0): CanonicalEvent => ({
  type: 'part-delta',
  at: at(part, candidate),
  append,
})
const end = (part: number, candidate = 0): CanonicalEvent => ({ type: 'part-end', at: at(part, candidate) })
const done = (candidate = 0): CanonicalEvent => ({ type: 'candidate-end', candidate, finish: { reason: 'stop' } })

const answer = (...events: readonly CanonicalEvent[]): readonly CanonicalEvent[] => [
  { type: 'result-start', id: 'answer', model: 'm', createdAt: 1 },
  ...events,
  { type: 'usage', usage: { input: 1, output: 1 } },
  { type: 'result-end' },
]
const one = (what: Part, ...events: readonly CanonicalEvent[]) => answer(start(0, what), ...events, end(0), done())
/** Returns parts one after another, each with a word. */
const parts = (n: number, what: (index: number) => Part, word = 'word') =>
  answer(...times(n, index => [start(index, what(index)), delta(index, word), end(index)]).flat(), done())
/** Returns parts that are all open before the first ends. */
const open = (n: number, what: (index: number) => Part, word: (index: number) => string = () => 'word') =>
  answer(
    ...times(n, index => start(index, what(index))),
    ...times(n, index => delta(index, word(index))),
    ...times(n, index => delta(n - 1 - index, ' ')),
    ...times(n, index => end(n - 1 - index)),
    done(),
  )
const token = (index: number): TokenLogprob => ({ token: `t${index}`, logprob: -1, top: [{ token: 't', logprob: -1 }] })
const citation = (index: number) =>
  ({
    type: 'citation',
    url: `https://e.com/${index}`,
    title: 'A page',
    quote: 'word',
    start: index,
    end: index + 4,
  }) as const

export const STREAMS: { readonly [name: string]: Stream } = {
  'small pieces of a text': n => one(TEXT, ...times(n, () => delta(0, 'word '))),
  'small pieces of a thought': n => one(THOUGHT, ...times(n, () => delta(0, 'word '))),
  'small pieces of a refusal': n => one({ type: 'refusal', text: '' }, ...times(n, () => delta(0, 'word '))),
  'small pieces of the arguments of a call': n =>
    one(CALL, delta(0, '{"list":['), ...times(n, () => delta(0, '1,')), delta(0, '1]}')),
  'small pieces of a text of a freeform call': n =>
    one({ ...CALL, name: 'write', freeform: true } as Part, ...times(n, () => delta(0, 'word '))),
  texts: n => parts(n, () => TEXT),
  thoughts: n => parts(n, () => THOUGHT),
  'texts and thoughts': n => parts(n, index => (index % 2 ? TEXT : THOUGHT)),
  'thoughts with proofs, and calls': n =>
    answer(
      ...times(n, index => [
        start(2 * index, THOUGHT),
        delta(2 * index, 'hm'),
        { type: 'part-patch', at: at(2 * index), signature: { format: 'messages', value: `cHJvb2Y${index}` } } as const,
        end(2 * index),
        start(2 * index + 1, call(index)),
        delta(2 * index + 1, '{}'),
        end(2 * index + 1),
      ]).flat(),
      done(),
    ),
  calls: n => parts(n, call, '{}'),
  'calls of one id': n => parts(n, () => CALL, '{}'),
  'calls without ids': n => parts(n, () => ({ ...CALL, id: '' }) as Part, '{}'),
  'calls that are open at once': n => open(n, call, () => '{"a":1}'),
  'texts that are open at once': n => open(n, () => TEXT),
  'annotations, one at a time': n =>
    one(
      TEXT,
      delta(0, 'word '.repeat(n)),
      ...times(n, index => ({ type: 'part-patch', at: at(0), annotations: [citation(index)] }) as const),
    ),
  'annotations between words': n =>
    one(
      TEXT,
      ...times(n, index => [
        delta(0, 'word '),
        { type: 'part-patch', at: at(0), annotations: [citation(index)] } as const,
      ]).flat(),
    ),
  'texts that are each cited': n =>
    answer(
      ...times(n, index => [
        start(index, TEXT),
        delta(index, 'word word'),
        { type: 'part-patch', at: at(index), annotations: [citation(0)] } as const,
        end(index),
      ]).flat(),
      done(),
    ),
  'annotations at once': n =>
    one(TEXT, delta(0, 'word '.repeat(n)), { type: 'part-patch', at: at(0), annotations: times(n, citation) }),
  'likelihoods of words': n =>
    one(
      TEXT,
      ...times(n, index => [
        delta(0, 'word '),
        { type: 'logprobs', candidate: 0, append: [token(index)] } as const,
      ]).flat(),
    ),
  'likelihoods at once': n => one(TEXT, delta(0, 'word'), { type: 'logprobs', candidate: 0, append: times(n, token) }),
  // More candidates, because a reader takes an index beyond its limit for another candidate.
  candidates: n =>
    answer(
      ...times(4 * n, index => [start(0, TEXT, index), delta(0, 'word', index), end(0, index), done(index)]).flat(),
    ),
  'candidates with calls without ids': n =>
    answer(
      ...times(4 * n, index => [
        start(0, { ...CALL, id: '' } as Part, index),
        delta(0, '{}', index),
        end(0, index),
        done(index),
      ]).flat(),
    ),
  'candidates that are open at once': n =>
    answer(
      ...times(4 * n, index => start(0, TEXT, index)),
      ...times(4 * n, index => delta(0, 'word', index)),
      ...times(4 * n, index => [end(0, 4 * n - 1 - index), done(4 * n - 1 - index)]).flat(),
    ),
  'counts of tokens': n =>
    one(
      TEXT,
      ...times(n, index => [delta(0, 'word'), { type: 'usage', usage: { input: 1, output: index } } as const]).flat(),
    ),
  'late facts of a part': n =>
    one(
      TEXT,
      ...times(
        n,
        index =>
          ({
            type: 'part-patch',
            at: at(0),
            extras: Object.fromEntries(
              ['chat', 'responses', 'messages', 'contents'].map(format => [format, { [`field_${index}`]: 1 }]),
            ),
          }) as const,
      ),
    ),
}
