import fc from 'fast-check'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { fold } from '../../../src/canonical/fold.ts'
import type { Work } from '../../../src/canonical/work.ts'
import { streamed } from '../arbitrary-result.ts'
import { streamedTo, writersFor } from '../journeys.ts'
import { jobsWith, WORKS } from '../works.ts'
import { times } from './times.ts'

/* Streamed answers to every kind of work, with each event that adds to an answer repeated, as callers get them. */

type Cells = (n: number) => Iterable<readonly [cell: string, run: () => unknown]>
type Place = readonly [events: readonly CanonicalEvent[], at: number]

const SAMPLES = { numRuns: 200, seed: 1 }
/** Events of which an answer has one. */
const ONCE: ReadonlySet<CanonicalEvent['type']> = new Set([
  ...(['result-start', 'part-start', 'part-end', 'candidate-end', 'result-end', 'error'] as const),
])

/** Yields answers, folded and written for every format that has such answers. */
export function* written(): Generator<readonly [shape: string, cells: Cells]> {
  for (const work of new Set(jobsWith('events').map(([, work]) => work)))
    for (const [kind, place] of placesIn(work)) yield [`${work}, written: ${kind}`, cellsOf(work, place)]
}

function placesIn(work: Work): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  for (const { events } of fc.sample(streamed(WORKS[work]!.result), SAMPLES)) {
    const all = [...events]
    for (const [at, event] of all.entries())
      if (!ONCE.has(event.type) && !places.has(kindOf(event))) places.set(kindOf(event), [all, at])
  }
  return places
}

/** Returns the type of an event and the fields that it has. */
const kindOf = (event: CanonicalEvent): string =>
  [event.type, ...Object.values(event).flatMap(value => (typeof value === 'object' ? Object.keys(value).sort() : []))]
    .filter(name => !/^(?:\d+|candidate|part)$/.test(name))
    .join(' ')

const cellsOf = (work: Work, [events, at]: Place): Cells =>
  function* (n) {
    const repeated = [...events.slice(0, at), ...times(n, () => events[at]!), ...events.slice(at)]
    yield ['folded', () => fold(repeated)]
    for (const to of writersFor(work)) yield [to, () => streamedTo(to, repeated, WORKS[work]!.asked)]
  }
