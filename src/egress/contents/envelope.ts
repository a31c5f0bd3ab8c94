import type { ResultStart } from '../../canonical/event.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { inside } from '../fields.ts'
import { ownOf, withOwn } from './fields.ts'
import { isOwn, writeHead } from './result.ts'

/** The text around the parts of every event, made once per stream. */
export class Envelope {
  /** `,"modelVersion":…,"responseId":…}`; the format's own extras are written with the first event only. */
  private readonly tail: string
  private readonly head: JsonObject
  /** The answer comes from an upstream of this same format. */
  readonly own: boolean
  /** Whether no event has been written. */
  fresh = true

  constructor(start: ResultStart | undefined) {
    const own = start === undefined ? {} : writeHead(start)
    this.tail = inside(own)
    this.own = start !== undefined && isOwn(start)
    this.head = start === undefined ? {} : withOwn(ownOf(start), own)
  }

  /** The text before the parts of an event. */
  static readonly HEAD = '{"candidates":[{"content":{"parts":['

  /** The text after the parts of a plain event. */
  after(candidate: number): string {
    return `],"role":"model"},"index":${candidate}}]${this.tail}}`
  }

  /** An event of one candidate with some parts and fields. */
  event(candidate: number, parts: string, facts: JsonObject = {}): string {
    return `${Envelope.HEAD}${parts}],"role":"model"},"index":${candidate}${inside(facts)}}]${this.once()}}`
  }

  /** The last event: the candidates with their finish, and the fields of the whole answer. */
  last(candidates: readonly JsonObject[] | undefined, facts: JsonObject): string {
    const fields = { ...(candidates === undefined ? {} : { candidates }), ...facts }
    const text = `${inside(fields)}${this.once()}`
    return `{${text.slice(1)}}`
  }

  private once(): string {
    if (!this.fresh) return this.tail
    this.fresh = false
    return inside(this.head)
  }
}
