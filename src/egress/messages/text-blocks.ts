import type { Annotation, ReasoningPart, RefusalPart, TextPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { enclose } from '../../canonical/signature.ts'
import { kept } from '../fields.ts'
import { isEmpty, isForeignProof, proofOf, stopDetails, textHead } from './answer.ts'
import { type BlockContext, type BlockWriter, OpenBlock } from './block.ts'
import { writeAnnotation } from './citations.ts'
import { asText, FORMAT } from './content.ts'

/** A text block opens at its first delta, so that an empty text leaves no empty block. */
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
    if (!this.started && isEmpty(this.part)) return
    this.begin()
    this.close()
  }

  private begin(): void {
    if (!this.started) this.open(textHead(this.part), 'text_delta', 'text')
  }

  private annotate(annotations: readonly Annotation[]): void {
    for (const annotation of annotations) {
      const citation = writeAnnotation(annotation)
      if (citation === undefined) continue
      this.begin()
      this.writeDelta({ type: 'citations_delta', citation })
    }
  }
}

/** Another format's part, written as text. */
export class OpaqueTextBlock extends TextBlock {
  private readonly content: string

  constructor(part: TextPart, page: BlockContext) {
    super({ type: 'text', text: '' }, page)
    this.content = part.text
  }

  override end(): void {
    this.delta(this.content)
    super.end()
  }
}

/** A thought; its proof comes last (trap 28), and a proof without text is a thought, too (trap 29). */
export class ThinkingBlock extends OpenBlock implements BlockWriter {
  private part: ReasoningPart

  constructor(part: ReasoningPart, page: BlockContext) {
    super(page)
    this.part = part
    this.body = ''
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
    if (!this.started && isEmpty(this.part)) return
    if (!this.started && isForeignProof(this.part)) this.page.held.push(() => this.finish())
    else this.finish()
  }

  private finish(): void {
    this.begin()
    const signature = proofOf({ ...this.part, text: this.body ?? '' })
    if (signature !== undefined && signature !== '') this.writeDelta({ type: 'signature_delta', signature })
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

/** A redacted thought is its proof alone; without a proof its text is shown (trap 27). */
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
 * A refusal is held back while it is the last part: at the end of the answer it is written to `stop_details`. When
 * another part follows, it is an ordinary text.
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

  /** Writes the text that was held back: another part follows. */
  release(): void {
    if (this.held === undefined) return
    const text = this.held
    this.held = undefined
    super.delta(text)
    if (this.ended) super.end()
  }

  /** The `stop_details` of a refusal that was the last part, if it has a text. */
  details(): JsonObject | undefined {
    return this.held === undefined || this.held === '' ? undefined : stopDetails({ ...this.refusal, text: this.held })
  }
}
