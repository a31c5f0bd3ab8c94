import type { Annotation, ReasoningPart, RefusalPart, TextPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { enclose } from '../../canonical/signature.ts'
import { kept } from '../fields.ts'
import { isLoneProof, isNothing, proofOf, stopDetails, textHead } from './answer.ts'
import { type BlockContext, type BlockWriter, OpenBlock } from './block.ts'
import { writeAnnotation } from './citations.ts'
import { asText, FORMAT } from './content.ts'

/** A text begins with its first word, so that one without words leaves no empty block. */
export class TextBlock extends OpenBlock implements BlockWriter {
  private readonly part: TextPart

  constructor(part: TextPart, page: BlockContext) {
    super(page)
    this.part = part
    if (part.annotations !== undefined) this.annotate(part.annotations)
  }

  delta(append: string): void {
    if (append === '') return
    this.begin()
    this.grow(append)
  }

  patch({ annotations }: PartPatch): void {
    if (annotations !== undefined) this.annotate(annotations)
  }

  end(): void {
    if (!this.started && isNothing(this.part) && !this.page.own) return
    this.begin()
    this.close()
  }

  private begin(): void {
    if (!this.started) this.open(textHead(this.part, this.page.own), 'text_delta', 'text')
  }

  private annotate(annotations: readonly Annotation[]): void {
    for (const annotation of annotations) {
      const citation = writeAnnotation(annotation)
      if (citation === undefined) continue
      this.begin()
      this.say({ type: 'citations_delta', citation })
    }
  }
}

/** Another format's piece, said in words. */
export class WordsBlock extends TextBlock {
  private readonly inWords: string

  constructor(part: TextPart, page: BlockContext) {
    super({ type: 'text', text: '' }, page)
    this.inWords = part.text
  }

  override end(): void {
    this.delta(this.inWords)
    super.end()
  }
}

/** A thought; its proof is the last of it (trap 28), and a proof alone is a thought too (trap 29). */
export class ThinkingBlock extends OpenBlock implements BlockWriter {
  private part: ReasoningPart

  constructor(part: ReasoningPart, page: BlockContext) {
    super(page)
    this.part = part
    if (!page.own) this.words = ''
  }

  delta(append: string): void {
    if (append === '') return
    this.begin()
    this.grow(append)
  }

  patch(event: PartPatch): void {
    this.part = patched(this.part, event, true) as ReasoningPart
  }

  end(): void {
    if (!this.started && isNothing(this.part) && !this.page.own) return
    if (!this.started && isLoneProof(this.part)) this.page.held.push(() => this.finish())
    else this.finish()
  }

  private finish(): void {
    this.begin()
    const signature = proofOf({ ...this.part, text: this.words ?? '' }, this.page.own)
    if (signature !== undefined && signature !== '') this.say({ type: 'signature_delta', signature })
    this.close()
  }

  private begin(): void {
    if (!this.started)
      this.open(
        { type: 'thinking', thinking: '', signature: '', ...kept(this.part, FORMAT) },
        'thinking_delta',
        'thinking',
      )
  }
}

/** A hidden thought is its proof alone; one without any can only be shown (trap 27). */
export class HiddenBlock extends OpenBlock implements BlockWriter {
  private part: ReasoningPart
  private text = ''

  constructor(part: ReasoningPart, page: BlockContext) {
    super(page)
    this.part = part
  }

  delta(append: string): void {
    this.text += append
  }

  patch(event: PartPatch): void {
    this.part = patched(this.part, event, true) as ReasoningPart
  }

  end(): void {
    const { signature, redacted: _, ...shown } = this.part
    if (signature === undefined) {
      const block = new ThinkingBlock(shown, this.page)
      block.delta(this.text)
      block.end()
      return
    }
    this.open({ type: 'redacted_thinking', data: enclose([{ signature }], FORMAT), ...kept(shown, FORMAT) })
    this.close()
  }
}

/**
 * A refusal is held back while it is the last part there is: at the end of the answer it belongs into `stop_details`.
 * When another part comes after it, it is a text like any other.
 */
export class RefusalBlock extends TextBlock {
  private readonly refusal: RefusalPart
  private held: string | undefined = ''
  private ended = false

  constructor(part: RefusalPart, page: BlockContext) {
    super(asText(part), page)
    this.refusal = part
  }

  override delta(append: string): void {
    if (this.held === undefined) super.delta(append)
    else this.held += append
  }

  override end(): void {
    this.ended = true
    if (this.held === undefined) super.end()
  }

  /** It is not the last part: what was held back is said. */
  release(): void {
    if (this.held === undefined) return
    const words = this.held
    this.held = undefined
    super.delta(words)
    if (this.ended) super.end()
  }

  /** It was the last part: what it says of the whole answer, where it says something. */
  details(): JsonObject | undefined {
    return this.held === undefined || this.held === '' ? undefined : stopDetails({ ...this.refusal, text: this.held })
  }
}
