import { CallIds } from '../../canonical/call-ids.ts'
import type { Citation, Part, ReasoningPart } from '../../canonical/content.ts'
import type { At, CandidateEnd, CanonicalEvent } from '../../canonical/event.ts'
import { bodyOf, withBody } from '../../canonical/fold.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { isLoneProof } from '../../canonical/signature.ts'
import { anyText, defined } from '../fields.ts'
import { CANDIDATE, CandidateFacts, citedBy } from './candidate.ts'
import { citationsOf, Places, type Range } from './citations.ts'
import { open } from './fields.ts'
import { PartialArguments } from './partial-call.ts'
import { readPartLeniently } from './parts.ts'
import { isEnclosed, PROVED_NEXT } from './proofs.ts'

type Flow = 'text' | 'reasoning'

const STARTS: { readonly [F in Flow]: Part } = {
  text: { type: 'text', text: '' },
  reasoning: { type: 'reasoning', text: '' },
}

/** The open text or reasoning part, which grows by more of the same kind. */
interface Flowing {
  readonly kind: Flow
  readonly at: At
  /** More of the same kind begins another part. */
  sealed: boolean
}

/** A text of the candidate, and where it is in all of its text. */
interface Text extends Range {
  readonly at: At
  length: number
}

/** How often citations are read at the end of a text whatever its length: each time, all text so far is looked at. */
const MOST_READINGS = 32

const PARTIAL = new Set(['willContinue', 'partialArgs', 'functionCall', 'thoughtSignature'])

/**
 * One candidate of a streamed answer. Events hold new parts only; text is added to the open part of its kind, any other
 * part is whole. Of repeated facts about the candidate itself the last one counts.
 */
export class CandidateReader {
  private readonly index: number
  private readonly request: CanonicalRequest
  private readonly facts: CandidateFacts
  private known: CallIds | undefined
  private parts = 0
  private open: Flowing | undefined
  /** Reasoning parts that have not ended: their signatures arrive with the part after them. */
  private thoughts: At[] = []
  private text = ''
  private called = false
  /** Whether the last part is a whole call. */
  private endsInCall = false
  private partial: { readonly at: At; readonly args: PartialArguments } | undefined
  /** A proof alone after the open text, which may still be cited: it is put out when the text ends. */
  private lone: Part | undefined
  private readonly cited = new Set<string>()
  /** The texts so far: metadata may cite any of them. */
  private readonly texts: Text[] = []
  /** Citation metadata not read yet, the length of the text when some was read, and how often that was. */
  private citing: JsonObject[] = []
  private citedAt = 0
  private readings = 0

  constructor(index: number, request: CanonicalRequest) {
    this.index = index
    this.request = request
    this.facts = new CandidateFacts(index)
  }

  /** Made when it is needed: most answers have no calls, and a history may be long. */
  private get ids(): CallIds {
    this.known ??= CallIds.after(this.request)
    return this.known
  }

  /**
   * Whether the stream may end here: calls arrive whole, and Google ends some streams after one without a reason (trap
   * 103).
   */
  get finished(): boolean {
    return this.facts.finished || (this.endsInCall && this.partial === undefined)
  }

  read(wire: JsonObject, out: CanonicalEvent[]): void {
    const fields = open(wire, CANDIDATE)
    const content = fields['content']
    const given = isObject(content) ? content['parts'] : undefined
    const parts: readonly Json[] = Array.isArray(given) ? given : NO_PARTS
    const cites = 'groundingMetadata' in fields || 'citationMetadata' in fields
    // Metadata is about all text so far; what cites the open text is to come before that ends.
    const lastText = cites ? parts.findLastIndex(hasText) : undefined
    if (lastText === -1) this.addCitations(fields, out)
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at]
      if (isObject(part)) this.part(part, out)
      if (at === lastText) this.addCitations(fields, out)
    }
    for (const field in fields) if (field !== 'content' && field !== 'index') this.facts.add(field, fields[field]!, out)
  }

  /** Ends all open parts. */
  close(out: CanonicalEvent[]): void {
    this.endPartial(out)
    this.endOpen(out)
    this.cite(out)
    const refusal = this.facts.takeRefusal()
    if (refusal !== undefined) this.whole(refusal, out)
  }

  ended(): CandidateEnd {
    return this.facts.ended(this.text, this.called)
  }

  /** The usual part is a text or a thought without any other field. */
  private part(wire: JsonObject, out: CanonicalEvent[]): void {
    const { text } = wire
    if (typeof text !== 'string') return this.other(wire, out)
    for (const key in wire) if (key !== 'text' && key !== 'thought') return this.other(wire, out)
    if (text === '' && wire['thought'] !== true) this.seal()
    else this.append(wire['thought'] === true ? 'reasoning' : 'text', text, out)
  }

  private append(kind: Flow, append: string, out: CanonicalEvent[]): void {
    if (append === '') return
    let flow = this.open
    if (flow === undefined || flow.kind !== kind || flow.sealed) flow = this.enter(kind, out)
    if (kind === 'text') this.text += append
    out.push({ type: 'part-delta', at: flow.at, append })
  }

  /** An empty text, which our own streams write between two texts or two thoughts: more text begins another part. */
  private seal(): void {
    if (this.open !== undefined) this.open.sealed = true
  }

  private enter(kind: Flow, out: CanonicalEvent[]): Flowing {
    this.endPartial(out)
    if (kind === 'text' || this.open?.kind === 'text') this.endOpen(out)
    const flow = { kind, at: this.next(), sealed: false }
    out.push({ type: 'part-start', at: flow.at, part: STARTS[kind] })
    if (kind === 'reasoning') this.thoughts.push(flow.at)
    else this.beginText(flow.at)
    this.open = flow
    return flow
  }

  private beginText(at: At): void {
    this.measureText()
    this.texts.push({ at, from: this.text.length, length: 0 })
  }

  /** The length of the last text is known when it is cited, or another one begins. */
  private measureText(): void {
    const last = this.texts.at(-1)
    if (last !== undefined) last.length = this.text.length - last.from
  }

  private next(): At {
    this.endsInCall = false
    return { candidate: this.index, part: this.parts++ }
  }

  private endOpen(out: CanonicalEvent[]): void {
    if (this.open?.kind === 'text') {
      if (this.hasDoubled || this.readings < MOST_READINGS) this.cite(out)
      out.push({ type: 'part-end', at: this.open.at })
    }
    for (const at of this.thoughts) out.push({ type: 'part-end', at })
    this.thoughts = []
    this.open = undefined
    const { lone } = this
    this.lone = undefined
    if (lone !== undefined) this.whole(lone, out)
  }

  private other(wire: JsonObject, out: CanonicalEvent[]): void {
    if (isLegacyMark(wire)) return this.seal()
    const call = wire['functionCall'] ?? wire['function_call']
    if (isObject(call) && this.readPartial(wire, call, out)) return
    const parts = readPartLeniently(wire, this.ids)
    const [first] = parts
    if (first?.type === 'reasoning' && parts.length === 1 && this.signOpen(wire, first, out)) return
    for (const part of this.prove(parts, out))
      if (this.open?.kind === 'text' && this.lone === undefined && isLoneProof(part)) this.hold(part)
      else this.whole(part, out)
  }

  /** Holds a proof back while the text before it may be cited; more text begins another part. */
  private hold(proof: Part): void {
    this.lone = proof
    this.seal()
  }

  /** Signs the open reasoning parts with the proofs in front of the part after them; returns the remaining parts. */
  private prove(parts: readonly Part[], out: CanonicalEvent[]): readonly Part[] {
    const [first] = parts
    if (this.thoughts.length === 0 || first?.type !== 'reasoning') return parts
    if (isLoneProof(first) && first.spelling === undefined) {
      if (this.open?.sealed !== false) return parts
      out.push({ type: 'part-patch', at: this.open.at, signature: first.signature, spelling: PROVED_NEXT })
      return parts.slice(1)
    }
    const other = parts.findIndex(part => !isEnclosed(part) || bodyOf(part) === '')
    const count = Math.min(other === -1 ? parts.length : other, this.thoughts.length)
    for (const [index, part] of parts.slice(0, count).entries())
      sign(this.thoughts.at(index - count)!, part as ReasoningPart, out)
    return parts.slice(count)
  }

  /** A signature that arrives with the last text of a thought, or after it: the open part is signed, and ends. */
  private signOpen(wire: JsonObject, part: ReasoningPart, out: CanonicalEvent[]): boolean {
    if (wire['thought'] !== true || part.signature === undefined || part.extras !== undefined) return false
    const flow = this.open
    if (flow === undefined || flow.kind !== 'reasoning' || flow.sealed) return false
    this.append('reasoning', part.text, out)
    const { signature, spelling } = part
    out.push({ type: 'part-patch', at: flow.at, signature, ...defined({ spelling }) })
    this.endOpen(out)
    return true
  }

  private whole(part: Part, out: CanonicalEvent[]): void {
    if (part.type === 'text' && part.extras === undefined) {
      this.endOpen(out)
      this.append('text', part.text, out)
      return
    }
    this.endPartial(out)
    this.endOpen(out)
    if (part.type === 'tool-call') this.called = true
    const at = this.next()
    this.endsInCall = part.type === 'tool-call'
    const body = bodyOf(part)
    out.push({ type: 'part-start', at, part: withBody(part, '') })
    if (body !== '') out.push({ type: 'part-delta', at, append: body })
    if (part.type !== 'text') out.push({ type: 'part-end', at })
    else {
      this.open = { kind: 'text', at, sealed: true }
      this.beginText(at)
      this.text += part.text
    }
  }

  /** A call whose arguments arrive in chunks; returns whether this part belongs to one. */
  private readPartial(wire: JsonObject, call: JsonObject, out: CanonicalEvent[]): boolean {
    const chunks = call['partialArgs'] ?? call['partial_args']
    const more = call['willContinue'] ?? call['will_continue']
    const name = anyText(call['name'])
    if (name !== undefined && name !== '') {
      if (chunks === undefined && more !== true) return false
      this.startPartial(wire, name, call, out)
    } else if (this.partial === undefined) return false
    this.partial!.args.add(chunks)
    if (isObject(call['args'])) this.partial!.args.merge(call['args'])
    if (more !== true) this.endPartial(out)
    return true
  }

  private startPartial(wire: JsonObject, name: string, call: JsonObject, out: CanonicalEvent[]): void {
    const fields = open(wire, PARTIAL)
    // A field that is none of a call's would make the part something other than a call.
    const head: JsonObject = { name, args: {}, ...defined({ id: anyText(call['id']) }) }
    const whole = { functionCall: head, ...defined({ thoughtSignature: anyText(fields['thoughtSignature']) }) }
    const parts = this.prove(readPartLeniently(whole, this.ids), out)
    this.endPartial(out)
    this.endOpen(out)
    for (const part of parts) {
      if (part.type !== 'tool-call') this.whole(part, out)
      else {
        this.called = true
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
   * Citations are read when the text has doubled, or one of the first texts ends: their metadata may come with every
   * chunk. Those that come when no text is open wait for the next one's end, or the candidate's.
   */
  private addCitations(fields: JsonObject, out: CanonicalEvent[]): void {
    this.citing.push(fields)
    if (this.open?.kind === 'text' && this.hasDoubled) this.cite(out)
  }

  /** Whether there is as much text again as when citations were read. */
  private get hasDoubled(): boolean {
    return this.text.length >= 2 * this.citedAt
  }

  /** New citations of all texts so far: those that have ended are cited late. */
  private cite(out: CanonicalEvent[]): void {
    const { citing, texts } = this
    if (citing.length === 0) return
    this.citing = []
    this.citedAt = this.text.length
    this.readings++
    this.measureText()
    const places = new Places(this.text)
    const cited = citing.flatMap(fields => citedBy(fields, places).all)
    for (const [index, all] of citationsOf(cited, texts)) {
      const { at } = texts[index]!
      const annotations = all.filter(one => this.isNew(one, at))
      if (annotations.length > 0) out.push({ type: 'part-patch', at, annotations })
    }
  }

  /** Metadata may be repeated, and grow; a citation without a place is of whichever text it came with. */
  private isNew(citation: Citation, { part }: At): boolean {
    const key = JSON.stringify(citation.start === undefined ? [citation] : [part, citation])
    if (this.cited.has(key)) return false
    this.cited.add(key)
    return true
  }
}

const NO_PARTS: readonly Json[] = []

const hasText = (part: Json): boolean =>
  isObject(part) && typeof part['text'] === 'string' && part['text'] !== '' && part['thought'] !== true

/** The mark that streams of earlier versions wrote between two texts or two thoughts. */
const isLegacyMark = (wire: JsonObject): boolean => {
  if (wire['thought'] !== false) return false
  for (const key in wire) if (key !== 'thought') return false
  return true
}

function sign(at: At, { spelling: _, ...thought }: ReasoningPart, out: CanonicalEvent[]): void {
  const { signature, redacted } = thought
  if (redacted !== undefined) out.push({ type: 'part-patch', at, part: thought })
  else if (signature !== undefined) out.push({ type: 'part-patch', at, signature })
}
