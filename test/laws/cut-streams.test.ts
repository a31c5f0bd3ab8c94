import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import type { CanonicalError } from '../../src/canonical/error.ts'
import type { CanonicalEvent, PartPosition } from '../../src/canonical/event.ts'
import { bodyOf, fold } from '../../src/canonical/fold.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { streamed } from './arbitrary-result.ts'
import { endingsIn } from './endings.ts'
import { ENDS_BEHIND_CALLS } from './exceptions.ts'
import { grammarFault } from './grammar.ts'
import { holds, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

const BROKEN: CanonicalError = { kind: 'upstream-failed', message: 'It broke.' }

/** Returns the ended parts and the ended candidates of a stream. */
function endedIn(events: readonly CanonicalEvent[]): { parts: readonly Part[]; candidates: readonly number[] } {
  const result = fold(events)
  const at = ({ candidate, part }: PartPosition): Part => result.candidates[candidate]!.content[part]!
  return {
    parts: events.flatMap(event => (event.type === 'part-end' ? [at(event.at)] : [])),
    candidates: events.flatMap(event => (event.type === 'candidate-end' ? [event.candidate] : [])),
  }
}

/**
 * Returns the possible forms of an ended part in a format: its body, and wrapped forms if the format has no such part.
 */
function wordings(part: Part): readonly string[] {
  if (part.type === 'opaque') return [part.text ?? '']
  // A document of plain text may be written as a text behind its name.
  if (part.type === 'media' && part.source.type === 'text')
    return [part.source.text, `${part.name}\n\n${part.source.text}`]
  const body = bodyOf(part)
  if (part.type !== 'tool-call') return [body]
  return [body, JSON.stringify({ input: body }), ...(body === '' ? ['{}'] : [])]
}

const plainJson = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return body
  }
}

/** Checks that a stream announces only ends that happened. */
function claimsOnly(format: string, wire: readonly WireEvent[], events: readonly CanonicalEvent[]): void {
  const ended = endedIn(events)
  const said = endingsIn(format, wire)
  const whole = new Set(ended.parts.flatMap(wordings).flatMap(body => [body, plainJson(body)]))
  // Contents writes arguments that are not an object as an object.
  const claims = said.parts.filter(({ body }) => !whole.has(body) && !whole.has(plainJson(body)))
  expect(claims.filter(({ kind }) => !(format === 'contents' && kind === 'call' && hasOddCall(ended.parts)))).toEqual(
    [],
  )
  expect(said.candidates.filter(index => !ended.candidates.includes(index))).toEqual([])
}

const hasOddCall = (parts: readonly Part[]): boolean =>
  parts.some(part => part.type === 'tool-call' && !part.arguments.startsWith('{'))

const cut = (events: readonly CanonicalEvent[], where: number): readonly CanonicalEvent[] =>
  events.slice(0, 1 + (where % (events.length - 1)))

describe('cut streams: after an error no format says of a part that it ended (trap 88)', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result } = WORKS[work]!
    holds(fc.tuple(streamed(result), fc.nat()), ([{ events }, where]) => {
      const before = cut(events, where)
      const broken = drain(WRITERS[format]!.events!(asked), [...before, { type: 'error', error: BROKEN }])
      claimsOnly(format, broken, before)
      const ended = drain(WRITERS[format]!.events!(asked), before)
      claimsOnly(format, ended, before)
      for (const wire of [broken, ended]) same(drain(READERS[format]!.events!(asked), wire).at(-1)?.type, 'error')
    })
  })
})

describe('cut streams: what a reader says has ended is whole, and what is not there is an error (trap 88)', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result } = WORKS[work]!
    holds(fc.tuple(streamed(result), fc.nat()), ([{ events }, where]) => {
      const wire = drain(WRITERS[format]!.events!(asked), events)
      const whole = fold(drain(READERS[format]!.events!(asked), wire))
      const read = drain(READERS[format]!.events!(asked), wire.slice(0, where % (wire.length + 1)))
      same(grammarFault(read), undefined)
      const partial = fold(read)
      for (const event of read)
        if (event.type === 'part-end') {
          const { candidate, part } = event.at
          const [got, want] = [partial, whole].map(one => bodyOf(one.candidates[candidate]!.content[part]!))
          same(got, want)
        }
      if (read.at(-1)?.type !== 'result-end') return
      for (const [index, { content }] of partial.candidates.entries()) {
        const all = whole.candidates[index]!.content.map(bodyOf)
        const mayEnd = ENDS_BEHIND_CALLS.has(format) && content.at(-1)?.type === 'tool-call'
        same(content.map(bodyOf), mayEnd ? all.slice(0, content.length) : all)
      }
    })
  })
})
