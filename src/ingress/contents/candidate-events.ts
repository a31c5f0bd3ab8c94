import { CallIds } from '../../canonical/call-ids.ts'
import type { Citation, Part, ReasoningPart } from '../../canonical/content.ts'
import type { CandidateEnd, CanonicalEvent, PartPosition } from '../../canonical/event.ts'
import { bodyOf, withBody } from '../../canonical/fold.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { isLoneSignature } from '../../canonical/signature.ts'
import { anyText, defined } from '../fields.ts'
import { CANDIDATE, CandidateFacts, citationsIn } from './candidate.ts'
import { citationsOf, type Range, TextRanges } from './citations.ts'
import { inCamelCase } from './fields.ts'
import { PartialArguments } from './partial-call.ts'
import { readPartLeniently } from './parts.ts'
import { isWrapped, SIGNED_BY_NEXT } from './signatures.ts'

type Flow = 'text' | 'reasoning'

const EMPTY_PARTS: { readonly [F in Flow]: Part } = {
  text: { type: 'text', text: '' },
  reasoning: { type: 'reasoning', text: '' },
}

/** Open text or reasoning part, to which further text of the same kind is appended. */
interface OpenFlow {
  readonly kind: Flow
  readonly at: PartPosition
  /** True if further text of the same kind starts another part instead. */
  closed: boolean
}

/** A text part, with its range in the candidate's concatenated text. */
interface Text extends Range {
  readonly at: PartPosition
  length: number
}

/**
 * Maximum number of times that citations are read at the end of a text part regardless of its length. Each reading
 * scans all text so far.
 */
const MAX_READINGS = 32

/** Fields of a candidate that are read separately, before the others. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set(['content', 'index', 'logprobsResult'])

/** The known fields of a part with a partial call. */
const PARTIAL_FIELDS = new Set(['willContinue', 'partialArgs', 'functionCall', 'thoughtSignature'])

/**
 * Reads one candidate of a streamed answer. Events contain only new parts. Text is appended to the open part of its
 * kind; any other part is complete. If a field of the candidate itself is repeated, the last value is used.
 */
export class CandidateReader {
  private readonly index: number
  private readonly request: CanonicalRequest
  private readonly facts: CandidateFacts
  private callIds: CallIds | undefined
  private parts = 0
  private open: OpenFlow | undefined
  /** Reasoning parts that are still open, because their signatures arrive with the next part. */
  private openReasoning: PartPosition[] = []
  private text = ''
  private hasCalls = false
  /** True if the last part is a complete call. */
  private endsInCall = false
  private partial: { readonly at: PartPosition; readonly args: PartialArguments } | undefined
  /**
   * A part with only a signature, received after the open text part. The signature is emitted when the text part ends,
   * because that part may still be cited.
   */
  private pendingSignature: Part | undefined
  private readonly citedUrls = new Set<string>()
  /** Text parts so far. Metadata may cite any of them. */
  private readonly texts: Text[] = []
  /** Citation metadata that has not been read yet. */
  private citationFields: JsonObject[] = []
  /** Length of all text at the last reading of citations, in UTF-16 units. */
  private citedAt = 0
  /** Number of times that citations were read. */
  private readings = 0

  constructor(index: number, request: CanonicalRequest) {
    this.index = index
    this.request = request
    this.facts = new CandidateFacts(index)
  }

  /**
   * Ids of the candidate's calls. Created on first use, because most answers have no calls and scanning a long history
   * is expensive.
   */
  private get ids(): CallIds {
    this.callIds ??= CallIds.after(this.request)
    return this.callIds
  }

  /**
   * True if the stream may end here. Calls arrive complete, and Google ends some streams after a call without a finish
   * reason (trap 103).
   */
  get finished(): boolean {
    return this.facts.finished || (this.endsInCall && this.partial === undefined)
  }

  read(wire: JsonObject, out: CanonicalEvent[]): void {
    const fields = inCamelCase(wire, CANDIDATE)
    const { content, logprobsResult } = fields
    // Log probabilities come first, because writers send the tokens of a text with its delta.
    if (logprobsResult !== undefined) this.facts.add('logprobsResult', logprobsResult, out)
    const given = isObject(content) ? content['parts'] : undefined
    const parts: readonly Json[] = Array.isArray(given) ? given : NO_PARTS
    const cites = 'groundingMetadata' in fields || 'citationMetadata' in fields
    // Metadata covers all text so far. Citations of the open text part must be emitted before that part ends.
    const lastText = cites ? parts.findLastIndex(hasText) : undefined
    if (lastText === -1) this.addCitations(fields, out)
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at]
      if (isObject(part)) this.part(part, out)
      if (at === lastText) this.addCitations(fields, out)
    }
    for (const field in fields) if (!CONTENT_FIELDS.has(field)) this.facts.add(field, fields[field]!, out)
  }

  /** Ends all open parts. */
  close(out: CanonicalEvent[]): void {
    this.endPartial(out)
    this.endOpen(out)
    this.cite(out)
    for (const part of this.facts.search) this.emitPart(part, out)
    const refusal = this.facts.takeRefusal()
    if (refusal !== undefined) this.emitPart(refusal, out)
  }

  /** Returns the event that ends the candidate. */
  endEvent(): CandidateEnd {
    return this.facts.ended(this.text, this.hasCalls)
  }

  /** Reads one part. Has a fast path, because most parts are text or reasoning without further fields. */
  private part(wire: JsonObject, out: CanonicalEvent[]): void {
    const { text } = wire
    if (typeof text !== 'string') return this.other(wire, out)
    for (const key in wire) if (key !== 'text' && key !== 'thought') return this.other(wire, out)
    if (text === '' && wire['thought'] !== true) this.markClosed()
    else this.append(wire['thought'] === true ? 'reasoning' : 'text', text, out)
  }

  private append(kind: Flow, append: string, out: CanonicalEvent[]): void {
    if (append === '') return
    let flow = this.open
    if (flow === undefined || flow.kind !== kind || flow.closed) flow = this.startFlow(kind, out)
    if (kind === 'text') this.text += append
    out.push({ type: 'part-delta', at: flow.at, append })
  }

  /**
   * Marks the open part as closed, so that further text starts another part. The gateway's own streams contain an empty
   * text between two parts of the same kind.
   */
  private markClosed(): void {
    if (this.open !== undefined) this.open.closed = true
  }

  private startFlow(kind: Flow, out: CanonicalEvent[]): OpenFlow {
    this.endPartial(out)
    if (kind === 'text' || this.open?.kind === 'text') this.endOpen(out)
    const flow = { kind, at: this.next(), closed: false }
    out.push({ type: 'part-start', at: flow.at, part: EMPTY_PARTS[kind] })
    if (kind === 'reasoning') this.openReasoning.push(flow.at)
    else this.startText(flow.at)
    this.open = flow
    return flow
  }

  private startText(at: PartPosition): void {
    this.measureText()
    this.texts.push({ at, from: this.text.length, length: 0 })
  }

  /** Updates the length of the last text part. Called when that part is cited or another text part starts. */
  private measureText(): void {
    const last = this.texts.at(-1)
    if (last !== undefined) last.length = this.text.length - last.from
  }

  private next(): PartPosition {
    this.endsInCall = false
    return { candidate: this.index, part: this.parts++ }
  }

  private endOpen(out: CanonicalEvent[]): void {
    if (this.open?.kind === 'text') {
      if (this.hasDoubled || this.readings < MAX_READINGS) this.cite(out)
      out.push({ type: 'part-end', at: this.open.at })
    }
    for (const at of this.openReasoning) out.push({ type: 'part-end', at })
    this.openReasoning = []
    this.open = undefined
    const { pendingSignature } = this
    this.pendingSignature = undefined
    if (pendingSignature !== undefined) this.emitPart(pendingSignature, out)
  }

  private other(wire: JsonObject, out: CanonicalEvent[]): void {
    if (isLegacyMark(wire)) return this.markClosed()
    const call = wire['functionCall'] ?? wire['function_call']
    if (isObject(call) && this.readPartial(wire, call, out)) return
    const parts = readPartLeniently(wire, this.ids)
    const [first] = parts
    if (first?.type === 'reasoning' && parts.length === 1 && this.signOpen(wire, first, out)) return
    for (const part of this.applySignatures(parts, out))
      if (this.open?.kind === 'text' && this.pendingSignature === undefined && isLoneSignature(part)) this.hold(part)
      else this.emitPart(part, out)
  }

  /** Buffers a signature as long as the text part before it may be cited. Further text starts another part. */
  private hold(signature: Part): void {
    this.pendingSignature = signature
    this.markClosed()
  }

  /**
   * Signs the open reasoning parts with the signatures in front of the following part.
   * @returns the remaining parts.
   */
  private applySignatures(parts: readonly Part[], out: CanonicalEvent[]): readonly Part[] {
    const [first] = parts
    if (this.openReasoning.length === 0 || first?.type !== 'reasoning') return parts
    if (isLoneSignature(first) && first.spelling === undefined) {
      if (this.open?.closed !== false) return parts
      out.push({ type: 'part-patch', at: this.open.at, signature: first.signature, spelling: SIGNED_BY_NEXT })
      return parts.slice(1)
    }
    const other = parts.findIndex(part => !isWrapped(part) || bodyOf(part) === '')
    const count = Math.min(other === -1 ? parts.length : other, this.openReasoning.length)
    for (const [index, part] of parts.slice(0, count).entries())
      sign(this.openReasoning.at(index - count)!, part as ReasoningPart, out)
    return parts.slice(count)
  }

  /**
   * Signs and ends the open reasoning part, if the signature arrives with its last text or right after it.
   * @returns true if a part was signed.
   */
  private signOpen(wire: JsonObject, part: ReasoningPart, out: CanonicalEvent[]): boolean {
    if (wire['thought'] !== true || part.signature === undefined || part.extras !== undefined) return false
    const flow = this.open
    if (flow === undefined || flow.kind !== 'reasoning' || flow.closed) return false
    this.append('reasoning', part.text, out)
    const { signature, spelling } = part
    out.push({ type: 'part-patch', at: flow.at, signature, ...defined({ spelling }) })
    this.endOpen(out)
    return true
  }

  private emitPart(part: Part, out: CanonicalEvent[]): void {
    if (part.type === 'text' && part.extras === undefined) {
      this.endOpen(out)
      this.append('text', part.text, out)
      return
    }
    this.endPartial(out)
    this.endOpen(out)
    if (part.type === 'tool-call') this.hasCalls = true
    const at = this.next()
    this.endsInCall = part.type === 'tool-call'
    const body = bodyOf(part)
    out.push({ type: 'part-start', at, part: withBody(part, '') })
    if (body !== '') out.push({ type: 'part-delta', at, append: body })
    if (part.type !== 'text') out.push({ type: 'part-end', at })
    else {
      this.open = { kind: 'text', at, closed: true }
      this.startText(at)
      this.text += part.text
    }
  }

  /**
   * Reads a chunk of a call whose arguments arrive in several parts.
   * @returns whether the part belongs to such a call.
   */
  private readPartial(wire: JsonObject, call: JsonObject, out: CanonicalEvent[]): boolean {
    const chunks = call['partialArgs'] ?? call['partial_args']
    const willContinue = call['willContinue'] ?? call['will_continue']
    const name = anyText(call['name'])
    if (name !== undefined && name !== '') {
      if (chunks === undefined && willContinue !== true) return false
      this.startPartial(wire, name, call, out)
    } else if (this.partial === undefined) return false
    this.partial!.args.add(chunks)
    if (isObject(call['args'])) this.partial!.args.merge(call['args'])
    if (willContinue !== true) this.endPartial(out)
    return true
  }

  private startPartial(wire: JsonObject, name: string, call: JsonObject, out: CanonicalEvent[]): void {
    const fields = inCamelCase(wire, PARTIAL_FIELDS)
    // Only fields of the call are passed on. Any other field would change the kind of the part.
    const head: JsonObject = { name, args: {}, ...defined({ id: anyText(call['id']) }) }
    const callPart = { functionCall: head, ...defined({ thoughtSignature: anyText(fields['thoughtSignature']) }) }
    const parts = this.applySignatures(readPartLeniently(callPart, this.ids), out)
    this.endPartial(out)
    this.endOpen(out)
    for (const part of parts) {
      if (part.type !== 'tool-call') this.emitPart(part, out)
      else {
        this.hasCalls = true
        const at = this.next()
        this.endsInCall = true
        out.push({ type: 'part-start', at, part: withBody(part, '') })
        this.partial = { at, args: new PartialArguments() }
      }
    }
  }

  private endPartial(out: CanonicalEvent[]): void {
    if (this.partial === undefined) return
    const { at, args } = this.partial
    this.partial = undefined
    out.push({ type: 'part-delta', at, append: args.text() }, { type: 'part-end', at })
  }

  /**
   * Buffers citation metadata, which may arrive with every chunk. To limit the work, citations are read only when the
   * text has doubled or one of the first text parts ends. Metadata that arrives without an open text part is read at
   * the end of the next text part or of the candidate.
   */
  private addCitations(fields: JsonObject, out: CanonicalEvent[]): void {
    this.citationFields.push(fields)
    if (this.open?.kind === 'text' && this.hasDoubled) this.cite(out)
  }

  /** True if the text has doubled since citations were last read. */
  private get hasDoubled(): boolean {
    return this.text.length >= 2 * this.citedAt
  }

  /** Emits the new citations of all text parts so far, including those that have ended. */
  private cite(out: CanonicalEvent[]): void {
    const { citationFields: fieldSets, texts } = this
    if (fieldSets.length === 0) return
    this.citationFields = []
    this.citedAt = this.text.length
    this.readings++
    this.measureText()
    const ranges = new TextRanges(this.text)
    const cited = fieldSets.flatMap(fields => citationsIn(fields, ranges).all)
    for (const [index, all] of citationsOf(cited, texts)) {
      const { at } = texts[index]!
      const annotations = all.filter(one => this.isNew(one, at))
      if (annotations.length > 0) out.push({ type: 'part-patch', at, annotations })
    }
  }

  /**
   * Returns true if a citation was not emitted yet. Each event may repeat earlier metadata and add to it. A citation
   * without offsets belongs to the text part that it arrived with.
   */
  private isNew(citation: Citation, { part }: PartPosition): boolean {
    const key = JSON.stringify(citation.start === undefined ? [citation] : [part, citation])
    if (this.citedUrls.has(key)) return false
    this.citedUrls.add(key)
    return true
  }
}

const NO_PARTS: readonly Json[] = []

const hasText = (part: Json): boolean =>
  isObject(part) && typeof part['text'] === 'string' && part['text'] !== '' && part['thought'] !== true

/** Returns true for the separator that earlier versions of the gateway wrote between two parts of the same kind. */
const isLegacyMark = (wire: JsonObject): boolean => {
  if (wire['thought'] !== false) return false
  for (const key in wire) if (key !== 'thought') return false
  return true
}

function sign(at: PartPosition, { spelling: _, ...reasoning }: ReasoningPart, out: CanonicalEvent[]): void {
  const { signature, redacted } = reasoning
  if (redacted !== undefined) out.push({ type: 'part-patch', at, part: reasoning })
  else if (signature !== undefined) out.push({ type: 'part-patch', at, signature })
}
