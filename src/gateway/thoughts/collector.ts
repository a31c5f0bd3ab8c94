import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPatch, PartPosition } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import { append } from '../../canonical/lists.ts'
import type { Step } from './types.ts'

/** A tool call of an answer and the reasoning before it. */
export interface CalledStep extends Step {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** A part of an answer, and the chunks of its body. */
interface Slot {
  part: Part
  /** Chunks of the body. Collected only for reasoning, and for tool calls that are found by position. */
  readonly chunks: string[] | undefined
  /** True if the part has ended. A part that is still open when an error occurs was cut short. */
  hasEnded: boolean
}

const NO_SLOTS: readonly never[] = []
const COLLECTED_TYPES: ReadonlySet<Part['type']> = new Set(['reasoning', 'tool-call'])

/** Receives the steps of each candidate of an answer. */
export type StepsListener = (steps: readonly CalledStep[]) => void

/**
 * Collects the tool calls of a streamed answer and the reasoning before them. If the answer ends with an error, passes
 * on the steps before the first part that was cut short, because clients continue from complete calls. Costs one
 * comparison per event until the first reasoning or tool call, and never reads text parts.
 */
export class Collector {
  /** Slots by candidate, then by part, or undefined until the first reasoning or tool call. */
  private candidates: (Slot | undefined)[][] | undefined
  private hasCall = false
  private readonly isByPosition: (call: ToolCallPart) => boolean
  private readonly onSteps: StepsListener

  /** @param isByPosition whether a call can be found only by position, so that its whole body is needed. */
  constructor(isByPosition: (call: ToolCallPart) => boolean, done: StepsListener) {
    this.isByPosition = isByPosition
    this.onSteps = done
  }

  observe(event: CanonicalEvent): void {
    switch (event.type) {
      case 'part-start':
        if (this.candidates !== undefined || COLLECTED_TYPES.has(event.part.type)) this.start(event.at, event.part)
        return
      case 'part-delta':
        if (this.candidates !== undefined && event.of === undefined) this.slotAt(event.at)?.chunks?.push(event.append)
        return
      case 'part-patch':
        if (this.candidates !== undefined) this.patch(event)
        return
      case 'part-end':
        if (this.candidates !== undefined) this.end(event.at)
        return
      case 'result-end':
        if (this.hasCall) for (const slots of this.candidates ?? NO_SLOTS) this.emit(slots)
        this.candidates = undefined
        return
      case 'error':
        if (this.hasCall) for (const slots of this.candidates ?? NO_SLOTS) this.emit(endedSlots(slots))
        this.candidates = undefined
    }
  }

  private start({ candidate, part: index }: PartPosition, part: Part): void {
    this.candidates ??= []
    const slots = (this.candidates[candidate] ??= [])
    if (part.type === 'tool-call') this.hasCall = true
    const grows = part.type === 'reasoning' || (part.type === 'tool-call' && this.isByPosition(part))
    slots[index] = { part, chunks: grows ? [bodyOf(part)] : undefined, hasEnded: false }
  }

  private end(at: PartPosition): void {
    const slot = this.slotAt(at)
    if (slot !== undefined) slot.hasEnded = true
  }

  private patch(event: PartPatch): void {
    const slot = this.slotAt(event.at)
    if (slot === undefined) return
    if (event.part !== undefined || COLLECTED_TYPES.has(slot.part.type)) slot.part = patched(slot.part, event, true)
    if (event.part !== undefined) slot.chunks?.splice(0, slot.chunks.length, bodyOf(event.part))
  }

  private slotAt({ candidate, part }: PartPosition): Slot | undefined {
    return this.candidates![candidate]?.[part]
  }

  private emit(slots: readonly (Slot | undefined)[] | undefined): void {
    const steps = stepsOf((slots ?? NO_SLOTS).map(slot => slot && wholeOf(slot)))
    if (steps.length > 0) this.onSteps(steps)
  }
}

/**
 * Returns the slots before the first part that was cut short. Parts before the first reasoning or call have no slot.
 */
function endedSlots(slots: readonly (Slot | undefined)[] = NO_SLOTS): readonly (Slot | undefined)[] {
  const cut = slots.findIndex(slot => slot?.hasEnded === false)
  return cut === -1 ? slots : slots.slice(0, cut)
}

const wholeOf = ({ part, chunks }: Slot): Part => (chunks === undefined ? part : withBody(part, chunks.join('')))

/**
 * Groups the parts of a candidate into tool calls, each with the reasoning since the previous call. A missing part
 * counts as neither.
 */
export function stepsOf(content: readonly (Part | undefined)[]): readonly CalledStep[] {
  const steps: CalledStep[] = []
  let lead: ReasoningPart[] = []
  let next: ReasoningPart[] = []
  let hasOtherParts = false
  let mixed = false
  for (const part of content) {
    if (part?.type === 'reasoning') next.push(part)
    else if (part?.type === 'tool-call') {
      const { id, name, arguments: args } = part
      steps.push({ id, name, arguments: args, lead, next, ...(mixed ? { mixed } : {}) })
      ;[lead, next, hasOtherParts, mixed] = [[], [], false, false]
    } else {
      mixed ||= hasOtherParts && next.length > 0
      hasOtherParts = true
      append(lead, next)
      next = []
    }
  }
  return steps
}
