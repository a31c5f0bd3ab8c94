import type { ResultStart } from '../../canonical/event.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { inside, kept } from '../fields.ts'
import { wantsUsage } from '../stream-options.ts'
import { FORMAT } from './content.ts'

/**
 * The fixed text around what changes from chunk to chunk, made once per stream: a delta costs its own text and two
 * concatenations instead of a whole envelope.
 */
export class Envelope {
  /** `{"id":…,"choices":[{"index":` */
  private readonly head: string
  /** The same for a chunk without candidates, up to `"choices":[]`. */
  private readonly bare: string
  private readonly tail: string
  readonly withUsage: boolean
  private first: string

  constructor(start: ResultStart, request: CanonicalRequest) {
    const fixed = {
      id: start.id ?? '',
      object: 'chat.completion.chunk',
      created: start.createdAt ?? 0,
      model: start.model ?? request.model,
      ...(start.serviceTier === undefined ? {} : { service_tier: start.serviceTier }),
    }
    const extras = Object.entries(kept(start, FORMAT))
    const always = Object.fromEntries(extras.filter(([, value]) => typeof value !== 'object'))
    const once = Object.fromEntries(extras.filter(([, value]) => value !== null && typeof value === 'object'))
    this.withUsage = wantsUsage(request, FORMAT)
    this.bare = opened({ ...fixed, ...always })
    this.head = `${this.bare}"choices":[{"index":`
    this.first = `${opened({ ...fixed, ...always, ...once })}"choices":[{"index":`
    this.tail = this.withUsage ? '}],"usage":null}' : '}]}'
  }

  /** The text before the value that grows, for one place in a candidate's delta. */
  prefix(candidate: number, place: string): string {
    return `${this.head}${candidate},"delta":{${place}`
  }

  /** The text after it. */
  suffix(closing: string, logprobs: string): string {
    return `${closing}},"logprobs":${logprobs},"finish_reason":null${this.tail}`
  }

  /** A whole chunk of one candidate. The first chunk includes the fields that are written once. */
  chunk(candidate: number, delta: JsonObject, logprobs: string, finish: string | null, extras: JsonObject): string {
    const head = this.first
    this.first = this.head
    const more = inside(extras)
    return `${head}${candidate},"delta":${JSON.stringify(delta)},"logprobs":${logprobs},"finish_reason":${JSON.stringify(finish)}${more}${this.tail}`
  }

  /** The chunk without candidates that contains usage and late fields. */
  closing(facts: { readonly [field: string]: Json }): string {
    return `${this.bare}"choices":[]${inside(facts)}}`
  }
}

const opened = (fields: JsonObject): string => `${JSON.stringify(fields).slice(0, -1)},`
