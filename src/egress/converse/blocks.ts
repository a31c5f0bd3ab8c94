import type { Annotation, Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { callHead, discardedLosses, isEmpty, signatureField, writeAnswerPart } from './answer.ts'
import { writeAnnotation } from './citations.ts'
import { FORMAT } from './context.ts'

/** State shared by the blocks of one message. */
export interface MessageState {
  /** The index of the next block. */
  index: number
  /** Events written for the current input. */
  out: WireEvent[]
}

/** Creates the writer of a part's block. Returns undefined if the format has no block for the part. */
export function blockOf(part: Part, state: MessageState): OpenBlock | undefined {
  switch (part.type) {
    case 'text':
      return new TextBlock(part.annotations, state)
    case 'refusal':
      return new TextBlock([], state)
    case 'reasoning':
      return new ReasoningBlock(part, state)
    case 'tool-call':
      return part.freeform ? new WrappedCallBlock(part, state) : new CallBlock(part, state)
    case 'opaque':
      return new WholeBlock(part, state)
    default:
      return undefined
  }
}

/** Writes a part as one block of a streamed message. The first event gives the block the next free index. */
export abstract class OpenBlock {
  private readonly state: MessageState
  private index = -1

  constructor(state: MessageState) {
    this.state = state
  }

  abstract delta(append: string): void

  patch(_event: PartPatch): void {}

  end(): void {
    if (this.isStarted) this.write('contentBlockStop', {})
  }

  protected get isStarted(): boolean {
    return this.index !== -1
  }

  protected writeStart(start: JsonObject): void {
    this.write('contentBlockStart', { start })
  }

  protected writeDelta(delta: JsonObject): void {
    this.write('contentBlockDelta', { delta })
  }

  private write(event: string, fields: { readonly [field: string]: Json }): void {
    if (!this.isStarted) this.index = this.state.index++
    this.state.out.push({ event, data: JSON.stringify({ contentBlockIndex: this.index, ...fields }) })
  }
}

/** A text block, with citations between its chunks. */
class TextBlock extends OpenBlock {
  constructor(annotations: readonly Annotation[] = [], state: MessageState) {
    super(state)
    this.cite(annotations)
  }

  delta(text: string): void {
    if (text !== '') this.writeDelta({ text })
  }

  override patch({ annotations = [] }: PartPatch): void {
    this.cite(annotations)
  }

  private cite(annotations: readonly Annotation[]): void {
    for (const annotation of annotations) {
      const citation = writeAnnotation(annotation)
      if (citation !== undefined) this.writeDelta({ citation })
    }
  }
}

/** A reasoning block. Its signature comes last (trap 28). A signature without text is also a block (trap 29). */
class ReasoningBlock extends OpenBlock {
  private part: ReasoningPart
  private text = ''
  /** Text of hidden reasoning, shown if no encrypted content arrives. */
  private hiddenText = ''

  constructor(part: ReasoningPart, state: MessageState) {
    super(state)
    this.part = part
  }

  delta(text: string): void {
    if (this.part.redacted) this.hiddenText += text
    else if (text !== '') {
      this.text += text
      this.writeDelta({ reasoningContent: { text } })
    }
  }

  override patch(event: PartPatch): void {
    this.part = patched(this.part, event, true) as ReasoningPart
  }

  override end(): void {
    const value = signatureField({ ...this.part, text: this.text })
    if (this.part.redacted && value !== undefined) this.writeDelta({ reasoningContent: { redactedContent: value } })
    else if (value !== undefined) this.writeDelta({ reasoningContent: { signature: value } })
    else if (this.hiddenText !== '') this.writeDelta({ reasoningContent: { text: this.hiddenText } })
    else if (!this.isStarted && !this.part.redacted && !isEmpty(this.part))
      this.writeDelta({ reasoningContent: { text: '' } })
    super.end()
  }
}

/** A tool call. A call without arguments gets `{}` as its only chunk (trap 8). */
class CallBlock extends OpenBlock {
  private hasGrown = false

  constructor(part: ToolCallPart, state: MessageState) {
    super(state)
    this.writeStart({ toolUse: callHead(part, [], discardedLosses()) })
  }

  delta(input: string): void {
    if (input === '') return
    this.hasGrown = true
    this.writeDelta({ toolUse: { input } })
  }

  /** Writes the arguments of a patch, which contains the complete call, unless they were already written as chunks. */
  override patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && !this.hasGrown) this.delta(part.arguments)
  }

  override end(): void {
    if (!this.hasGrown) this.delta('{}')
    super.end()
  }
}

/** A freeform call, whose text is sent as an object with one string field. */
class WrappedCallBlock extends OpenBlock {
  constructor(part: ToolCallPart, state: MessageState) {
    super(state)
    this.writeStart({ toolUse: callHead(part, [], discardedLosses()) })
    this.writeDelta({ toolUse: { input: '{"input":"' } })
  }

  delta(text: string): void {
    if (text !== '') this.writeDelta({ toolUse: { input: JSON.stringify(text).slice(1, -1) } })
  }

  override end(): void {
    this.writeDelta({ toolUse: { input: '"}' } })
    super.end()
  }
}

/** A part of a kind that only this format has. Written when it is complete. */
class WholeBlock extends OpenBlock {
  private part: Part

  constructor(part: Part, state: MessageState) {
    super(state)
    this.part = part
  }

  delta(append: string): void {
    this.part = withBody(this.part, bodyOf(this.part) + append)
  }

  override patch(event: PartPatch): void {
    this.part = patched(this.part, event, true)
  }

  override end(): void {
    const block = writeAnswerPart(this.part, [], discardedLosses())
    if (block === undefined) return
    const { text } = block
    if (this.part.type === 'opaque' && this.part.format === FORMAT) {
      const { deltas, ...start } = block
      this.writeStart(start)
      for (const delta of Array.isArray(deltas) ? deltas : []) this.writeDelta(delta as JsonObject)
    } else if (typeof text === 'string') this.writeDelta({ text })
    super.end()
  }
}
