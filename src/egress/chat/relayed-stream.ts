import type { CanonicalEvent, ResultStart } from '../../canonical/event.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { NativeEventWriter } from '../writer.ts'
import { type ChatChunks, DONE } from './events.ts'

/**
 * Relays the chunks of an upstream of this format. Changes only the id, model and time. The chunk writer follows the
 * stream, so that it can take over and write later events.
 */
export class RelayedChunks extends Sequential<WireEvent> implements NativeEventWriter {
  private readonly chunks: ChatChunks
  private heads: HeadRewriter | undefined
  /** Chunks that arrived before the `result-start` event, which contains the id. */
  private earlyChunks: string[] = []
  /** Indexes of parts whose start was relayed, by candidate. Such parts may interleave. */
  private readonly startedParts: Set<number>[] = []

  constructor(chunks: ChatChunks) {
    super(chunks, { writesUnfinished: true })
    this.chunks = chunks
  }

  override push(event: CanonicalEvent): readonly WireEvent[] {
    const isStarted = 'at' in event && this.startedParts[event.at.candidate]?.has(event.at.part) === true
    return isStarted ? this.chunks.push(event) : super.push(event)
  }

  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    const { data } = wire
    const [first] = read
    if (read.length === 1 && first!.type === 'part-delta' && isUnfinished(data)) this.chunks.recordDelta(first!)
    else {
      if (first?.type === 'result-start') this.heads = new HeadRewriter(first)
      for (const event of read) this.follow(event)
      if (data === DONE.data) return [wire]
      if (this.heads !== undefined && !this.isWanted(data, read)) return NOTHING
    }
    if (this.heads === undefined || this.earlyChunks.length > 0) return this.begin(wire)
    const rewrittenData = this.heads.rewritten(data)
    return [
      rewrittenData === data
        ? wire
        : wire.event === undefined
          ? { data: rewrittenData }
          : { ...wire, data: rewrittenData },
    ]
  }

  /** Holds chunks until the `result-start` event arrives, then returns them all. */
  private begin(wire: WireEvent): readonly WireEvent[] {
    const { heads } = this
    this.earlyChunks.push(wire.data)
    if (heads === undefined) return NOTHING
    const all = this.earlyChunks.map(data => ({ data: heads.rewritten(data) }))
    this.earlyChunks = []
    return all
  }

  /**
   * Updates the writer's state with an event of a relayed chunk and discards the output, so that nothing is sent twice.
   */
  private follow(event: CanonicalEvent): void {
    if (event.type === 'part-delta') this.chunks.recordDelta(event)
    else if (event.type !== 'usage' && event.type !== 'logprobs') {
      if (event.type === 'part-start') (this.startedParts[event.at.candidate] ??= new Set()).add(event.at.part)
      this.push(event)
    }
  }

  /**
   * Records the choices and the service tier of a relayed chunk. Returns false for a chunk that contains only usage
   * that the caller did not request.
   */
  private isWanted(data: string, read: readonly CanonicalEvent[]): boolean {
    const { choices, service_tier } = parseObject(data)!
    if (typeof service_tier === 'string') this.chunks.tier = service_tier
    if (!Array.isArray(choices)) return true
    for (const choice of choices) if (isObject(choice)) this.chunks.recordChoice(choice)
    return choices.length > 0 || this.chunks.withUsage || !read.some(({ type }) => type === 'usage')
  }
}

/**
 * Returns true for a chunk that does not finish a candidate. A regular expression is four times as fast as `includes`.
 */
const isUnfinished = (data: string): boolean => !FINISHING.test(data)
const FINISHING = /"finish_reason"(?!: ?null)/

/** Rewrites id, model and time in relayed chunks. */
class HeadRewriter {
  private readonly start: ResultStart
  /** Text before or after the choices of the last parsed chunk. Replaced with `replacementText`. */
  private knownText = ''
  private replacementText = ''
  private isAfterChoices = false

  constructor(start: ResultStart) {
    this.start = start
  }

  /** Rewrites a chunk. A chunk is only parsed if it differs from the last one outside its choices. */
  rewritten(data: string): string {
    const { knownText, replacementText, isAfterChoices } = this
    if (knownText === '' || !this.hasKnownText(data)) return this.rewrittenByParsing(data)
    if (knownText === replacementText) return data
    return isAfterChoices
      ? data.slice(0, -knownText.length) + replacementText
      : replacementText + data.slice(knownText.length)
  }

  /**
   * Returns true if the chunk has the known text at this position. Uses `slice`, because `startsWith` takes four times
   * as long.
   */
  private hasKnownText(data: string): boolean {
    const { length } = this.knownText
    return (this.isAfterChoices ? data.slice(-length) : data.slice(0, length)) === this.knownText
  }

  private rewrittenByParsing(data: string): string {
    const chunk = parseObject(data)!
    const { id, model, createdAt } = this.start
    const isDated = createdAt === undefined || typeof chunk['created'] === 'number'
    const rewrittenChunk = { ...chunk, id, model, ...(isDated ? {} : { created: createdAt }) } as JsonObject
    const isUnchanged = chunk['id'] === id && chunk['model'] === model && isDated
    this.isAfterChoices = Object.keys(chunk)[0] === 'choices'
    const outerFields = this.fieldsAroundChoices(chunk)
    this.knownText = this.textOf(outerFields)
    this.replacementText = this.textOf(this.fieldsAroundChoices(rewrittenChunk))
    const hasHead = Object.hasOwn(outerFields, 'id') && Object.hasOwn(outerFields, 'model')
    if (!hasHead || !isDated || !this.hasKnownText(data)) this.knownText = ''
    return isUnchanged ? data : JSON.stringify(rewrittenChunk)
  }

  /** Returns the fields before the choices, or after them if the choices come first. */
  private fieldsAroundChoices(chunk: JsonObject): JsonObject {
    const fields = Object.entries(chunk)
    const at = fields.findIndex(([field]) => field === 'choices')
    return Object.fromEntries(this.isAfterChoices ? fields.slice(1) : fields.slice(0, Math.max(at, 0)))
  }

  private textOf(outerFields: JsonObject): string {
    const text = JSON.stringify(outerFields)
    return this.isAfterChoices ? `,${text.slice(1)}` : `${text.slice(0, -1)},`
  }
}
