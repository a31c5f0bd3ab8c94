import type { Part, ReasoningPart, TextPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { unchangedWire, withWireSource } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { isLoneSignature, isUnsigned } from '../../canonical/signature.ts'
import { FORMAT } from './fields.ts'

/**
 * Repairs reasoning in the history. Clients may return streamed reasoning in separate chunks, even with one chunk per
 * turn, or leave it out. Its signature is on the next part. The gateway wraps a signature of another format together
 * with the reasoning (canonical/signature.ts), so chunks of the same reasoning are duplicates and are removed (traps
 * 91, 92). Google's own signatures belong to the reasoning before them.
 */
export function joinReasoning(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ content }) => content.some(part => part.type === 'reasoning'))) return messages
  const turns: Turn[] = []
  const rewritten = new Set<Content>()
  let run = new ReasoningRun(rewritten)
  for (const message of messages) {
    if (message.role !== 'assistant') run = new ReasoningRun(rewritten)
    if (message.extras !== undefined) run.pause()
    turns.push({ message, content: run.add(message.content, true) })
    if (message.extras !== undefined) run.pause()
  }
  return turns.flatMap(({ message, content }) => {
    if (content.every((part, at) => part === message.content[at])) return [message]
    const remaining = content.filter(part => part !== undefined)
    if (remaining.length === 0 && message.content.length > 0) return []
    const joined = { ...message, content: remaining }
    const wire = unchangedWire(message, FORMAT)
    return [wire === undefined || rewritten.has(content) ? joined : withWireSource(joined, FORMAT, wire)]
  })
}

/** Like `joinReasoning`, but for the parts of one answer, whose reasoning parts are already complete. */
export function pairSignatures(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(part => part.type === 'reasoning')) return parts
  return new ReasoningRun(new Set()).add(parts, false).filter(part => part !== undefined)
}

type Content = (Part | undefined)[]

interface Turn {
  readonly message: Message
  readonly content: Content
}

/** Position of a reasoning chunk. */
interface ChunkPosition {
  readonly content: Content
  readonly at: number
}

/** Joins the reasoning in consecutive model turns. */
class ReasoningRun {
  /** The latest reasoning chunks, followed by nothing but empty parts. */
  private chunks: ChunkPosition[] = []
  /** True if more reasoning would continue the last chunk. */
  private continues = false
  /** Contents of turns in which the reasoning changed. */
  private readonly rewritten: Set<Content>

  constructor(rewritten: Set<Content>) {
    this.rewritten = rewritten
  }

  /**
   * Returns the parts of a turn without duplicate reasoning. A chunk of an earlier turn that turns out to be a
   * duplicate is replaced by `undefined` in that turn's list.
   */
  add(parts: readonly Part[], inChunks: boolean): Content {
    const content: Content = []
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!
      if (part.type !== 'reasoning') this.addOther(part, content, inChunks)
      else if (isWrapped(part)) {
        let end = index + 1
        while (isWrapped(parts[end])) end++
        this.addWrapped(parts.slice(index, end) as ReasoningPart[], content)
        index = end - 1
      } else if (isStraySignature(part)) this.joinChunks(part, content)
      else if (!this.sign(part, content)) this.addReasoning(part, content, inChunks)
    }
    return content
  }

  /** Separates earlier from later reasoning at a message with extras. */
  pause(): void {
    this.continues = false
  }

  /** Adds the reasoning of one wrapped signature. */
  private addWrapped(reasoning: readonly ReasoningPart[], content: Content): void {
    for (const { text } of reasoning.toReversed()) this.removeRepeated(text)
    append(content, reasoning)
    this.chunks = []
    this.continues = false
  }

  private addOther(part: Part, content: Content, inChunks: boolean): void {
    const last = content.at(-1)
    if (inChunks && isPlainText(part) && isPlainText(last) && isWrapped(content.at(-2))) {
      content[content.length - 1] = { ...last, text: last.text + part.text }
      this.rewritten.add(content)
    } else content.push(part)
    this.continues = false
    if (!(part.type === 'text' && part.text === '')) this.chunks = []
  }

  private addReasoning(part: ReasoningPart, content: Content, inChunks: boolean): void {
    const isChunk = part.text !== '' && part.signature === undefined && part.redacted === undefined
    const isPlain = isChunk && part.extras === undefined
    content.push(isPlain && inChunks && this.continues ? { ...part, continues: true } : part)
    this.continues = isPlain
    if (isChunk) this.chunks.push({ content, at: content.length - 1 })
    else this.chunks = []
  }

  /**
   * Removes the latest chunks that repeat the text, going back as long as they match. A chunk that only ends with the
   * text is trimmed.
   */
  private removeRepeated(text: string): void {
    let rest = text
    for (let chunk = this.chunks.at(-1); chunk !== undefined && rest !== ''; chunk = this.chunks.at(-1)) {
      const part = chunk.content[chunk.at] as ReasoningPart
      const more = part.text.length - rest.length
      if (more > 0 && part.text.endsWith(rest)) {
        chunk.content[chunk.at] = { ...part, text: part.text.slice(0, more) }
        this.rewritten.add(chunk.content)
        return
      }
      if (!rest.endsWith(part.text)) return
      rest = rest.slice(0, rest.length - part.text.length)
      chunk.content[chunk.at] = undefined
      this.rewritten.add(chunk.content)
      this.chunks.pop()
    }
  }

  /**
   * Adds Google's own signature to the reasoning directly before it.
   * @returns false if there is no such reasoning.
   */
  private sign(part: ReasoningPart, content: Content): boolean {
    const last = content.at(-1)
    if (!isLoneSignature(part) || part.spelling !== undefined || !isUnsigned(last) || last.spelling !== undefined)
      return false
    content[content.length - 1] = { ...last, signature: part.signature, spelling: SIGNED_BY_NEXT }
    this.chunks = []
    this.continues = false
    return true
  }

  /** Joins the latest chunks into one signed reasoning part. Without chunks, adds only the signature. */
  private joinChunks(signature: ReasoningPart, content: Content): void {
    const [first] = this.chunks
    if (first === undefined) content.push(signature)
    else {
      for (const list of [content, ...this.chunks.map(chunk => chunk.content)]) this.rewritten.add(list)
      const text = this.chunks.map(({ content, at }) => (content[at] as ReasoningPart).text).join('')
      for (const { content, at } of this.chunks) content[at] = undefined
      first.content[first.at] = { type: 'reasoning', text, signature: signature.signature! }
    }
    this.chunks = []
    this.continues = false
  }
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['type', 'text'])

/**
 * Returns true for a part that is only text. Streams put a wrapped signature on the first chunk of a text part. Clients
 * that join chunks keep this first chunk separate.
 */
const isPlainText = (part: Part | undefined): part is TextPart =>
  part?.type === 'text' && part.text !== '' && Object.keys(part).every(field => TEXT_FIELDS.has(field))

/** Spelling of reasoning whose signature was on the next part, as in Google's answers. */
export const SIGNED_BY_NEXT = { [FORMAT]: { proof: 'next' } }

/** Returns true if a part came from a wrapped signature. */
export const isWrapped = (part: Part | undefined): boolean => part?.spelling?.[FORMAT]?.['enclosed'] === true

/**
 * Returns true for a signature without reasoning. Earlier versions of the gateway sent such a part after the last text
 * of the reasoning.
 */
const isStraySignature = (part: ReasoningPart): boolean =>
  part.text === '' &&
  part.signature !== undefined &&
  part.spelling?.[FORMAT]?.['thought'] === true &&
  (part.signature.format !== FORMAT || part.redacted === true)
