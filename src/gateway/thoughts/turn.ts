import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Change, Changes } from './recalled.ts'
import type { Found, KeptThoughts, Step } from './store.ts'

/** A part of a turn and its position. */
export interface Place {
  readonly part: Part
  readonly message: number
  readonly index: number
}

/** Converts reasoning to what the target accepts; undefined if it accepts none of it. */
export type Take = (thought: ReasoningPart) => ReasoningPart | undefined

/** The positions between which a call's reasoning belongs. */
interface Range {
  /** The position after the previous call, or the beginning of the turn. */
  readonly from: number
  /** The position of the call. */
  readonly at: number
  readonly take: Take | undefined
}

/** One turn of the assistant, over any number of messages, and the reasoning to restore in it. */
export class Turn {
  private readonly places: readonly Place[]
  private readonly bound: boolean
  /** Reasoning that the caller returned, without signatures. */
  private readonly kept: readonly Place[]
  /** The text of that reasoning, without spaces. */
  private words: string | undefined
  private readonly put = new Map<number, ReasoningPart[]>()
  private readonly replaced = new Set<Place>()
  /** For each answer, the number of its steps that were handled. */
  private readonly steps = new Map<KeptThoughts, number>()

  constructor(places: readonly Place[], bound: boolean) {
    this.places = places
    this.bound = bound
    this.kept = places.filter(({ part }) => part.type === 'reasoning')
  }

  /**
   * Restores the reasoning of a call, and that of earlier calls of the answer that are missing, at the original
   * positions as far as these are known. If signatures depend on positions, restores it only if all are known.
   */
  putBack({ thoughts, step }: Found, { from, at, take }: Range): void {
    const begun = this.steps.get(thoughts) ?? 0
    if (take === undefined || step < begun) return
    const missed = thoughts.steps.slice(begun, step)
    const own = thoughts.steps[step]!
    const inexact = this.bound && (missed.length > 0 || own.mixed === true)
    this.steps.set(thoughts, inexact ? Number.POSITIVE_INFINITY : step + 1)
    if (inexact) return
    const lead = [...missed.flatMap(allOf), ...own.lead].flatMap(one => take(one) ?? [])
    const next = own.next.flatMap(one => take(one) ?? [])
    if (!this.isNews([...lead, ...next])) return
    if (begun === 0 && this.kept.length > 0) this.replaceWordsOf(thoughts)
    this.insert(this.beginning(from, at), lead)
    this.insert(at, next)
  }

  /** The changes of each message, in the order of its content. */
  changes(): ReadonlyMap<number, Changes> {
    const changes = new Map<number, Map<number, Change>>()
    for (const [at, place] of this.places.entries()) {
      const before = this.put.get(at)
      const replaced = this.replaced.has(place)
      if (before === undefined && !replaced) continue
      const ofMessage = changes.getOrInsertComputed(place.message, () => new Map())
      ofMessage.set(place.index, { before: before ?? [], ...(replaced ? { replaced } : {}) })
    }
    return changes
  }

  /** Whether the reasoning adds anything: text or signatures that the caller does not have. */
  private isNews(put: readonly ReasoningPart[]): boolean {
    return this.kept.length === 0 ? put.length > 0 : put.some(({ signature }) => signature !== undefined)
  }

  /** Replaces the caller's unsigned reasoning by the signed original, if the text is the same. */
  private replaceWordsOf({ steps }: KeptThoughts): void {
    this.words ??= wordsOf(this.kept.map(({ part }) => part))
    if (this.words !== wordsOf(steps.flatMap(allOf))) return
    for (const place of this.kept) this.replaced.add(place)
  }

  /**
   * The position of leading reasoning: before the text in the call's own message, or before the texts of earlier
   * messages.
   */
  private beginning(from: number, at: number): number {
    const { message } = this.places[at]!
    let home = at
    let spoken = false
    while (home > from && this.places[home - 1]!.message === message)
      if (this.places[--home]!.part.type !== 'reasoning') spoken = true
    return spoken ? home : from
  }

  private insert(at: number, thoughts: readonly ReasoningPart[]): void {
    if (thoughts.length === 0) return
    const there = this.put.getOrInsertComputed(at, () => [])
    append(there, thoughts)
  }
}

const allOf = ({ lead, next }: Step): readonly ReasoningPart[] => [...lead, ...next]

/** The text of reasoning parts without spaces, because formats split and join them in different ways. */
const wordsOf = (parts: readonly Part[]): string =>
  parts
    .map(part => (part.type === 'reasoning' ? part.text : ''))
    .join('')
    .replaceAll(/\s+/g, '')
