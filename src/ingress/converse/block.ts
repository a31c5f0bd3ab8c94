import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../../canonical/event.ts'
import { openingEvents } from '../../canonical/fold.ts'
import { append } from '../../canonical/lists.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyObject, anyText } from '../fields.ts'
import { readCitation } from './citations.ts'
import { signed } from './content.ts'
import { leniently } from './result.ts'
import { FORMAT, kindOf } from './wire.ts'

/** Returns the part that a block starts with. Undefined for a text or reasoning, which their first delta starts. */
export function partOfStart(start: JsonObject): Part | undefined {
  const { toolUse } = start
  if (isObject(toolUse)) return leniently({ toolUse: { ...toolUse, input: toolUse['input'] ?? null } })
  return Object.keys(start).length === 0 ? undefined : { type: 'opaque', format: FORMAT, value: start }
}

/** The kinds of deltas. */
const DELTAS = { text: true, reasoningContent: true, citation: true, toolUse: true }

/** Returns the part that a delta without a block starts. Undefined for a delta that starts none. */
export function partOfDelta(delta: JsonObject): Part | undefined {
  const kind = kindOf(delta, DELTAS)
  if (kind === 'text' || kind === 'citation') return { type: 'text', text: '' }
  if (kind !== 'reasoningContent') return undefined
  const redacted = anyText(anyObject(delta['reasoningContent'])?.['redactedContent'])
  return redacted === undefined ? { type: 'reasoning', text: '' } : { type: 'reasoning', text: '', redacted: true }
}

const PARTS: { readonly [kind: string]: Part['type'] } = {
  text: 'text',
  citation: 'text',
  reasoningContent: 'reasoning',
  toolUse: 'tool-call',
}

/** Reads one content block of a stream. Blocks that only this format has are collected and emitted at their end. */
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

  /** Whether a delta belongs to the block. */
  takes(delta: JsonObject): boolean {
    if (this.part.type === 'opaque') return true
    const kind = kindOf(delta, DELTAS)
    return kind === undefined || PARTS[kind] === this.part.type
  }

  delta(delta: JsonObject, out: CanonicalEvent[]): void {
    if (this.part.type === 'opaque') this.deltas.push(delta)
    else if (delta['text'] !== undefined) this.grow(delta['text'], out)
    else if (isObject(delta['toolUse'])) this.grow(delta['toolUse']['input'], out)
    else if (isObject(delta['reasoningContent'])) this.reason(delta['reasoningContent'], out)
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
    if (this.hidden.length > 0) out.push({ type: 'part-patch', at: this.at, ...signed(joinedBase64(this.hidden)) })
    out.push({ type: 'part-end', at: this.at })
  }

  private grow(append: Json | undefined, out: CanonicalEvent[]): void {
    if (typeof append === 'string' && append !== '') out.push({ type: 'part-delta', at: this.at, append })
  }

  /** Reads a chunk of reasoning, its signature, or hidden reasoning, which is the signature itself. */
  private reason({ text, signature, redactedContent }: JsonObject, out: CanonicalEvent[]): void {
    this.grow(text, out)
    if (typeof signature === 'string' && signature !== '')
      out.push({ type: 'part-patch', at: this.at, ...signed(signature) })
    if (typeof redactedContent === 'string') this.hidden.push(redactedContent)
  }
}

/** Joins chunks in base64, each of which may end with padding. */
const joinedBase64 = (chunks: readonly string[]): string =>
  chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks.map(chunk => Buffer.from(chunk, 'base64'))).toString('base64')
