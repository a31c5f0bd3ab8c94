import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { parseExactEvent } from '../../canonical/exact-numbers.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { CUT_SHORT, MALFORMED } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/google-error.ts'
import { put } from '../fields.ts'
import { isEmptyData } from '../transport/sse.ts'
import { CandidateReader } from './candidate-events.ts'
import { FORMAT, inCamelCase } from './fields.ts'
import { ANSWER, blockedCandidate, isAnswer, readHead } from './result.ts'
import { readUsage, tierOf } from './usage.ts'

/** Maximum number of candidates, above the number that any upstream sends. Larger indexes are invalid. */
const MAX_CANDIDATES = 64

/**
 * Reads a streamed answer (docs/wire/contents.md#stream). Every event is an answer with only the new parts. The stream
 * has no end mark. Candidates end with the stream; a candidate without a finish reason was cut short.
 */
export class ContentsEvents implements Transducer<WireEvent, CanonicalEvent> {
  private readonly request: CanonicalRequest
  private readonly candidates: CandidateReader[] = []
  private out: CanonicalEvent[] = []
  private started = false
  private ended = false
  private usage: JsonObject | undefined
  private feedback: JsonObject | undefined
  private tier: string | undefined
  /** Answer-level fields from events after the first. */
  private lateFields: { [field: string]: Json } | undefined

  constructor(request: CanonicalRequest) {
    this.request = request
  }

  push({ data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended || isEmptyData(data)) return NOTHING
    this.out = []
    const chunk = parseExactEvent(data, 'args')
    if (chunk === undefined) this.fail(MALFORMED)
    else this.read(inCamelCase(chunk, ANSWER))
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    const ended = this.candidates.length > 0 && this.candidates.every(({ finished }) => finished)
    if (ended || (this.candidates.length === 0 && this.feedback?.['blockReason'] !== undefined)) this.finish()
    else this.fail(CUT_SHORT)
    return this.out
  }

  private read(fields: JsonObject): void {
    if (fields['error'] != null) return this.fail(readInnerError(fields))
    if (isObject(fields['promptFeedback'])) this.feedback = fields['promptFeedback']
    const usage = fields['usageMetadata']
    // Counts are cumulative. A chunk without that of the prompt adds to the earlier ones.
    if (isObject(usage)) this.usage = usage['promptTokenCount'] === undefined ? { ...this.usage, ...usage } : usage
    const hasAnswer = isAnswer(fields)
    if (!this.started && !hasAnswer) return
    if (!this.started) this.start(fields)
    else this.addLate(fields)
    const candidates = fields['candidates']
    if (Array.isArray(candidates))
      for (let position = 0; position < candidates.length; position++) {
        const wire = candidates[position]!
        if (isObject(wire)) this.candidate(wire['index'], position).read(wire, this.out)
      }
    if (!hasAnswer) this.out.push({ type: 'opaque', format: FORMAT, value: fields })
  }

  private start(fields: JsonObject): void {
    this.started = true
    this.tier = this.usage && tierOf(this.usage)
    const serviceTier = this.tier === undefined ? {} : { serviceTier: this.tier }
    this.out.push({ type: 'result-start', ...readHead(fields), ...serviceTier })
    if (this.usage?.['promptTokenCount'] !== undefined) this.out.push({ type: 'usage', usage: readUsage(this.usage) })
  }

  private addLate(fields: JsonObject): void {
    for (const field in fields)
      if (!FIELDS_NOT_LATE.has(field) && fields[field] !== null) put((this.lateFields ??= {}), field, fields[field])
  }

  private candidate(wireIndex: Json | undefined, position: number): CandidateReader {
    const isIndex =
      typeof wireIndex === 'number' && Number.isInteger(wireIndex) && wireIndex >= 0 && wireIndex < MAX_CANDIDATES
    const index = isIndex ? wireIndex : Math.min(position, MAX_CANDIDATES - 1)
    while (this.candidates.length <= index)
      this.candidates.push(new CandidateReader(this.candidates.length, this.request))
    return this.candidates[index]!
  }

  private finish(): void {
    for (const candidate of this.candidates) candidate.close(this.out)
    if (this.candidates.length === 0) this.refuse()
    for (const candidate of this.candidates) this.out.push(candidate.endEvent())
    this.close()
    const tier = this.usage && tierOf(this.usage)
    const serviceTier = tier === undefined || tier === this.tier ? {} : { serviceTier: tier }
    this.out.push({
      type: 'result-end',
      ...serviceTier,
      ...(this.lateFields === undefined ? {} : { extras: { [FORMAT]: this.lateFields } }),
    })
  }

  /** Emits a refused candidate for a blocked prompt (trap 15). */
  private refuse(): void {
    const { content, ...candidate } = blockedCandidate({ promptFeedback: this.feedback! })
    const at = { candidate: 0, part: 0 }
    for (const part of content)
      if (part.type === 'refusal')
        this.out.push(
          { type: 'part-start', at, part: { type: 'refusal', text: '' } },
          { type: 'part-delta', at, append: part.text },
          { type: 'part-end', at },
        )
    this.out.push({ type: 'candidate-end', candidate: 0, ...candidate })
  }

  private close(): void {
    this.ended = true
    if (this.usage !== undefined) this.out.push({ type: 'usage', usage: readUsage(this.usage) })
  }

  /** Ends the answer with an error. The usage received so far is still valid and is emitted first. */
  private fail(error: CanonicalError): void {
    if (this.started) this.close()
    this.ended = true
    this.out.push({ type: 'error', error })
  }
}

/** Fields left out of `lateFields`, because every event repeats them or other code handles them. */
const FIELDS_NOT_LATE: ReadonlySet<string> = new Set([...ANSWER].filter(field => field !== 'promptFeedback'))
