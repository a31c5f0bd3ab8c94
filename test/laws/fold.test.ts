import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { applyEvent, bodyOf, EMPTY_RESULT, fold, unfold } from '../../src/canonical/fold.ts'
import { word } from './arbitrary.ts'
import { parts, result, streamed } from './arbitrary-result.ts'
import { grammarFault } from './grammar.ts'
import { holds, same } from './support.ts'

it('fold undoes unfold', () => holds(result, answer => same(fold(unfold(answer)), answer)))

it('what unfold gives is well-formed', () => holds(result, answer => same(grammarFault(unfold(answer)), undefined)))

it('folding on from a prefix is folding it all', () => {
  holds(fc.tuple(streamed(), fc.nat()), ([{ events }, cut]) => {
    const at = cut % (events.length + 1)
    same(fold(events.slice(at), fold(events.slice(0, at))), fold(events))
  })
})

it('cutting and interleaving changes nothing', () =>
  holds(streamed(), ({ result, events }) => same(fold(events), result)))

it('a prefix folds to bodies that are prefixes', () => {
  holds(fc.tuple(streamed(), fc.nat()), ([{ result, events }, cut]) => {
    const partial = fold(events.slice(0, cut % (events.length + 1)))
    for (const [c, candidate] of partial.candidates.entries())
      for (const [p, part] of candidate.content.entries())
        expect(bodyOf(result.candidates[c]!.content[p]!).startsWith(bodyOf(part))).toBe(true)
  })
})

const at = fc.record({ candidate: fc.nat(3), part: fc.nat(3) })
const anyEvent = fc.oneof(
  fc.record({
    type: fc.constant('part-start'),
    at,
    part: parts()
      .filter(list => list.length > 0)
      .map(list => list[0]!),
  }),
  fc.record({ type: fc.constant('part-delta'), at, append: word }),
  fc.record({ type: fc.constant('part-end'), at }),
  fc.record({ type: fc.constant('part-patch'), at, signature: fc.record({ format: word, value: word }) }),
  fc.record({ type: fc.constant('candidate-end'), candidate: fc.nat(3), finish: fc.constant({ reason: 'stop' }) }),
  fc.constant({ type: 'result-end' }),
) as fc.Arbitrary<CanonicalEvent>

it('step is total: no order of events throws', () => {
  holds(fc.array(anyEvent), events => {
    let folded = EMPTY_RESULT
    for (const event of events) folded = applyEvent(folded, event)
  })
})
