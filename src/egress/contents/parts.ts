import { CallIds } from '../../canonical/call-ids.ts'
import type { MediaPart, Part, ReasoningPart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { isObject, type JsonObject, unchangedWire, wireSourceOf } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { SKIP_SIGNATURE } from '../../canonical/signature.ts'
import { spellingFor } from '../fields.ts'
import { isSearch, searchInWords } from '../searches.ts'
import { writeCall, writeResult } from './calls.ts'
import { extrasField, FORMAT, nativeExtras, type WriteContext, withExtras } from './fields.ts'
import { ruleFor, writeMedia } from './media.ts'

/** Part types allowed in a turn, by role. */
const ALLOWED_PARTS: { readonly [R in Role]: ReadonlySet<Part['type']> } = {
  system: new Set(['text', 'opaque']),
  developer: new Set(['text', 'opaque']),
  user: new Set(['text', 'media', 'opaque']),
  assistant: new Set(['text', 'reasoning', 'refusal', 'media', 'tool-call', 'search-call', 'search-result', 'opaque']),
  tool: new Set(['tool-result']),
}

/** A signature for the next part. */
interface PendingSignature {
  readonly value: string
  /** Reasoning part whose extras are written with the signature if no part follows. */
  readonly part?: ReasoningPart
}

/** Unsigned reasoning that was the last part written. */
interface UnsignedReasoning {
  readonly path: Path
  readonly text: string
}

/**
 * Writes the parts of one `contents` entry of a request. Google's signature of reasoning is put on the following part,
 * whether or not the reasoning has text, unless the caller had it elsewhere (traps 29, 31, 32, 91).
 */
export class PartsWriter {
  readonly parts: JsonObject[] = []
  private readonly context: WriteContext
  private readonly ids: CallIds
  private pending: PendingSignature | undefined
  private lastUnsigned: UnsignedReasoning | undefined
  private hasCalls = false
  /** True if the model's turn has a part that its upstream wants to be signed. */
  private hasSigned = false

  constructor(context: WriteContext, ids: CallIds = new CallIds()) {
    this.context = context
    this.ids = ids
  }

  /** Writes the parts of the message at `path`, in the given order of part indexes. */
  putAll({ content }: Message, role: Role, path: Path, order?: readonly number[]): void {
    if (order === undefined)
      for (let index = 0; index < content.length; index++) this.put(content[index]!, role, [...path, 'content', index])
    else for (const index of order) this.put(content[index]!, role, [...path, 'content', index])
  }

  private put(part: Part, role: Role, path: Path): void {
    const { losses, native } = this.context
    const nativeWire = native ? unchangedWire<JsonObject>(part, FORMAT) : undefined
    if (nativeWire !== undefined) return this.addAsReceived(part, nativeWire)
    if (!ALLOWED_PARTS[role].has(part.type)) return losses.drop(path, 'not-in-this-turn')
    if (part.cache !== undefined && part.type !== 'tool-result') losses.drop([...path, 'cache'], 'no-cache-markers')
    if (part.type === 'reasoning') return this.reasoning(part, path)
    const wire = this.writeUnsigned(part, path)
    if (wire === undefined) return
    const signature = this.signature(part, wire, role)
    this.push(
      withExtras(
        part.type === 'opaque' || isSearch(part) ? undefined : nativeExtras(part),
        withSignature(wire, signature),
      ),
    )
  }

  /** Writes a part as received, and adds the signature of reasoning that was restored before it. */
  private addAsReceived(part: Part, wire: JsonObject): void {
    if (wire['text'] === '' || part.type === 'reasoning') this.end()
    const signature = this.pending?.value
    this.pending = undefined
    if (part.type === 'tool-call') this.hasCalls = true
    const acceptedWire = this.context.dialect.vertex === true ? withoutId(wire) : wire
    const isSigned = signature === undefined || signature === (wire['thoughtSignature'] ?? wire['thought_signature'])
    this.push(isSigned ? acceptedWire : withSignature(withoutOldSignature(acceptedWire), signature))
  }

  /** Ends the entry and writes a pending signature that no part follows. */
  end(): void {
    if (this.pending === undefined) return
    const { part, value } = this.pending
    this.pending = undefined
    this.push(withExtras(nativeExtras(part), { text: '', thoughtSignature: value }))
  }

  private push(wire: JsonObject): void {
    this.parts.push(wire)
    this.lastUnsigned = undefined
  }

  /**
   * Returns the signature to put on a part. Readers ignore an empty text that has a signature, so a pending signature
   * is written before the text instead.
   */
  private signature(part: Part, wire: JsonObject, role: Role): string | undefined {
    if (wire['text'] === '') this.end()
    const pending = this.pending?.value
    this.pending = undefined
    if (part.type === 'opaque') return pending
    if (role === 'assistant' && this.context.dialect.signed_turns === true) {
      const isDemanded = part.type === 'media' || (wire['text'] !== undefined && !this.hasSigned)
      this.hasSigned ||= isDemanded || part.type === 'tool-call'
      if (isDemanded) return pending ?? SKIP_SIGNATURE
    }
    if (part.type !== 'tool-call') return pending
    const value = pending ?? (this.hasCalls ? undefined : SKIP_SIGNATURE)
    this.hasCalls = true
    return value
  }

  private reasoning(part: ReasoningPart, path: Path): void {
    this.end()
    const signature = this.nativeSignature(part, path)
    const { losses } = this.context
    const { as, text, thought, proof: signaturePosition } = spellingFor(part, FORMAT)
    const extras = nativeExtras(part)
    if (as === 'alone') {
      if (signature !== undefined) this.push(withExtras(extras, { text, thought, thoughtSignature: signature }))
      return
    }
    if (part.redacted && signature === undefined && part.text === '') {
      if (extras === undefined) return losses.drop(path, 'no-hidden-reasoning')
    }
    if (part.redacted) losses.drop([...path, 'redacted'], 'no-hidden-reasoning')
    if (part.text === '' && signature !== undefined) {
      this.pending = { part, value: signature }
      if (extras !== undefined) this.end()
    } else if (extras !== undefined || signaturePosition === 'self') {
      this.push(withExtras(extras, { text: part.text, thought: true, thoughtSignature: signature }))
    } else if (part.text !== '') this.reasoningPart(part, signature, path)
  }

  /**
   * Writes reasoning. Its signature is put on the next part. Reasoning directly after unsigned reasoning is joined to
   * it, because readers would treat it as the next chunk.
   */
  private reasoningPart(part: ReasoningPart, signature: string | undefined, path: Path): void {
    const { losses } = this.context
    const unsignedBefore = part.continues === undefined ? this.lastUnsigned : undefined
    if (unsignedBefore === undefined) {
      this.push(this.reasoningAsRead(part) ?? { text: part.text, thought: true })
      if (signature === undefined) this.lastUnsigned = { path, text: part.text }
    } else {
      const text = `${unsignedBefore.text}\n\n${part.text}`
      losses.drop(path, 'joined-with-the-one-before')
      losses.change([...unsignedBefore.path, 'text'], text, 'joined-with-the-next')
      if (signature !== undefined)
        losses.add([...unsignedBefore.path, 'signature'], { format: FORMAT, value: signature }, 'joined-with-the-next')
      this.parts[this.parts.length - 1] = { text, thought: true }
      this.lastUnsigned = signature === undefined ? { ...unsignedBefore, text } : undefined
    }
    if (signature !== undefined) this.pending = { value: signature }
  }

  /**
   * Returns the wire part from which reasoning of a native request was read, even though its signature is on the next
   * part.
   */
  private reasoningAsRead(part: ReasoningPart): JsonObject | undefined {
    const source = this.context.native ? wireSourceOf<JsonObject, ReasoningPart>(part, FORMAT) : undefined
    return source?.node.text === part.text ? source.wire : undefined
  }

  /** Returns the signature if an upstream of this format issued it. Other signatures are dropped (trap 30). */
  private nativeSignature({ signature }: ReasoningPart, path: Path): string | undefined {
    if (signature === undefined || signature.format === FORMAT) return signature?.value
    return this.context.losses.drop([...path, 'signature'], `only-in-${signature.format}`)
  }

  /** Writes the part without its signature. */
  private writeUnsigned(part: Part, path: Path): JsonObject | undefined {
    const { context, ids } = this
    switch (part.type) {
      case 'text':
        return this.text(part, path)
      case 'refusal':
        context.losses.changeRestored(path, { type: 'text', text: part.text, ...extrasField(part) }, 'said-as-text')
        return this.textPart(part.text, part)
      case 'media':
        return this.media(part, path)
      case 'tool-call':
        return writeCall(part, path, context, ids)
      case 'tool-result':
        return writeResult(part, path, context, ids)
      case 'search-call':
      case 'search-result':
        return this.textPart(searchInWords(part, path, context.losses).text, undefined)
      case 'opaque':
        return part.format === FORMAT ? part.value : this.textPart(part.text, undefined)
      default:
        return context.losses.drop(path, 'not-in-this-turn')
    }
  }

  private text(part: Part & { type: 'text' }, path: Path): JsonObject | undefined {
    if (part.annotations !== undefined)
      this.context.losses.dropRestored([...path, 'annotations'], 'no-annotations-in-requests')
    return this.textPart(part.text, part)
  }

  /** Writes a text part. Empty text is left out, because some upstreams refuse it (trap 81). */
  private textPart(text: string | undefined, part: Part | undefined): JsonObject | undefined {
    if (text === undefined || (text === '' && nativeExtras(part) === undefined)) return undefined
    return { text }
  }

  private media(part: MediaPart, path: Path): JsonObject | undefined {
    const { dialect, losses } = this.context
    const wire = writeMedia(part, path, ruleFor(dialect, losses))
    return wire !== undefined && 'text' in wire ? this.textPart(String(wire['text']), part) : wire
  }
}

/** Returns the part with the signature, if any. */
const withSignature = (wire: JsonObject, signature: string | undefined): JsonObject =>
  signature === undefined ? wire : { ...wire, thoughtSignature: signature }

/** Returns the part without `thought_signature`, an alternative spelling of `thoughtSignature`. */
const withoutOldSignature = ({ thought_signature: _, ...wire }: JsonObject): JsonObject => wire

const FIELDS_WITH_IDS = ['functionCall', 'function_call', 'functionResponse', 'function_response']

function withoutId(wire: JsonObject): JsonObject {
  for (const field of FIELDS_WITH_IDS) {
    const value = wire[field]
    if (!isObject(value)) continue
    const { id: _, ...others } = value
    return { ...wire, [field]: others }
  }
  return wire
}
