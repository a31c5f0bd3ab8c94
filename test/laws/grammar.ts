import type { Part } from '../../src/canonical/content.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { bodyOf } from '../../src/canonical/fold.ts'

/** Returns the first violation of the grammar of `CanonicalEvent` in a stream of events. Undefined if there is none. */
export function grammarFault(events: Iterable<CanonicalEvent>): string | undefined {
  const check = new GrammarCheck()
  for (const event of events) {
    const fault = check.see(event)
    if (fault !== undefined) return `${event.type}: ${fault}`
  }
  return check.finished ? undefined : 'the stream has no result-end or error'
}

class GrammarCheck {
  finished = false
  private started = false
  /** Types of the open parts, by candidate and part. */
  private readonly open = new Map<string, Part['type']>()
  private readonly next = new Map<number, number>()
  private readonly ended = new Set<number>()

  see(event: CanonicalEvent): string | undefined {
    if (this.finished) return 'comes after the end'
    if (event.type === 'error') return void (this.finished = true)
    if (!this.started) {
      this.started = true
      return event.type === 'result-start' ? undefined : 'comes before result-start'
    }
    if (event.type === 'result-start') return 'comes twice'
    if ('at' in event) return this.part(event)
    if (event.type === 'candidate-end') return this.candidateEnd(event.candidate)
    if (event.type === 'result-end') this.finished = true
    return undefined
  }

  private part(event: CanonicalEvent & { at: { candidate: number; part: number } }): string | undefined {
    const { candidate, part } = event.at
    const key = `${candidate}/${part}`
    if (event.type === 'part-start') {
      if (this.ended.has(candidate)) return 'its candidate has ended'
      const due = this.next.get(candidate) ?? 0
      if (part !== due) return `part ${part} starts where ${due} is due`
      if (bodyOf(event.part) !== '') return 'starts with a body'
      this.next.set(candidate, due + 1)
      this.open.set(key, event.part.type)
      return undefined
    }
    if (!this.open.has(key)) {
      if (!isLate(event)) return 'its part is not open'
      return this.ended.has(candidate) || part >= (this.next.get(candidate) ?? 0) ? 'its part is none' : undefined
    }
    if (event.type === 'part-end') this.open.delete(key)
    if (event.type === 'part-patch' && event.part !== undefined) {
      const type = this.open.get(key)!
      if (!isSuccessor(type, event.part.type)) return `a part ${type} becomes ${event.part.type}`
      this.open.set(key, event.part.type)
    }
    return undefined
  }

  private candidateEnd(candidate: number): string | undefined {
    if (this.ended.has(candidate)) return 'comes twice'
    this.ended.add(candidate)
    for (const key of this.open.keys()) if (key.startsWith(`${candidate}/`)) return `part ${key} is still open`
    return undefined
  }
}

/** Types of parts that are known only at their end. Writers wait for the end of such a part. */
const LATE_TYPES: ReadonlySet<Part['type']> = new Set(['opaque', 'search-call', 'search-result'])

const isSuccessor = (before: Part['type'], after: Part['type']): boolean =>
  before === after ||
  (LATE_TYPES.has(before) && LATE_TYPES.has(after)) ||
  // An image that never arrived.
  (before === 'media' && after === 'opaque')

/** Whether the event has only annotations, which may come after the end of their part. */
const isLate = (event: CanonicalEvent): boolean =>
  event.type === 'part-patch' && Object.keys(event).sort().join() === 'annotations,at,type'
