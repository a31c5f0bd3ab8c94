import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Change, Changes } from './recalled.ts'
import type { Found, KeptThoughts, Step } from './store.ts'

/** One part of a turn, and where it stands. */
export interface Place {
  readonly part: Part
  readonly message: number
  readonly index: number
}

/** A thought as it goes back; undefined where it does not. */
export type Take = (thought: ReasoningPart) => ReasoningPart | undefined

/** Where the thoughts of a call belong, as numbers of places. */
interface Range {
  /** Behind the call before, or the beginning of the turn. */
  readonly from: number
  /** The call. */
  readonly at: number
  readonly take: Take | undefined
}

/** One turn of the assistant, in however many messages, and the thoughts that go back into it. */
export class Turn {
  private readonly places: readonly Place[]
  private readonly bound: boolean
  /** Thoughts the caller did keep, without a proof. */
  private readonly kept: readonly Place[]
  /** Their texts. */
  private words: string | undefined
  private readonly put = new Map<number, ReasoningPart[]>()
  private readonly replaced = new Set<Place>()
  /** Of each answer, how many of its steps were seen to. */
  private readonly steps = new Map<KeptThoughts, number>()

  constructor(places: readonly Place[], bound: boolean) {
    this.places = places
    this.bound = bound
    this.kept = places.filter(({ part }) => part.type === 'reasoning')
  }

  /**
   * Puts the thoughts of a call before it, and those of calls before it that are missing: as they stood, as far as that
   * can be determined. Where a proof is bound to its place, only if it can.
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

  /** What is to be changed in each message, in the order of its content. */
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

  /** Whether there is anything the caller does not have: its own words, or a proof of them. */
  private isNews(put: readonly ReasoningPart[]): boolean {
    return this.kept.length === 0 ? put.length > 0 : put.some(({ signature }) => signature !== undefined)
  }

  /** Where the caller has the words without their proof, the words with the proof take their place. */
  private replaceWordsOf({ steps }: KeptThoughts): void {
    this.words ??= wordsOf(this.kept.map(({ part }) => part))
    if (this.words !== wordsOf(steps.flatMap(allOf))) return
    for (const place of this.kept) this.replaced.add(place)
  }

  /** Where leading thoughts stand: before the text of the call's own message, or before that of the messages before it. */
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

/** Formats cut a thought into pieces and join it again, each in its own way. */
const wordsOf = (parts: readonly Part[]): string =>
  parts
    .map(part => (part.type === 'reasoning' ? part.text : ''))
    .join('')
    .replaceAll(/\s+/g, '')
