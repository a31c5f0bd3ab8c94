import type { ResultStart } from '../../canonical/event.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { sealed } from './fields.ts'
import { isOwn, writeHead } from './result.ts'

/** What stands around the parts of every event, made once per stream. */
export class Envelope {
  /** `,"modelVersion":…,"responseId":…}`, what the format said of the answer beside going with the first event only. */
  private readonly tail: string
  private readonly head: JsonObject
  /** The answer comes from an upstream of this very format. */
  readonly own: boolean
  /** Whether no event has been written. */
  fresh = true

  constructor(start: ResultStart | undefined) {
    const own = start === undefined ? {} : writeHead(start)
    this.tail = inside(own)
    this.own = start !== undefined && isOwn(start)
    this.head = start === undefined ? {} : sealed(start, own)
  }

  /** Everything before the parts of an event. */
  static readonly HEAD = '{"candidates":[{"content":{"parts":['

  /** Everything after the parts of a plain event. */
  after(candidate: number): string {
    return `],"role":"model"},"index":${candidate}}]${this.tail}}`
  }

  /** An event of one candidate with some parts and facts. */
  event(candidate: number, parts: string, facts: JsonObject = {}): string {
    return `${Envelope.HEAD}${parts}],"role":"model"},"index":${candidate}${inside(facts)}}]${this.once()}}`
  }

  /** The last event: the candidates with their finish, and what counts for all. */
  last(candidates: readonly JsonObject[] | undefined, facts: JsonObject): string {
    const said = { ...(candidates === undefined ? {} : { candidates }), ...facts }
    const text = `${inside(said)}${this.once()}`
    return `{${text.slice(1)}}`
  }

  private once(): string {
    if (!this.fresh) return this.tail
    this.fresh = false
    return inside(this.head)
  }
}

/** The fields of an object as they follow others. */
function inside(fields: { readonly [field: string]: Json }): string {
  const text = JSON.stringify(fields).slice(1, -1)
  return text === '' ? '' : `,${text}`
}
