import type {
  Annotation,
  OpaquePart,
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
} from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import type { WireEvent } from '../../canonical/exchange.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { enclose } from '../../canonical/signature.ts'
import { kept } from '../fields.ts'
import { callBlock, explanation, isExplanation, isNothing, proofOf, textHead } from './answer.ts'
import { writeAnnotation } from './citations.ts'
import { asText, FORMAT } from './content.ts'

/** What the blocks of one message share: the next free index, and where their events go. */
export interface Page {
  /** The answer comes from an upstream of this very format. */
  own: boolean
  index: number
  out: WireEvent[]
  /** The explanation of a refusal, which has its place at the end. */
  details: JsonObject | undefined
}

/** One part on its way out. While it is the open block, `prefix` is all that stands before the JSON text of a delta. */
export interface BlockWriter {
  readonly prefix: string | undefined
  /** Something of the body was said. */
  grown: boolean
  delta(append: string): void
  patch(event: PartPatch): void
  end(): void
}

export const DELTA = 'content_block_delta'
/** What closes a delta behind its one growing text. */
export const SUFFIX = '}}'

export function blockWriter(part: Part, page: Page): BlockWriter {
  switch (part.type) {
    case 'text':
      return new TextBlock(part, page)
    case 'refusal':
      return isExplanation(part) ? new Explanation(part, page) : new TextBlock(asText(part), page)
    case 'reasoning':
      return part.redacted ? new HiddenBlock(part, page) : new ThinkingBlock(part, page)
    case 'tool-call':
      return part.freeform ? new WrappedCallBlock(part, page) : new CallBlock(part, page)
    case 'opaque':
      if (part.format === FORMAT) return new OpaqueBlock(part, page)
      return new WordsBlock({ type: 'text', text: part.text ?? '' }, page)
    default:
      throw new TypeError(`A ${part.type} has no block.`)
  }
}

/** Whether the format has a block for the part. */
export const hasBlock = (part: Part): boolean =>
  part.type === 'opaque' ? part.format === FORMAT || part.text !== undefined : BLOCKS.has(part.type)

const BLOCKS: ReadonlySet<Part['type']> = new Set(['text', 'refusal', 'reasoning', 'tool-call'])

class OpenBlock {
  prefix: string | undefined
  grown = false
  protected readonly page: Page
  private index = -1

  constructor(page: Page) {
    this.page = page
  }

  protected get started(): boolean {
    return this.index !== -1
  }

  protected open(content_block: JsonObject, deltaType?: string, field?: string): void {
    this.index = this.page.index++
    this.event('content_block_start', { content_block })
    if (deltaType === undefined) return
    this.prefix = `{"type":"${DELTA}","index":${this.index},"delta":{"type":"${deltaType}","${field}":`
  }

  protected say(delta: JsonObject): void {
    this.event(DELTA, { delta })
  }

  protected grow(append: string): void {
    this.page.out.push({ event: DELTA, data: this.prefix + JSON.stringify(append) + SUFFIX })
  }

  protected close(): void {
    this.event('content_block_stop', {})
    this.prefix = undefined
  }

  private event(type: string, fields: { readonly [field: string]: Json }): void {
    this.page.out.push({ event: type, data: JSON.stringify({ type, index: this.index, ...fields }) })
  }
}

/** A text begins with its first word, so that one without words leaves no empty block. */
class TextBlock extends OpenBlock implements BlockWriter {
  private readonly part: TextPart

  constructor(part: TextPart, page: Page) {
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
    if (!this.started && isNothing(this.part)) return
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
class WordsBlock extends TextBlock {
  private readonly words: string

  constructor(part: TextPart, page: Page) {
    super({ type: 'text', text: '' }, page)
    this.words = part.text
  }

  override end(): void {
    this.delta(this.words)
    super.end()
  }
}

/** A thought; its proof is the last of it (trap 28), and a proof alone is a thought too (trap 29). */
class ThinkingBlock extends OpenBlock implements BlockWriter {
  private part: ReasoningPart

  constructor(part: ReasoningPart, page: Page) {
    super(page)
    this.part = part
  }

  delta(append: string): void {
    if (append === '') return
    this.begin()
    this.grow(append)
  }

  patch({ signature, spelling }: PartPatch): void {
    this.part = {
      ...this.part,
      ...(signature === undefined ? {} : { signature }),
      ...(spelling === undefined ? {} : { spelling }),
    }
  }

  end(): void {
    if (!this.started && isNothing(this.part)) return
    this.begin()
    const signature = proofOf(this.part, this.page.own)
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
class HiddenBlock extends OpenBlock implements BlockWriter {
  private part: ReasoningPart
  private text = ''

  constructor(part: ReasoningPart, page: Page) {
    super(page)
    this.part = part
  }

  delta(append: string): void {
    this.text += append
  }

  patch({ signature }: PartPatch): void {
    if (signature !== undefined) this.part = { ...this.part, signature }
  }

  end(): void {
    const { signature, redacted: _, ...shown } = this.part
    if (signature === undefined) {
      const block = new ThinkingBlock(shown, this.page)
      block.delta(this.text)
      block.end()
      return
    }
    this.open({ type: 'redacted_thinking', data: enclose(signature, FORMAT), ...kept(shown, FORMAT) })
    this.close()
  }
}

/** A call; one without arguments says so once, as an empty object (trap 8). */
class CallBlock extends OpenBlock implements BlockWriter {
  constructor(part: ToolCallPart, page: Page) {
    super(page)
    this.open({ ...callBlock(part, {}, page.own), input: {} }, 'input_json_delta', 'partial_json')
  }

  delta(append: string): void {
    if (append === '') return
    this.grown = true
    this.grow(append)
  }

  /** A call told once more, whole: what has not been said yet is said now. */
  patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && !this.grown) this.delta(part.arguments)
  }

  end(): void {
    if (!this.grown && !this.page.own) this.grow('{}')
    this.close()
  }
}

/** A call whose argument is text: it goes as an object of one string. */
class WrappedCallBlock extends OpenBlock implements BlockWriter {
  constructor(part: ToolCallPart, page: Page) {
    super(page)
    this.open({ ...callBlock(part, {}, page.own), input: {} }, 'input_json_delta', 'partial_json')
    this.grow('{"input":"')
    this.prefix = undefined
  }

  delta(append: string): void {
    this.say({ type: 'input_json_delta', partial_json: JSON.stringify(append).slice(1, -1) })
  }

  patch(): void {}

  end(): void {
    this.say({ type: 'input_json_delta', partial_json: '"}' })
    this.close()
  }
}

/** How a block of this format alone is streamed: the field told by a delta, and the delta. */
const STREAMED: { readonly [type: string]: 'input' | 'content' } = {
  server_tool_use: 'input',
  mcp_tool_use: 'input',
  compaction: 'content',
}

/** A block only this format knows, told when it is whole. */
class OpaqueBlock extends OpenBlock implements BlockWriter {
  private value: JsonObject

  constructor(part: OpaquePart, page: Page) {
    super(page)
    this.value = part.value
  }

  delta(): void {}

  patch({ part }: PartPatch): void {
    if (part?.type === 'opaque') this.value = part.value
  }

  end(): void {
    const field = STREAMED[String(this.value['type'])]
    const value = field === undefined ? undefined : this.value[field]
    if (value === undefined || value === null) this.open(this.value)
    else if (field === 'input') {
      this.open({ ...this.value, input: {} })
      this.say({ type: 'input_json_delta', partial_json: JSON.stringify(value) })
    } else {
      this.open({ ...this.value, content: null })
      this.say({ type: 'compaction_delta', content: value })
    }
    this.close()
  }
}

/** Kept for `stop_details` at the end of the message. */
class Explanation implements BlockWriter {
  readonly prefix = undefined
  grown = false
  private readonly part: RefusalPart
  private readonly page: Page
  private text = ''

  constructor(part: RefusalPart, page: Page) {
    this.part = part
    this.page = page
  }

  delta(append: string): void {
    this.text += append
  }

  patch(): void {}

  end(): void {
    this.page.details = explanation({ ...this.part, text: this.text })
  }
}
