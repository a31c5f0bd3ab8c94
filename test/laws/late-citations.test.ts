import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold } from '../../src/canonical/fold.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { bodiesOf, objectsIn } from '../builders/streams.ts'
import { streamed } from './arbitrary-result.ts'
import { streamLook } from './exceptions.ts'
import { grammarFault } from './grammar.ts'
import { resultMeaning } from './same.ts'
import { holds, plain, same } from './support.ts'
import { WORKS } from './works.ts'

/* Some upstreams cite a text after other parts have followed it (trap 82). No such citation is lost. */

const { asked, result } = WORKS['conversation']!

/** Moves citations of texts behind the end of their part, by up to this number of events. */
function cited(events: readonly CanonicalEvent[], by: number): readonly CanonicalEvent[] {
  const late = [...events]
  const until = events.findIndex(({ type }) => type === 'candidate-end')
  for (const event of events) {
    if (event.type !== 'part-patch' || event.annotations === undefined) continue
    late.splice(late.indexOf(event), 1)
    const { candidate, part } = event.at
    const end = late.findIndex(one => one.type === 'part-end' && one.at.candidate === candidate && one.at.part === part)
    late.splice(Math.min(end + 1 + (by % 5), until - 1), 0, event)
  }
  return late
}

const lately = fc
  .tuple(streamed(result), fc.nat())
  .map(([{ result: whole, events }, by]) => ({ whole, events: cited(events, by) }))

it('late citations are well-formed, and fold to the same result', () => {
  holds(lately, ({ whole, events }) => {
    same(grammarFault(events), undefined)
    same(fold(events), whole)
  })
})

/** The result without the order of the pages of searches: late citations name their pages later. */
const unordered = (result: CanonicalResult): CanonicalResult => ({
  ...result,
  candidates: result.candidates.map(candidate => ({
    ...candidate,
    content: candidate.content.map(part => {
      if (part.type === 'search-call') return { ...part, id: '' }
      if (part.type !== 'search-result') return part
      return { ...part, id: '', sources: part.sources.toSorted((a, b) => (a.url < b.url ? -1 : 1)) }
    }),
  })),
})

describe('streamed or whole, the caller gets the same citations in the same places', () => {
  it.each(['chat', 'contents', 'interactions', 'responses'])('%s', format => {
    holds(lately, ({ whole: answer, events }) => {
      const look = streamLook(format)
      const through = chain(WRITERS[format]!.events!(asked), READERS[format]!.events!(asked))
      const whole = READERS[format]!.result!(plain(WRITERS[format]!.result!(answer, asked).wire), asked)
      const got = fold(drain(through, events))
      same(resultMeaning(look(resultMeaning(unordered(got)))), resultMeaning(look(resultMeaning(unordered(whole)))))
    })
  })
})

const citationsOf = ({ candidates }: CanonicalResult): readonly string[] =>
  candidates
    .flatMap(({ content }) => content.flatMap(part => (part.type === 'text' ? (part.annotations ?? []) : [])))
    .map(one => JSON.stringify(one))
    .sort()

it('messages has no delta of a block that ended: late citations are in a block of their own', () => {
  holds(lately, ({ whole: answer, events }) => {
    const wire = drain(WRITERS['messages']!.events!(asked), events)
    const whole = READERS['messages']!.result!(plain(WRITERS['messages']!.result!(answer, asked).wire), asked)
    const read = drain(READERS['messages']!.events!(asked), wire)
    same(grammarFault(read), undefined)
    same(citationsOf(fold(read)), citationsOf(whole))
    let open: unknown
    for (const { type, index } of bodiesOf(wire)) {
      if (type === 'content_block_start') open = index
      else if (type === 'content_block_delta') same(index, open)
      else if (type === 'content_block_stop') open = undefined
    }
  })
})

it('a chat stream has its citations and its images in one chunk each, of which clients keep the last', () => {
  holds(lately, ({ whole, events }) => {
    const deltas = bodiesOf(drain(WRITERS['chat']!.events!(asked), events)).flatMap(({ choices }) => objectsIn(choices))
    for (const index of whole.candidates.keys())
      for (const list of ['annotations', 'images']) {
        const having = deltas.filter(choice => choice['index'] === index && hasList(choice, list))
        expect(having.length).toBeLessThanOrEqual(1)
      }
  })
})

const hasList = ({ delta }: JsonObject, list: string): boolean => isObject(delta) && Array.isArray(delta[list])
