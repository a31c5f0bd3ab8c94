import type { Annotation, Part, ReasoningPart, TextPart, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import { Losses } from '../../canonical/loss.ts'
import { rowOf } from '../../canonical/maps.ts'
import { type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import { wrapReasoning } from '../../canonical/signature.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { isSearch } from '../searches.ts'
import { callBlock, isEmpty, isForeignSignature, signatureField, textHead, writeAnswerPart } from './answer.ts'
import { writeAnnotation } from './content.ts'
import { FORMAT } from './context.ts'
import { searchBlock } from './search.ts'

/** State shared by the blocks of one message. */
export interface MessageState {
  /** The index of the next block. */
  index: number
  /** Events written for the current input. */
  out: readonly WireEvent[]
  /** Complete parts, held until another block follows or the answer ends. */
  held: Part[]
  /** True if the answer contains a refusal. */
  refused: boolean
  /** True if the caller prints the last block as the answer, so that the answer must end in text. */
  readonly endsInText: boolean
}

/**
 * Adds an event to the output. Most inputs produce a single event, and an array literal with one item takes less memory
 * than an array grown by `push`.
 */
export function emit(state: MessageState, event: WireEvent): void {
  if (state.out.length === 0) state.out = [event]
  else (state.out as WireEvent[]).push(event)
}

/** Creates the writer of a part's block. Returns undefined if the format has no block for the part. */
export function blockOf(part: Part, state: MessageState): OpenBlock | undefined {
  switch (part.type) {
    case 'text':
      return new TextBlock(part, state)
    case 'refusal':
    case 'search-call':
    case 'search-result':
      return new WholeBlock(part, state)
    case 'reasoning':
      return part.redacted ? new WholeBlock(part, state) : new ThinkingBlock(part, state)
    case 'tool-call':
      return part.freeform ? new WrappedCallBlock(part, state) : new CallBlock(part, state)
    case 'opaque':
      return part.format === FORMAT || part.text !== undefined ? new WholeBlock(part, state) : undefined
    default:
      return undefined
  }
}

const DELTA = 'content_block_delta'

/** Delta type and field for each kind of block that is streamed. */
const DELTA_BY_TYPE: { readonly [type in Part['type']]?: readonly [delta: string, field: string] } = {
  text: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  'tool-call': ['input_json_delta', 'partial_json'],
}

/** Writes a part as one block of a streamed message. Opening the block gives it the next free index. */
export class OpenBlock {
  /** The JSON text before the value of a delta, while the block grows. */
  protected prefix: string | undefined
  /** True if any text of the body has been written. */
  protected hasText = false
  protected readonly state: MessageState
  /** True if the caller has received the input of a hosted call. */
  hasInput = false
  private index = -1

  constructor(state: MessageState) {
    this.state = state
  }

  delta(append: string): void {
    if (append === '') return
    if (this.prefix === undefined) this.begin()
    this.hasText = true
    this.grow(append)
  }

  patch(_event: PartPatch): void {}

  end(): void {
    this.begin()
    this.close()
  }

  /** Writes the held text when the answer is cut short. Leaves the block open. */
  writeHeldText(): void {}

  /** Opens the block unless it is already open. */
  protected begin(): void {}

  protected get isStarted(): boolean {
    return this.index !== -1
  }

  open(content_block: JsonObject, growingType?: Part['type']): void {
    writeHeld(this.state)
    this.index = this.state.index++
    this.event('content_block_start', { content_block })
    const [type, field] = (growingType && DELTA_BY_TYPE[growingType]) ?? []
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
    emit(this.state, { event: DELTA, data: `${this.prefix + JSON.stringify(append)}}}` })
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
    emit(this.state, { event: type, data: JSON.stringify({ type, index: this.index, ...fields }) })
  }
}

/** A text block. It opens with its first delta, so that an empty text part does not leave an empty block. */
export class TextBlock extends OpenBlock {
  private readonly part: TextPart

  constructor(part: TextPart, state: MessageState) {
    super(state)
    this.part = part
    this.annotate(part.annotations)
  }

  override patch({ annotations }: PartPatch): void {
    this.annotate(annotations)
  }

  override end(): void {
    if (this.isStarted || !isEmpty(this.part)) super.end()
  }

  protected override begin(): void {
    if (!this.isStarted) this.open(textHead(this.part), 'text')
  }
}

/**
 * A reasoning block. Its signature comes last (trap 28). A signature without text is also a reasoning block (trap 29).
 */
class ThinkingBlock extends OpenBlock {
  private part: ReasoningPart
  private text = ''

  constructor(part: ReasoningPart, state: MessageState) {
    super(state)
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
    if (!this.isStarted && isEmpty(this.part)) return
    if (!this.isStarted && isForeignSignature(this.part)) {
      this.state.held.push(this.part)
      return
    }
    this.begin()
    const signature = signatureField({ ...this.part, text: this.text })
    if (signature !== '') this.writeDelta({ type: 'signature_delta', signature })
    this.close()
  }

  protected override begin(): void {
    if (!this.isStarted)
      this.open({ type: 'thinking', thinking: '', signature: '', ...extrasFor(this.part, FORMAT) }, 'reasoning')
  }
}

/** A tool call. A call without arguments gets `{}` as its only delta (trap 8). */
class CallBlock extends OpenBlock {
  constructor(part: ToolCallPart, state: MessageState) {
    super(state)
    this.open({ ...callBlock(part, {}), input: {} }, 'tool-call')
  }

  /** Writes the arguments of a patch, which contains the complete call, unless they were already written as deltas. */
  override patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && !this.hasText) this.delta(part.arguments)
  }

  override end(): void {
    if (!this.hasText) this.grow('{}')
    this.close()
  }
}

/** A freeform call, whose text is sent as an object with one string field. */
class WrappedCallBlock extends OpenBlock {
  constructor(part: ToolCallPart, state: MessageState) {
    super(state)
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
 * A part that is written when it is complete. A refusal is held longer, because a refusal at the end of the answer is
 * written to `stop_details`. A search is also held longer if the client would print it as the last block.
 */
class WholeBlock extends OpenBlock {
  private part: Part

  constructor(part: Part, state: MessageState) {
    super(state)
    this.part = part
  }

  override delta(append: string): void {
    this.part = withBody(this.part, bodyOf(this.part) + append)
  }

  override patch(event: PartPatch): void {
    this.part = patched(this.part, event, true)
  }

  override end(): void {
    const { part, state } = this
    const isHeld = part.type === 'refusal' || (state.endsInText && isSearch(part))
    if (!isHeld) return writeWhole(part, state)?.close()
    state.refused ||= part.type === 'refusal' && part.text !== ''
    state.held.push(part)
  }

  override writeHeldText(): void {
    if (this.part.type === 'refusal') writeWhole(this.part, this.state)
  }
}

/** Writes the parts that were held back. */
export function writeHeld(state: MessageState): void {
  if (state.held.length === 0) return
  const { held } = state
  state.held = []
  for (const part of held) writeWhole(part, state)?.close()
}

/** The field that a stream sends as deltas, and its empty value at the start of the block, by block type. */
const STREAMED_FIELDS: { readonly [type: string]: { readonly field: string; readonly empty: Json } } = {
  text: { field: 'text', empty: '' },
  thinking: { field: 'thinking', empty: '' },
  server_tool_use: { field: 'input', empty: {} },
  mcp_tool_use: { field: 'input', empty: {} },
  compaction: { field: 'content', empty: null },
}

const inputDelta = (input: Json): JsonObject => ({ type: 'input_json_delta', partial_json: JSON.stringify(input) })

/**
 * Writes a complete part and returns its block, which must still be closed. Returns undefined if the part has no block.
 */
function writeWhole(part: Part, state: MessageState): OpenBlock | undefined {
  const completeBlock = writeAnswerPart(part, [], new Losses())
  if (completeBlock === undefined) return undefined
  const block = new OpenBlock(state)
  const type = stringIn(completeBlock['type'])
  const { field, empty } = rowOf(STREAMED_FIELDS, type) ?? {}
  const value = field === undefined ? undefined : completeBlock[field]
  if (field === undefined || value == null) block.open(completeBlock)
  else {
    const { signature = '' } = type === 'thinking' ? completeBlock : {}
    block.open({ ...completeBlock, [field]: empty!, ...(type === 'thinking' ? { signature: '' } : {}) })
    if (field === 'input') block.writeDelta(inputDelta(value))
    else if (value !== '') block.writeDelta({ type: `${type}_delta`, [field]: value })
    if (signature !== '') block.writeDelta({ type: 'signature_delta', signature })
  }
  return block
}

/** A block whose start was relayed from the upstream, so that only the remaining events are written. */
export class RelayedBlock extends OpenBlock {
  constructor(part: Part, state: MessageState) {
    super(state)
    this.open({}, part.type)
  }

  override delta(append: string): void {
    if (append !== '' && this.prefix !== undefined) this.grow(append)
  }

  override patch({ signature, annotations, part }: PartPatch): void {
    if (part?.type === 'search-call' && !this.hasInput) this.writeDelta(inputDelta(searchBlock(part)['input']!))
    if (signature !== undefined)
      this.writeDelta({ type: 'signature_delta', signature: wrapReasoning([{ signature }], FORMAT) })
    this.annotate(annotations)
  }
}
