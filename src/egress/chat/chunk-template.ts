import type { ResultStart } from '../../canonical/event.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { appendedFields, extrasFor } from '../fields.ts'
import { wantsUsage } from '../stream-options.ts'
import { FORMAT } from './content.ts'

/**
 * Builds the chunks of a stream. The fixed JSON text around the deltas is built once, so that each delta only costs its
 * text and two concatenations.
 */
export class ChunkTemplate {
  /** `{"id":…,"choices":[{"index":` */
  private readonly head: string
  /** The text of a chunk without candidates, up to `"choices":`. */
  private readonly bare: string
  private readonly tail: string
  readonly withUsage: boolean
  /** Head of the next complete chunk. The head of the first chunk includes the fields that are only written once. */
  private nextHead: string

  constructor(start: ResultStart, request: CanonicalRequest) {
    const fixedFields = {
      id: start.id ?? '',
      object: 'chat.completion.chunk',
      created: start.createdAt ?? 0,
      model: start.model ?? request.model,
      ...(start.serviceTier === undefined ? {} : { service_tier: start.serviceTier }),
    }
    const { repeatedFields, firstChunkFields } = extrasOf(start)
    this.withUsage = wantsUsage(request, FORMAT)
    this.bare = openedObject({ ...fixedFields, ...repeatedFields })
    this.head = `${this.bare}"choices":[{"index":`
    this.nextHead =
      firstChunkFields === undefined
        ? this.head
        : `${openedObject({ ...fixedFields, ...repeatedFields, ...firstChunkFields })}"choices":[{"index":`
    this.tail = this.withUsage ? '}],"usage":null}' : '}]}'
  }

  /** Returns the text before a delta's value. `opening` is the JSON text that opens the field inside the delta. */
  prefix(candidate: number, opening: string): string {
    return `${this.head}${candidate},"delta":{${opening}`
  }

  /** Returns the text after a delta's value. `closing` is the JSON text that closes the field. */
  suffix(closing: string, logprobs: string): string {
    return `${closing}},"logprobs":${logprobs},"finish_reason":null${this.tail}`
  }

  /**
   * Returns a complete chunk of one candidate. A stream's first chunk includes the fields that are only written once.
   */
  chunk(candidate: number, delta: JsonObject, logprobs: string, finish: string | null, extras: JsonObject): string {
    const head = this.nextHead
    this.nextHead = this.head
    const more = appendedFields(extras)
    return `${head}${candidate},"delta":${JSON.stringify(delta)},"logprobs":${logprobs},"finish_reason":${JSON.stringify(finish)}${more}${this.tail}`
  }

  /**
   * Returns the last chunk, which has no candidates but contains the usage and the fields that the upstream sent late.
   */
  closing(facts: { readonly [field: string]: Json }): string {
    return `${this.bare}"choices":[]${appendedFields(facts)}}`
  }
}

/** The format's extras of an answer: plain values for every chunk, and lists and objects for the first one alone. */
function extrasOf(start: ResultStart): {
  readonly repeatedFields?: JsonObject
  readonly firstChunkFields?: JsonObject
} {
  if (start.extras?.[FORMAT] === undefined) return {}
  const extras = Object.entries(extrasFor(start, FORMAT))
  return {
    repeatedFields: Object.fromEntries(extras.filter(([, value]) => typeof value !== 'object')),
    firstChunkFields: Object.fromEntries(extras.filter(([, value]) => value !== null && typeof value === 'object')),
  }
}

/** Returns the JSON text of an object, ending with a comma instead of the closing brace. */
const openedObject = (fields: JsonObject): string => `${JSON.stringify(fields).slice(0, -1)},`
