import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Change, Changes } from './recalled.ts'
import type { AnswerReasoning, KnownCall, Step } from './types.ts'

/** A part of a turn and its position. */
export interface Position {
  readonly part: Part
  readonly message: number
  readonly index: number
}

/** Converts reasoning to the form that the target accepts; undefined if it accepts none of it. */
export type AcceptReasoning = (thought: ReasoningPart) => ReasoningPart | undefined

/** Positions between which a call's reasoning belongs. */
interface Range {
  /** The position after the previous call, or the beginning of the turn. */
  readonly from: number
  /** The position of the call. */
  readonly at: number
  readonly take: AcceptReasoning | undefined
}

/** One turn of the assistant, over any number of messages, and the reasoning to restore in it. */
export class Turn {
  private readonly positions: readonly Position[]
  private readonly isBound: boolean
  /** Reasoning that the caller returned, without signatures. */
  private readonly unsigned: readonly Position[]
  /** Text of that reasoning, without spaces. */
  private unsignedText: string | undefined
  private readonly put = new Map<number, ReasoningPart[]>()
  private readonly replaced = new Set<Position>()
  /** Number of handled steps of each answer. */
  private readonly steps = new Map<AnswerReasoning, number>()

  constructor(positions: readonly Position[], isBound: boolean) {
    this.positions = positions
    this.isBound = isBound
    this.unsigned = positions.filter(({ part }) => part.type === 'reasoning')
  }

  /**
   * Restores the reasoning of a call, and of earlier calls of the answer that are missing, at the original positions as
   * far as they are known. If signatures depend on positions, restores the reasoning only if all positions are known.
   */
  restore({ reasoning: thoughts, step }: KnownCall, { from, at, take }: Range): void {
    const handled = this.steps.get(thoughts) ?? 0
    if (take === undefined || step < handled) return
    const missed = thoughts.steps.slice(handled, step)
    const ownStep = thoughts.steps[step]!
    const inexact = this.isBound && (missed.length > 0 || ownStep.mixed === true)
    this.steps.set(thoughts, inexact ? Number.POSITIVE_INFINITY : step + 1)
    if (inexact) return
    const lead = [...missed.flatMap(allOf), ...ownStep.lead].flatMap(one => take(one) ?? [])
    const next = ownStep.next.flatMap(one => take(one) ?? [])
    if (!this.addsAnything([...lead, ...next])) return
    if (handled === 0 && this.unsigned.length > 0) this.replaceTextOf(thoughts)
    this.insert(this.beginning(from, at), lead)
    this.insert(at, next)
  }

  /** The changes of each message, in the order of its content. */
  changes(): ReadonlyMap<number, Changes> {
    const changes = new Map<number, Map<number, Change>>()
    for (const [at, place] of this.positions.entries()) {
      const before = this.put.get(at)
      const replaced = this.replaced.has(place)
      if (before === undefined && !replaced) continue
      const ofMessage = changes.getOrInsertComputed(place.message, () => new Map())
      ofMessage.set(place.index, { before: before ?? [], ...(replaced ? { replaced } : {}) })
    }
    return changes
  }

  /** Whether the reasoning adds anything: text or signatures that the caller does not have. */
  private addsAnything(put: readonly ReasoningPart[]): boolean {
    return this.unsigned.length === 0 ? put.length > 0 : put.some(({ signature }) => signature !== undefined)
  }

  /** Replaces the caller's unsigned reasoning by the signed original, if the text is the same. */
  private replaceTextOf({ steps }: AnswerReasoning): void {
    this.unsignedText ??= textOf(this.unsigned.map(({ part }) => part))
    if (this.unsignedText !== textOf(steps.flatMap(allOf))) return
    for (const place of this.unsigned) this.replaced.add(place)
  }

  /**
   * Returns the position of leading reasoning: before the text in the call's own message, or before the text of earlier
   * messages.
   */
  private beginning(from: number, at: number): number {
    const { message } = this.positions[at]!
    let home = at
    let spoken = false
    while (home > from && this.positions[home - 1]!.message === message)
      if (this.positions[--home]!.part.type !== 'reasoning') spoken = true
    return spoken ? home : from
  }

  private insert(at: number, thoughts: readonly ReasoningPart[]): void {
    if (thoughts.length === 0) return
    const inserted = this.put.getOrInsertComputed(at, () => [])
    append(inserted, thoughts)
  }
}

const allOf = ({ lead, next }: Step): readonly ReasoningPart[] => [...lead, ...next]

/** Returns the text of reasoning parts without spaces, because formats split and join them in different ways. */
const textOf = (parts: readonly Part[]): string =>
  parts
    .map(part => (part.type === 'reasoning' ? part.text : ''))
    .join('')
    .replaceAll(/\s+/g, '')
