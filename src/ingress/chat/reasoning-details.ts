import type { Signature } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { anyObjects, put } from '../fields.ts'
import { FORMAT } from './wire.ts'

/*
 * OpenRouter and gateways like it put the signatures of models from other formats into `reasoning_details`, and demand
 * the list back with the calls of the turn (docs/wire/chat.md#beyond-the-description). The list as JSON text is the
 * signature of the reasoning.
 */

/** Fields of an entry that arrive in pieces. */
const GROWING_FIELDS = ['text', 'summary'] as const

/** Returns the signature of reasoning with these details, or undefined if no entry is signed or encrypted. */
export const signatureOfDetails = (details: Json | undefined): Signature | undefined =>
  anyObjects(details).some(isSigned) ? { format: FORMAT, value: JSON.stringify(details) } : undefined

const isSigned = ({ signature, data }: JsonObject): boolean => isFilled(signature) || isFilled(data)

const isFilled = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

/** Assembles the details of a streamed answer. */
export class StreamedDetails {
  private entries: { [field: string]: Json }[] = []
  /** Pieces of the last entry's growing field. */
  private pieces: string[] = []
  private hasSignature = false

  /** Adds the details of one chunk. Returns true if one of them is signed or encrypted. */
  add(details: Json): boolean {
    let isAnySigned = false
    for (const detail of anyObjects(details)) {
      this.addEntry(detail)
      isAnySigned ||= isSigned(detail)
    }
    this.hasSignature ||= isAnySigned
    return isAnySigned
  }

  /** Returns the signature of all details since the last signature. Unsigned details wait for the next one. */
  take(): Signature | undefined {
    if (!this.hasSignature) return undefined
    this.complete()
    const signature = signatureOfDetails(this.entries)
    this.entries = []
    this.hasSignature = false
    return signature
  }

  private addEntry(detail: JsonObject): void {
    const last = this.entries.at(-1)
    const grows = GROWING_FIELDS.some(field => typeof detail[field] === 'string')
    if (last === undefined || !continues(last, detail)) {
      this.complete()
      this.entries.push({ ...detail })
      append(this.pieces, grows ? [textIn(detail)] : [])
      return
    }
    for (const [field, value] of Object.entries(detail)) if (value !== null && value !== '') put(last, field, value)
    this.pieces.push(textIn(detail))
  }

  /** Writes the collected pieces into the last entry. */
  private complete(): void {
    const last = this.entries.at(-1)
    const field = GROWING_FIELDS.find(name => typeof last?.[name] === 'string')
    if (last !== undefined && field !== undefined) last[field] = this.pieces.join('')
    this.pieces = []
  }
}

const textIn = (detail: JsonObject): string =>
  GROWING_FIELDS.map(field => detail[field]).find(value => typeof value === 'string') ?? ''

/** Returns true if a chunk's entry continues the entry before it. Encrypted entries arrive whole. */
const continues = (last: JsonObject, { type, index, id, data }: JsonObject): boolean =>
  last['type'] === type &&
  last['index'] === index &&
  (id == null || last['id'] == null || last['id'] === id) &&
  data === undefined &&
  last['data'] === undefined
