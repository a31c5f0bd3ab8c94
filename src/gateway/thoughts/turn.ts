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

/** Converts reasoning to a form that the target accepts. Returns undefined if the target accepts none of it. */
export type AdaptReasoning = (part: ReasoningPart) => ReasoningPart | undefined

/** Positions between which a call's reasoning belongs. */
interface Range {
  /** The position after the previous call, or the start of the turn. */
  readonly from: number
  /** The position of the call. */
  readonly at: number
  readonly adapt: AdaptReasoning | undefined
}

/** One assistant turn, which may span several messages, and the reasoning to restore in it. */
export class Turn {
  private readonly positions: readonly Position[]
  private readonly signaturesDependOnPosition: boolean
  /** Reasoning that the caller returned, without signatures. */
  private readonly unsigned: readonly Position[]
  /** Text of the unsigned reasoning, without spaces. */
  private unsignedText: string | undefined
  private readonly restoredByPosition = new Map<number, ReasoningPart[]>()
  private readonly replaced = new Set<Position>()
  /** Number of handled steps of each answer. */
  private readonly steps = new Map<AnswerReasoning, number>()

  constructor(positions: readonly Position[], signaturesDependOnPosition: boolean) {
    this.positions = positions
    this.signaturesDependOnPosition = signaturesDependOnPosition
    this.unsigned = positions.filter(({ part }) => part.type === 'reasoning')
  }

  /**
   * Restores the reasoning of a call, and of earlier calls in the same answer that the caller left out, at the original
   * positions where these are known. If signatures depend on positions, all positions must be known.
   */
  restore({ reasoning, step }: KnownCall, { from, at, adapt }: Range): void {
    const handled = this.steps.get(reasoning) ?? 0
    if (adapt === undefined || step < handled) return
    const skippedSteps = reasoning.steps.slice(handled, step)
    const callStep = reasoning.steps[step]!
    const isInexact = this.signaturesDependOnPosition && (skippedSteps.length > 0 || callStep.mixed === true)
    this.steps.set(reasoning, isInexact ? Number.POSITIVE_INFINITY : step + 1)
    if (isInexact) return
    const lead = [...skippedSteps.flatMap(allOf), ...callStep.lead].flatMap(part => adapt(part) ?? [])
    const next = callStep.next.flatMap(part => adapt(part) ?? [])
    if (!this.addsAnything([...lead, ...next])) return
    if (handled === 0 && this.unsigned.length > 0) this.replaceTextOf(reasoning)
    this.insert(this.leadPosition(from, at), lead)
    this.insert(at, next)
  }

  /** Returns the changes of each message, in the order of its content. */
  changes(): ReadonlyMap<number, Changes> {
    const changes = new Map<number, Map<number, Change>>()
    for (const [at, position] of this.positions.entries()) {
      const before = this.restoredByPosition.get(at)
      const replaced = this.replaced.has(position)
      if (before === undefined && !replaced) continue
      const messageChanges = changes.getOrInsertComputed(position.message, () => new Map())
      messageChanges.set(position.index, { before: before ?? [], ...(replaced ? { replaced } : {}) })
    }
    return changes
  }

  /** Returns true if the reasoning adds anything: text or signatures that the caller does not have. */
  private addsAnything(reasoning: readonly ReasoningPart[]): boolean {
    return this.unsigned.length === 0
      ? reasoning.length > 0
      : reasoning.some(({ signature }) => signature !== undefined)
  }

  /** Replaces the caller's unsigned reasoning with the signed original, if the text is the same. */
  private replaceTextOf({ steps }: AnswerReasoning): void {
    this.unsignedText ??= textOf(this.unsigned.map(({ part }) => part))
    if (this.unsignedText !== textOf(steps.flatMap(allOf))) return
    for (const position of this.unsigned) this.replaced.add(position)
  }

  /**
   * Returns the position of leading reasoning: before the other parts of the call's message or, if there are none,
   * after the previous call.
   */
  private leadPosition(from: number, at: number): number {
    const { message } = this.positions[at]!
    let start = at
    let hasOtherParts = false
    while (start > from && this.positions[start - 1]!.message === message)
      if (this.positions[--start]!.part.type !== 'reasoning') hasOtherParts = true
    return hasOtherParts ? start : from
  }

  private insert(at: number, reasoning: readonly ReasoningPart[]): void {
    if (reasoning.length === 0) return
    const inserted = this.restoredByPosition.getOrInsertComputed(at, () => [])
    append(inserted, reasoning)
  }
}

const allOf = ({ lead, next }: Step): readonly ReasoningPart[] => [...lead, ...next]

/** Returns the text of reasoning parts without spaces, because formats split and join them in different ways. */
const textOf = (parts: readonly Part[]): string =>
  parts
    .map(part => (part.type === 'reasoning' ? part.text : ''))
    .join('')
    .replaceAll(/\s+/g, '')
