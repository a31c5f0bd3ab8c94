import type { CallIds } from '../../canonical/call-ids.ts'
import type { MediaPart, Part, ReasoningPart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { kept, spelt } from '../fields.ts'
import { writeCall, writeResult } from './calls.ts'
import { FORMAT, type WriteContext, withExtras } from './fields.ts'
import { writeMedia } from './media.ts'

/** The parts that a role's turn may contain. */
const ALLOWED: { readonly [R in Role]: ReadonlySet<Part['type']> } = {
  system: new Set(['text', 'opaque']),
  developer: new Set(['text', 'opaque']),
  user: new Set(['text', 'media', 'opaque']),
  assistant: new Set(['text', 'reasoning', 'refusal', 'media', 'tool-call', 'opaque']),
  tool: new Set(['tool-result']),
}

/** Written by callers that have no signature for the first call of a turn (trap 31). */
const SKIP = 'skip_thought_signature_validator'

/** A proof for the slot of the next part. */
interface Waiting {
  readonly value: string
  /** The part to write it on where none follows. */
  readonly part?: ReasoningPart
}

/** A thought without a proof that was the last part written. */
interface Unsigned {
  readonly path: Path
  readonly text: string
}

/**
 * Writes the parts of one content. Google's proof of a thought, or one without text before a part, is put on the part
 * that follows, unless the caller had it elsewhere (traps 29, 31, 32, 91).
 */
export class PartsWriter {
  readonly parts: JsonObject[] = []
  private readonly context: WriteContext
  private readonly ids: CallIds
  private waiting: Waiting | undefined
  private unsigned: Unsigned | undefined
  private called = false

  constructor(context: WriteContext, ids: CallIds) {
    this.context = context
    this.ids = ids
  }

  /** Writes the parts of the message at `path`. */
  putAll({ content }: Message, role: Role, path: Path, order: readonly number[] = [...content.keys()]): void {
    for (const index of order) this.put(content[index]!, role, [...path, 'content', index])
  }

  private put(part: Part, role: Role, path: Path): void {
    const { context } = this
    if (!context.native) {
      if (!ALLOWED[role].has(part.type)) return context.losses.drop(path, 'not-in-this-turn')
      if (part.type !== 'tool-result') context.losses.dropFields(part, path, { cache: 'no-cache-markers' })
    }
    if (part.type === 'reasoning') this.reasoning(part, path)
    else {
      const wire = this.bare(part, path)
      if (wire !== undefined) this.add(part, wire)
    }
  }

  /** Marks the end: no part follows. */
  end(): void {
    if (this.waiting === undefined) return
    const { part, value } = this.waiting
    this.waiting = undefined
    this.push(withExtras(part, { text: '', thoughtSignature: value }))
  }

  private push(wire: JsonObject): void {
    this.parts.push(wire)
    this.unsigned = undefined
  }

  /** An empty text with a signature would be read as the signature alone. */
  private add(part: Part, wire: JsonObject): void {
    if (wire['text'] === '') this.end()
    const signature = this.signature(part)
    this.waiting = undefined
    const signed = signature === undefined ? wire : { ...wire, thoughtSignature: signature }
    this.push(part.type === 'opaque' ? renamed(part, signed) : withExtras(part, signed))
  }

  private signature(part: Part): string | undefined {
    if (this.waiting !== undefined) {
      if (part.type === 'tool-call') this.called = true
      return this.waiting.value
    }
    const own = spelt(part, FORMAT)['slot']
    if (this.context.native) return typeof own === 'string' ? own : undefined
    if (part.type !== 'tool-call' || this.called) return undefined
    this.called = true
    return SKIP
  }

  private reasoning(part: ReasoningPart, path: Path): void {
    this.end()
    const signature = this.own(part, path)
    const { native, losses } = this.context
    const marks = spelt(part, FORMAT)
    if (native && marks['as'] === 'alone') {
      const { text, thought } = marks
      if (signature !== undefined) this.push(withExtras(part, { text, thought, thoughtSignature: signature }))
      return
    }
    if (part.redacted && signature === undefined && part.text === '') {
      if (part.extras?.[FORMAT] === undefined) return losses.drop(path, 'no-hidden-reasoning')
    }
    if (part.redacted) losses.drop([...path, 'redacted'], 'no-hidden-reasoning')
    const bare = Object.keys(kept(part, FORMAT)).length === 0
    if (part.text === '' && signature !== undefined) {
      this.waiting = { part, value: signature }
      if (!bare) this.end()
    } else if (!bare || (native && marks['proof'] !== 'next' && marks['enclosed'] === undefined)) {
      const slot = native ? (marks['slot'] as string | undefined) : undefined
      this.push(withExtras(part, { text: part.text, thought: true, thoughtSignature: signature ?? slot }))
    } else if (part.text !== '') this.thought(part, signature, path)
  }

  /**
   * A thought, whose proof is put on the next part. Another thought right after it would be read as its next chunk, so
   * the two are joined.
   */
  private thought(part: ReasoningPart, signature: string | undefined, path: Path): void {
    const { losses } = this.context
    const before = part.continues === undefined ? this.unsigned : undefined
    if (before === undefined) {
      this.push(withExtras(part, { text: part.text, thought: true }))
      if (signature === undefined) this.unsigned = { path, text: part.text }
    } else {
      const text = `${before.text}\n\n${part.text}`
      losses.drop(path, 'joined-with-the-one-before')
      losses.change([...before.path, 'text'], text, 'joined-with-the-next')
      if (signature !== undefined)
        losses.add([...before.path, 'signature'], { format: FORMAT, value: signature }, 'joined-with-the-next')
      this.parts[this.parts.length - 1] = { text, thought: true }
      this.unsigned = signature === undefined ? { ...before, text } : undefined
    }
    if (signature !== undefined) this.waiting = { value: signature }
  }

  /** The signature, if this upstream issued it; another's is dropped (trap 30). */
  private own({ signature }: ReasoningPart, path: Path): string | undefined {
    if (signature === undefined || signature.format === FORMAT) return signature?.value
    this.context.losses.drop([...path, 'signature'], `only-${signature.format}-knows`)
    return undefined
  }

  /** The part without its signature. */
  private bare(part: Part, path: Path): JsonObject | undefined {
    const { context, ids } = this
    switch (part.type) {
      case 'text':
        return this.text(part, path)
      case 'refusal':
        context.losses.rename(path, { type: 'text', text: part.text, ...ownExtras(part) }, 'said-as-text')
        return this.textPart(part.text, part)
      case 'media':
        return this.media(part, path)
      case 'tool-call':
        return writeCall(part, path, context, ids)
      case 'tool-result':
        return writeResult(part, path, context, ids)
      case 'opaque':
        return part.format === FORMAT ? part.value : this.textPart(part.text, undefined)
      default:
        context.losses.drop(path, 'not-in-this-turn')
        return undefined
    }
  }

  private text(part: Part & { type: 'text' }, path: Path): JsonObject | undefined {
    const { native, losses } = this.context
    if (part.annotations !== undefined) losses.hide([...path, 'annotations'], 'no-annotations-in-requests')
    if (!native) return this.textPart(part.text, part)
    const { thought } = spelt(part, FORMAT)
    return thought === undefined ? { text: part.text } : { text: part.text, thought }
  }

  /** An empty text is left out, as some upstreams refuse it (trap 81). */
  private textPart(text: string | undefined, part: Part | undefined): JsonObject | undefined {
    if (text === undefined || (text === '' && Object.keys(kept(part, FORMAT)).length === 0)) return undefined
    return { text }
  }

  private media(part: MediaPart, path: Path): JsonObject | undefined {
    const { native, dialect, losses } = this.context
    const wire = writeMedia(part, path, { native, names: dialect.vertex === true, losses })
    return wire !== undefined && 'text' in wire ? this.textPart(String(wire['text']), part) : wire
  }
}

const ownExtras = (part: Part) =>
  part.extras?.[FORMAT] === undefined ? {} : { extras: { [FORMAT]: part.extras[FORMAT] } }

/** An opaque part in its original form, including the name of its signature's field. */
function renamed(part: Part, wire: JsonObject): JsonObject {
  const names = spelt(part, FORMAT)['names'] as { readonly thoughtSignature?: string } | undefined
  if (names?.thoughtSignature === undefined) return wire
  const { thoughtSignature, ...others } = wire
  return thoughtSignature === undefined ? wire : { ...others, [names.thoughtSignature]: thoughtSignature }
}
