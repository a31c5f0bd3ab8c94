import type { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../../canonical/event.ts'
import { openingEvents } from '../../canonical/fold.ts'
import { append } from '../../canonical/lists.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyObject, anyText } from '../fields.ts'
import { readCitation } from './citations.ts'
import { signatureField, WITHOUT_SIGNATURE } from './content.ts'
import { leniently, withCallId } from './result.ts'
import { FORMAT, kindOf } from './wire.ts'

/** Returns the initial part of a block, or undefined for text and reasoning, which start with their first delta. */
export function partOfStart(start: JsonObject, ids: AnswerIds): Part | undefined {
  const { toolUse } = start
  if (isObject(toolUse)) return leniently({ toolUse: { ...withCallId(toolUse, ids), input: toolUse['input'] ?? null } })
  return Object.keys(start).length === 0 ? undefined : { type: 'opaque', format: FORMAT, value: start }
}

/** Fields of a delta, of which exactly one is set. */
const DELTAS = { text: true, reasoningContent: true, citation: true, toolUse: true }

/** Returns the part to start for a delta without a block, or undefined if the delta cannot start a part. */
export function partOfDelta(delta: JsonObject): Part | undefined {
  const kind = kindOf(delta, DELTAS)
  if (kind === 'text' || kind === 'citation') return { type: 'text', text: '' }
  if (kind !== 'reasoningContent') return undefined
  const redacted = anyText(anyObject(delta['reasoningContent'])?.['redactedContent'])
  if (redacted !== undefined) return { type: 'reasoning', text: '', redacted: true }
  return { type: 'reasoning', text: '', ...WITHOUT_SIGNATURE }
}

const PARTS: { readonly [kind: string]: Part['type'] } = {
  text: 'text',
  citation: 'text',
  reasoningContent: 'reasoning',
  toolUse: 'tool-call',
}

/** Reads one content block of a stream. Blocks that other formats lack are collected and emitted at their end. */
export class BlockReader {
  private readonly at: PartPosition
  private readonly part: Part
  private readonly deltas: JsonObject[] = []
  /** Chunks of hidden reasoning, each in base64. */
  private readonly hidden: string[] = []

  constructor(part: Part, index: number, out: CanonicalEvent[]) {
    this.at = { candidate: 0, part: index }
    this.part = part
    append(out, openingEvents(part, this.at))
  }

  /** Returns true if a delta belongs to the block. */
  accepts(delta: JsonObject): boolean {
    if (this.part.type === 'opaque') return true
    const kind = kindOf(delta, DELTAS)
    return kind === undefined || PARTS[kind] === this.part.type
  }

  delta(delta: JsonObject, out: CanonicalEvent[]): void {
    if (this.part.type === 'opaque') this.deltas.push(delta)
    else if (delta['text'] !== undefined) this.append(delta['text'], out)
    else if (isObject(delta['toolUse'])) this.append(delta['toolUse']['input'], out)
    else if (isObject(delta['reasoningContent'])) this.readReasoning(delta['reasoningContent'], out)
    else if (isObject(delta['citation']))
      out.push({ type: 'part-patch', at: this.at, annotations: [readCitation(delta['citation'])] })
  }

  end(out: CanonicalEvent[]): void {
    if (this.part.type === 'opaque' && this.deltas.length > 0)
      out.push({
        type: 'part-patch',
        at: this.at,
        part: { ...this.part, value: { ...this.part.value, deltas: this.deltas } },
      })
    if (this.hidden.length > 0)
      out.push({ type: 'part-patch', at: this.at, ...signatureField(joinedBase64(this.hidden)) })
    out.push({ type: 'part-end', at: this.at })
  }

  private append(chunk: Json | undefined, out: CanonicalEvent[]): void {
    if (typeof chunk === 'string' && chunk !== '') out.push({ type: 'part-delta', at: this.at, append: chunk })
  }

  /** Reads a chunk of reasoning, a signature, or hidden reasoning, which serves as its own signature. */
  private readReasoning({ text, signature, redactedContent }: JsonObject, out: CanonicalEvent[]): void {
    this.append(text, out)
    if (typeof signature === 'string' && signature !== '')
      out.push({ type: 'part-patch', at: this.at, ...signatureField(signature) })
    if (typeof redactedContent === 'string') this.hidden.push(redactedContent)
  }
}

/** Joins base64 chunks, each of which may end with padding. */
const joinedBase64 = (chunks: readonly string[]): string =>
  chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks.map(chunk => Buffer.from(chunk, 'base64'))).toString('base64')
