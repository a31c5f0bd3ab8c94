import fc from 'fast-check'
import { fold } from '../../../src/canonical/fold.ts'
import { isObject, type Json, parseJson } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import type { Work } from '../../../src/canonical/work.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { streamsIn } from '../../builders/fixtures.ts'
import { streamed } from '../arbitrary-result.ts'
import { grammarFault } from '../grammar.ts'
import { orRefused, streamedTo, writersFor } from '../journeys.ts'
import { jobsWith, WORKS } from '../works.ts'
import { numbered } from './mixtures.ts'
import { times } from './times.ts'

/* Streams of upstreams of every format and kind of work, with each kind of event repeated in its place. */

type Cells = (n: number) => Iterable<readonly [cell: string, run: () => unknown]>

/** A stream, and the index of an event in it. */
interface Place {
  readonly stream: readonly WireEvent[]
  readonly at: number
}

const SAMPLES = { numRuns: 60, seed: 1 }
/** Factor of the events if all kinds take turns, so that each is repeated often enough to show its growth. */
const ROUNDS = 16

/** Yields streams, read, folded and written for every format that has such answers. */
export function* streams(): Generator<readonly [shape: string, cells: Cells]> {
  for (const [format, work] of jobsWith('events')) {
    // Prompts are answered by the streams of conversations, but in the format of their own.
    if (work === 'completion' && format !== 'completions') continue
    const places = placesIn([...streamsIn(format), ...generated(format, work)])
    for (const [kind, place] of places) yield [`stream of ${format}, ${work}: ${kind}`, cellsOf(format, work, place)]
    const all = [...places.values()]
    const inTurn = cellsOf(format, work, all[0]!, all)
    yield [`stream of ${format}, ${work}: all kinds in turn`, n => inTurn(n * ROUNDS)]
  }
}

function generated(format: string, work: Work): readonly (readonly WireEvent[])[] {
  const { asked, result } = WORKS[work]!
  return fc
    .sample(streamed(result), SAMPLES)
    .flatMap(({ events }) => orRefused(() => [drain(WRITERS[format]!.events!(asked), events)]) ?? [])
}

/** Returns one place for each kind of event, in the shortest stream that has it. */
function placesIn(streams: readonly (readonly WireEvent[])[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  for (const stream of [...streams].sort((a, b) => a.length - b.length))
    for (const [at, event] of stream.entries()) {
      const kind = kindOf(event)
      if (!places.has(kind)) places.set(kind, { stream, at })
    }
  return places
}

/** Returns the names of an event's fields, with the values of those that state what it is. */
function kindOf({ event, data }: WireEvent): string {
  const value = parseJson(data)
  return `${event ?? ''}${value === undefined ? data : fieldsOf(value)}`
}

/** Fields whose names are chosen by callers or generators, and texts in other words, make no other kind. */
function fieldsOf(value: Json, depth = 0): string {
  if (Array.isArray(value)) return value.length === 0 || depth > DEPTH ? '' : `[${fieldsOf(value[0]!, depth + 1)}]`
  if (!isObject(value) || depth > DEPTH) return ''
  const names = Object.entries(value).flatMap(([key, one]) => {
    if (/^x_|^(?:vendor|constructor|__proto__)$/.test(key)) return []
    return key === 'type' ? [`=${String(one)}`] : [`${key}${fieldsOf(one, depth + 1)}`]
  })
  return names.length === 0 ? '' : `{${names.sort().join(',')}}`
}

const DEPTH = 4

/** Repeats the events of the given places in turn, as they are and with numbers of their own. */
function cellsOf(
  format: string,
  work: Work,
  { stream, at }: Place,
  places: readonly Place[] = [{ stream, at }],
): Cells {
  const { asked } = WORKS[work]!
  const repeated = (n: number, make: (event: WireEvent, index: number) => WireEvent) => [
    ...stream.slice(0, at + 1),
    ...times(n, index => {
      const { stream, at } = places[index % places.length]!
      return make(stream[at]!, index)
    }),
    ...stream.slice(at + 1),
  ]
  return function* (n) {
    yield [
      'the same',
      () =>
        pass(
          format,
          work,
          repeated(n, event => event),
          asked,
        ),
    ]
    yield ['numbered', () => pass(format, work, repeated(n, renumbered), asked)]
  }
}

function renumbered({ event, data }: WireEvent, index: number): WireEvent {
  const value = parseJson(data)
  const text = value === undefined ? data : JSON.stringify(deeply(value, index))
  return event === undefined ? { data: text } : { event, data: text }
}

/** Gives every part of an event an id and an index of its own. Candidates keep theirs, because readers limit them. */
function deeply(value: Json, index: number, isCandidate = false): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(one => deeply(one, index, isCandidate))
  if (!isObject(value)) return value
  const inner = Object.entries(value).map(([key, one]) => {
    const isIndex = !isCandidate && /index$/i.test(key)
    return [key, isIndex ? index : deeply(one, index, key === 'candidates' || key === 'choices')]
  })
  return numbered(Object.fromEntries(inner) as Json, index)
}

function pass(format: string, work: Work, wire: readonly WireEvent[], asked: CanonicalRequest): void {
  const events = orRefused(() => drain(READERS[format]!.events!(asked), wire))
  if (events === undefined) return
  const fault = grammarFault(events)
  if (fault !== undefined) throw new Error(`A stream of ${format} breaks the grammar: ${fault}.`)
  const result = fold(events)
  for (const to of writersFor(work)) {
    streamedTo(to, events, asked)
    orRefused(() => JSON.stringify(WRITERS[to]!.result!(result, asked).wire.body))
  }
}
