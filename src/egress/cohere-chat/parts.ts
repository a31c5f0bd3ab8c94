import type { Part, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { callWith, isEmpty, laneOf, writeLogprob } from './answer.ts'
import type { CitedText } from './citations.ts'
import { FORMAT } from './context.ts'

/** State shared by the parts of one streamed answer. */
export interface StreamState {
  /** Index of the next content block. */
  blocks: number
  calls: number
  hasPlan: boolean
  /** Events written for the current input. */
  out: WireEvent[]
  /** Log probabilities for the next text chunk. */
  logprobs: TokenLogprob[]
}

/** Writes an event. */
export function writeEvent({ out }: StreamState, type: string, fields: { readonly [field: string]: Json }): void {
  out.push({ event: type, data: JSON.stringify({ type, ...fields }) })
}

/** Writes a part of a streamed answer. */
export abstract class OpenPart {
  protected readonly state: StreamState

  constructor(state: StreamState) {
    this.state = state
  }

  abstract delta(append: string): void

  patch(_event: PartPatch): void {}

  abstract end(): void

  /**
   * The text that citations of this part support. Starts the text block if no chunk has done so yet. It is undefined
   * for a part without text.
   */
  get citedText(): CitedText | undefined {
    return undefined
  }

  /** The cited text after the part has ended, or undefined if nothing was written. */
  get endedText(): CitedText | undefined {
    return this.citedText
  }
}

/** Creates the writer of a part. Returns undefined if the format cannot express the part. */
export function openedPart(part: Part, state: StreamState): OpenPart | undefined {
  const lane = laneOf(part)
  if (lane === undefined) return undefined
  if (part.type === 'tool-call') return part.freeform ? new WrappedCallPart(part, state) : new CallPart(part, state)
  if (part.type === 'opaque' && lane !== 'text') return new WholePart(part, state)
  if (lane === 'plan' && !state.hasPlan) return new PlanPart(state)
  return new BlockPart(part, lane === 'thinking' ? 'thinking' : 'text', state)
}

/** Text or reasoning as a content block. The block starts with its first chunk or its first citation. */
class BlockPart extends OpenPart {
  private readonly field: 'text' | 'thinking'
  private part: Part
  private index = -1
  private text = ''
  private prefix = ''

  constructor(part: Part, field: 'text' | 'thinking', state: StreamState) {
    super(state)
    this.part = part
    this.field = field
    if (part.type === 'opaque') this.delta(part.text ?? '')
  }

  delta(append: string): void {
    if (append === '') return
    this.start()
    if (this.field === 'text') this.text += append
    if (this.state.logprobs.length > 0 && this.field === 'text') this.withLogprobs(append)
    else this.state.out.push({ event: 'content-delta', data: `${this.prefix}${JSON.stringify(append)}}}}}` })
  }

  override patch(event: PartPatch): void {
    if (event.annotations === undefined) this.part = patched(this.part, event, true)
  }

  end(): void {
    if (this.index === -1 && (isEmpty(this.part) || isHidden(this.part))) return
    this.start()
    writeEvent(this.state, 'content-end', { index: this.index })
  }

  override get citedText(): CitedText {
    this.start()
    return { text: this.text, block: this.index }
  }

  override get endedText(): CitedText | undefined {
    return this.index === -1 ? undefined : this.citedText
  }

  private start(): void {
    if (this.index !== -1) return
    const index = this.state.blocks++
    this.index = index
    const content = { type: this.field, [this.field]: '', ...extrasFor(this.part, FORMAT) }
    writeEvent(this.state, 'content-start', { index, delta: { message: { content } } })
    this.prefix = `{"type":"content-delta","index":${index},"delta":{"message":{"content":{"${this.field}":`
  }

  private withLogprobs(append: string): void {
    const last = this.state.logprobs.pop()!
    flushLogprobs(this.state, this.index)
    writeEvent(this.state, 'content-delta', {
      index: this.index,
      delta: { message: { content: { text: append } } },
      logprobs: writeLogprob(last),
    })
  }
}

/** Writes log probabilities in chunks without text, because each chunk can only hold one. */
export function flushLogprobs(state: StreamState, index: number): void {
  for (const one of state.logprobs.splice(0))
    writeEvent(state, 'content-delta', {
      index,
      delta: { message: { content: { text: '' } } },
      logprobs: writeLogprob(one),
    })
}

/**
 * Returns true for signed reasoning. The format has no field for signatures, so signed reasoning without text is not
 * written.
 */
const isHidden = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

/** The plan of an answer with calls. */
class PlanPart extends OpenPart {
  private text = ''

  delta(append: string): void {
    if (append === '') return
    this.state.hasPlan = true
    this.text += append
    writeEvent(this.state, 'tool-plan-delta', { delta: { message: { tool_plan: append } } })
  }

  end(): void {}

  override get citedText(): CitedText {
    return { text: this.text, block: 'plan' }
  }
}

/** A tool call. A call without arguments gets `{}` as its only chunk (trap 8). */
class CallPart extends OpenPart {
  private readonly index: number
  private readonly prefix: string
  private hasGrown = false

  constructor(part: ToolCallPart, state: StreamState) {
    super(state)
    this.index = state.calls++
    startCall(callWith(part, ''), this.index, state)
    this.prefix = `{"type":"tool-call-delta","index":${this.index},"delta":{"message":{"tool_calls":{"function":{"arguments":`
  }

  delta(append: string): void {
    if (append === '') return
    this.hasGrown = true
    this.state.out.push({ event: 'tool-call-delta', data: `${this.prefix}${JSON.stringify(append)}}}}}}` })
  }

  /** Writes the arguments of a patch, which contains the complete call, unless they were already written as chunks. */
  override patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && !this.hasGrown) this.delta(part.arguments)
  }

  end(): void {
    if (!this.hasGrown) this.delta('{}')
    writeEvent(this.state, 'tool-call-end', { index: this.index })
  }
}

/** A freeform call, whose text is sent as an object with one string field. */
class WrappedCallPart extends CallPart {
  constructor(part: ToolCallPart, state: StreamState) {
    super(part, state)
    super.delta('{"input":"')
  }

  override delta(text: string): void {
    super.delta(JSON.stringify(text).slice(1, -1))
  }

  override patch(): void {}

  override end(): void {
    super.delta('"}')
    super.end()
  }
}

const startCall = (call: JsonObject, index: number, state: StreamState): void =>
  writeEvent(state, 'tool-call-start', { index, delta: { message: { tool_calls: call } } })

/** A block or call of a kind that only this format has. Written when it is complete. */
class WholePart extends OpenPart {
  private part: Part

  constructor(part: Part, state: StreamState) {
    super(state)
    this.part = part
  }

  delta(append: string): void {
    this.part = withBody(this.part, bodyOf(this.part) + append)
  }

  override patch(event: PartPatch): void {
    this.part = patched(this.part, event, true)
  }

  end(): void {
    const { part, state } = this
    if (part.type !== 'opaque') return
    if (laneOf(part) === 'opaque-call') {
      const index = state.calls++
      startCall(part.value, index, state)
      return writeEvent(state, 'tool-call-end', { index })
    }
    const index = state.blocks++
    writeEvent(state, 'content-start', { index, delta: { message: { content: part.value } } })
    writeEvent(state, 'content-end', { index })
  }
}
