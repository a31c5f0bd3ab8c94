import type { Annotation, Part, ReasoningPart, TextPart, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import { Losses } from '../../canonical/loss.ts'
import { type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import { enclose } from '../../canonical/signature.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { kept } from '../fields.ts'
import { callBlock, isEmpty, isForeignProof, proofOf, textHead, writeAnswerPart } from './answer.ts'
import { writeAnnotation } from './content.ts'
import { FORMAT } from './context.ts'

/** What the blocks of one message share. */
export interface Page {
  /** The next free index of a block. */
  index: number
  out: readonly WireEvent[]
  /** Complete parts that are written when another block follows, or the answer ends. */
  waiting: Part[]
  /** Whether a refusal was said. */
  refused: boolean
}

/** Adds an event to those of the message; most inputs have one, for which a list made by `push` has room for many. */
export function emit(page: Page, event: WireEvent): void {
  if (page.out.length === 0) page.out = [event]
  else (page.out as WireEvent[]).push(event)
}

/** The block of a part; undefined for a part that the format has no block for. */
export function blockOf(part: Part, page: Page): OpenBlock | undefined {
  switch (part.type) {
    case 'text':
      return new TextBlock(part, page)
    case 'refusal':
      return new WholeBlock(part, page)
    case 'reasoning':
      return part.redacted ? new WholeBlock(part, page) : new ThinkingBlock(part, page)
    case 'tool-call':
      return part.freeform ? new WrappedCallBlock(part, page) : new CallBlock(part, page)
    case 'opaque':
      return part.format === FORMAT || part.text !== undefined ? new WholeBlock(part, page) : undefined
    default:
      return undefined
  }
}

const DELTA = 'content_block_delta'

/** The deltas by which a block grows, and their field. */
const GROWS: { readonly [type in Part['type']]?: readonly [delta: string, field: string] } = {
  text: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  'tool-call': ['input_json_delta', 'partial_json'],
}

/** A part on its way as a block, whose index is the next free one when it opens. */
export class OpenBlock {
  /** While it grows: the text before the JSON text of a delta. */
  protected prefix: string | undefined
  /** Whether any of the body was written. */
  protected grown = false
  protected readonly page: Page
  private index = -1

  constructor(page: Page) {
    this.page = page
  }

  delta(append: string): void {
    if (append === '') return
    if (this.prefix === undefined) this.begin()
    this.grown = true
    this.grow(append)
  }

  patch(_event: PartPatch): void {}

  end(): void {
    this.begin()
    this.close()
  }

  /** The answer breaks off: what was held back of the part is written, and the block stays open. */
  breakOff(): void {}

  /** Opens the block, unless it is open. */
  protected begin(): void {}

  protected get started(): boolean {
    return this.index !== -1
  }

  open(content_block: JsonObject, grows?: Part['type']): void {
    writeWaiting(this.page)
    this.index = this.page.index++
    this.event('content_block_start', { content_block })
    const [type, field] = (grows && GROWS[grows]) ?? []
    if (type !== undefined)
      this.prefix = `{"type":"${DELTA}","index":${this.index},"delta":{"type":"${type}","${field}":`
  }

  writeDelta(delta: JsonObject): void {
    this.event(DELTA, { delta })
  }

  close(): void {
    this.event('content_block_stop', {})
    this.prefix = undefined
  }

  protected grow(append: string): void {
    emit(this.page, { event: DELTA, data: `${this.prefix + JSON.stringify(append)}}}` })
  }

  protected annotate(annotations: readonly Annotation[] = []): void {
    for (const annotation of annotations) {
      const citation = writeAnnotation(annotation)
      if (citation === undefined) continue
      this.begin()
      this.writeDelta({ type: 'citations_delta', citation })
    }
  }

  private event(type: string, fields: { readonly [field: string]: Json }): void {
    emit(this.page, { event: type, data: JSON.stringify({ type, index: this.index, ...fields }) })
  }
}

/** A text block opens at its first delta, so that an empty text leaves no empty block. */
export class TextBlock extends OpenBlock {
  private readonly part: TextPart

  constructor(part: TextPart, page: Page) {
    super(page)
    this.part = part
    this.annotate(part.annotations)
  }

  override patch({ annotations }: PartPatch): void {
    this.annotate(annotations)
  }

  override end(): void {
    if (this.started || !isEmpty(this.part)) super.end()
  }

  protected override begin(): void {
    if (!this.started) this.open(textHead(this.part), 'text')
  }
}

/** A thought; its proof comes last (trap 28), and a proof without text is a thought, too (trap 29). */
class ThinkingBlock extends OpenBlock {
  private part: ReasoningPart
  private text = ''

  constructor(part: ReasoningPart, page: Page) {
    super(page)
    this.part = part
  }

  override delta(append: string): void {
    super.delta(append)
    this.text += append
  }

  override patch(event: PartPatch): void {
    this.part = patched(this.part, event, true) as ReasoningPart
  }

  override end(): void {
    if (!this.started && isEmpty(this.part)) return
    if (!this.started && isForeignProof(this.part)) {
      this.page.waiting.push(this.part)
      return
    }
    this.begin()
    const signature = proofOf({ ...this.part, text: this.text })
    if (signature !== '') this.writeDelta({ type: 'signature_delta', signature })
    this.close()
  }

  protected override begin(): void {
    if (!this.started)
      this.open({ type: 'thinking', thinking: '', signature: '', ...kept(this.part, FORMAT) }, 'reasoning')
  }
}

/** A call; one without arguments gets an empty object as its only delta (trap 8). */
class CallBlock extends OpenBlock {
  constructor(part: ToolCallPart, page: Page) {
    super(page)
    this.open({ ...callBlock(part, {}), input: {} }, 'tool-call')
  }

  /** A patch has the whole call: arguments that are not written yet are written now. */
  override patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && !this.grown) this.delta(part.arguments)
  }

  override end(): void {
    if (!this.grown) this.grow('{}')
    this.close()
  }
}

/** A call whose argument is text: it is sent as an object of one string. */
class WrappedCallBlock extends OpenBlock {
  constructor(part: ToolCallPart, page: Page) {
    super(page)
    this.open({ ...callBlock(part, {}), input: {} })
    this.write('{"input":"')
  }

  override delta(append: string): void {
    this.write(JSON.stringify(append).slice(1, -1))
  }

  override end(): void {
    this.write('"}')
    this.close()
  }

  private write(partial_json: string): void {
    this.writeDelta({ type: 'input_json_delta', partial_json })
  }
}

/**
 * A part that is written when it is complete, as in a whole answer. A refusal waits even then: at the end of the answer
 * it is written to `stop_details`.
 */
class WholeBlock extends OpenBlock {
  private part: Part

  constructor(part: Part, page: Page) {
    super(page)
    this.part = part
  }

  override delta(append: string): void {
    this.part = withBody(this.part, bodyOf(this.part) + append)
  }

  override patch(event: PartPatch): void {
    this.part = patched(this.part, event, true)
  }

  override end(): void {
    const { part, page } = this
    if (part.type !== 'refusal') return writeWhole(part, page)?.close()
    page.refused ||= part.text !== ''
    page.waiting.push(part)
  }

  override breakOff(): void {
    if (this.part.type === 'refusal') writeWhole(this.part, this.page)
  }
}

/** Writes the parts that waited. */
export function writeWaiting(page: Page): void {
  if (page.waiting.length === 0) return
  const { waiting } = page
  page.waiting = []
  for (const part of waiting) writeWhole(part, page)?.close()
}

/** By type of block, the field that a stream has in a delta, and what its start has in that place. */
const SENT: { readonly [type: string]: { readonly field: string; readonly empty: Json } } = {
  text: { field: 'text', empty: '' },
  thinking: { field: 'thinking', empty: '' },
  server_tool_use: { field: 'input', empty: {} },
  mcp_tool_use: { field: 'input', empty: {} },
  compaction: { field: 'content', empty: null },
}

/** Writes a complete part without the end of its block, which is returned; undefined where it has none. */
function writeWhole(part: Part, page: Page): OpenBlock | undefined {
  const whole = writeAnswerPart(part, [], new Losses())
  if (whole === undefined) return undefined
  const block = new OpenBlock(page)
  const type = stringIn(whole['type'])
  const { field, empty } = (Object.hasOwn(SENT, type) ? SENT[type] : undefined) ?? {}
  const value = field === undefined ? undefined : whole[field]
  if (field === undefined || value == null) block.open(whole)
  else {
    const { signature = '' } = type === 'thinking' ? whole : {}
    block.open({ ...whole, [field]: empty!, ...(type === 'thinking' ? { signature: '' } : {}) })
    if (field === 'input') block.writeDelta({ type: 'input_json_delta', partial_json: JSON.stringify(value) })
    else if (value !== '') block.writeDelta({ type: `${type}_delta`, [field]: value })
    if (signature !== '') block.writeDelta({ type: 'signature_delta', signature })
  }
  return block
}

/** A block whose beginning reached the caller as it came from the upstream: what follows is written, and nothing else. */
export class RelayedBlock extends OpenBlock {
  constructor(part: Part, page: Page) {
    super(page)
    this.open({}, part.type)
  }

  override delta(append: string): void {
    if (append !== '' && this.prefix !== undefined) this.grow(append)
  }

  override patch({ signature, annotations }: PartPatch): void {
    if (signature !== undefined)
      this.writeDelta({ type: 'signature_delta', signature: enclose([{ signature }], FORMAT) })
    this.annotate(annotations)
  }
}
