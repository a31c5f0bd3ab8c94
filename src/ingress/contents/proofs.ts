import { append } from '../../canonical/append.ts'
import type { Part, ReasoningPart } from '../../canonical/content.ts'
import type { Message } from '../../canonical/request.ts'
import { isLoneProof, isUnsigned } from '../../canonical/thought.ts'
import { FORMAT } from './fields.ts'

/**
 * Clients hand a streamed thought back in the pieces they got, each in a turn of its own maybe, or not at all, and its
 * proof on the part behind it. Where an envelope there holds the thought, the pieces are the same said twice, and go
 * (traps 91, 92); Google's own proofs are those of the thought before them.
 */
export function rejoined(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ content }) => content.some(part => part.type === 'reasoning'))) return messages
  const turns: Turn[] = []
  let run = new Run()
  for (const message of messages) {
    if (message.role !== 'assistant') run = new Run()
    if (message.extras !== undefined) run.pause()
    turns.push({ message, content: run.add(message.content, true) })
    if (message.extras !== undefined) run.pause()
  }
  return turns.flatMap(({ message, content }) => {
    const left = content.filter(part => part !== undefined)
    return left.length === 0 && message.content.length > 0 ? [] : [{ ...message, content: left }]
  })
}

/** As `rejoined`, for the parts of one answer, in which each thought is whole. */
export function paired(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(part => part.type === 'reasoning')) return parts
  return new Run().add(parts, false).filter(part => part !== undefined)
}

type Content = (Part | undefined)[]

interface Turn {
  readonly message: Message
  readonly content: Content
}

/** Where a piece of thought stands. */
interface Piece {
  readonly content: Content
  readonly at: number
}

/** The parts of model turns in a row. */
class Run {
  /** Pieces said last, with nothing behind them that says anything. */
  private pieces: Piece[] = []
  /** Whether more of a thought would go on where the last piece ended. */
  private goesOn = false

  /** The parts, without what is said twice; what is taken from earlier lists leaves a gap there. */
  add(parts: readonly Part[], inPieces: boolean): Content {
    const content: Content = []
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!
      if (part.type !== 'reasoning') this.other(part, content)
      else if (isEnclosed(part)) {
        let end = index + 1
        while (isEnclosed(parts[end])) end++
        this.enclosed(parts.slice(index, end) as ReasoningPart[], content)
        index = end - 1
      } else if (isStrayProof(part)) this.prove(part, content)
      else if (!this.sign(part, content)) this.thought(part, content, inPieces)
    }
    return content
  }

  /** What comes next goes on with nothing: something was said beside the parts. */
  pause(): void {
    this.goesOn = false
  }

  /** The thoughts of one envelope. */
  private enclosed(thoughts: readonly ReasoningPart[], content: Content): void {
    for (const { text } of thoughts.toReversed()) this.take(text)
    append(content, thoughts)
    this.pieces = []
    this.goesOn = false
  }

  private other(part: Part, content: Content): void {
    content.push(part)
    this.goesOn = false
    if (!(part.type === 'text' && part.text === '')) this.pieces = []
  }

  private thought(part: ReasoningPart, content: Content, inPieces: boolean): void {
    const isPiece = part.text !== '' && part.signature === undefined && part.redacted === undefined
    const isBare = isPiece && part.extras === undefined
    content.push(isBare && inPieces && this.goesOn ? { ...part, continues: true } : part)
    this.goesOn = isBare
    if (isPiece) this.pieces.push({ content, at: content.length - 1 })
    else this.pieces = []
  }

  /** Takes the pieces that a thought ends with, as far back as they are its own. */
  private take(text: string): void {
    let rest = text
    for (let piece = this.pieces.at(-1); piece !== undefined && rest !== ''; piece = this.pieces.at(-1)) {
      const part = piece.content[piece.at] as ReasoningPart
      const more = part.text.length - rest.length
      if (more > 0 && part.text.endsWith(rest)) {
        piece.content[piece.at] = { ...part, text: part.text.slice(0, more) }
        return
      }
      if (!rest.endsWith(part.text)) return
      rest = rest.slice(0, rest.length - part.text.length)
      piece.content[piece.at] = undefined
      this.pieces.pop()
    }
  }

  /** Google's own proof right behind a thought is that thought's. */
  private sign(part: ReasoningPart, content: Content): boolean {
    const last = content.at(-1)
    if (!isLoneProof(part) || part.spelling !== undefined || !isUnsigned(last) || last.spelling !== undefined)
      return false
    content[content.length - 1] = { ...last, signature: part.signature, spelling: PROVED_NEXT }
    this.pieces = []
    this.goesOn = false
    return true
  }

  /** Makes one signed thought of the pieces said last, where there are any. */
  private prove(proof: ReasoningPart, content: Content): void {
    const [first] = this.pieces
    if (first === undefined) content.push(proof)
    else {
      const text = this.pieces.map(({ content, at }) => (content[at] as ReasoningPart).text).join('')
      for (const { content, at } of this.pieces) content[at] = undefined
      first.content[first.at] = { type: 'reasoning', text, signature: proof.signature! }
    }
    this.pieces = []
    this.goesOn = false
  }
}

/** How a thought is marked whose proof stood on the part behind it, as Google has it. */
export const PROVED_NEXT = { [FORMAT]: { proof: 'next' } }

/** Whether it came in an envelope. */
export const isEnclosed = (part: Part | undefined): boolean => part?.spelling?.[FORMAT]?.['enclosed'] === true

/** A proof without a thought, which earlier versions told after the thought's last words. */
const isStrayProof = (part: ReasoningPart): boolean =>
  part.text === '' &&
  part.signature !== undefined &&
  part.spelling?.[FORMAT]?.['thought'] === true &&
  (part.signature.format !== FORMAT || part.redacted === true)
