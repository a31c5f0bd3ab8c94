import type { Part } from './content.ts'
import type { CanonicalEvent, PartEvent, PartPosition, PartStart } from './event.ts'
import { withBody } from './fold.ts'
import type { Candidate, CanonicalResult } from './result.ts'

/** Amount of the model's reasoning that an answer shows: all of it, only its signatures, or nothing. */
export type ReasoningShown = 'all' | 'signatures' | 'none'

/** Removes the reasoning that is not shown. Returns the same object if nothing is removed. */
export function withReasoning(result: CanonicalResult, shown: ReasoningShown): CanonicalResult {
  if (shown === 'all' || !result.candidates.some(hasReasoning)) return result
  const candidates = result.candidates.map(candidate => ({
    ...candidate,
    content:
      shown === 'none'
        ? candidate.content.filter(part => !isReasoning(part))
        : candidate.content.map(part => (isReasoning(part) ? withBody(part, '') : part)),
  }))
  return { ...result, candidates }
}

const isReasoning = (part: Part): boolean => part.type === 'reasoning'
const hasReasoning = ({ content }: Candidate): boolean => content.some(isReasoning)

/** Part indexes of one candidate. */
interface CandidateIndexes {
  /** Number of reasoning parts hidden so far. */
  hiddenCount: number
  /**
   * New position of each part, by its original index. Null for hidden reasoning, undefined if the position is
   * unchanged.
   */
  readonly parts: (PartPosition | null | undefined)[]
}

/**
 * Removes the reasoning that is not shown from a streamed answer and renumbers the remaining parts. Events before the
 * first reasoning part of a candidate pass unchanged.
 */
export class ReasoningFilter {
  private readonly isHidden: boolean
  /** State by candidate. Created at the candidate's first reasoning part. */
  private readonly candidates: (CandidateIndexes | undefined)[] = []

  constructor(shown: Exclude<ReasoningShown, 'all'>) {
    this.isHidden = shown === 'none'
  }

  /** Returns the event to show, or undefined if it is hidden. */
  pass(event: CanonicalEvent): CanonicalEvent | undefined {
    if (!('at' in event)) return event
    if (event.type === 'part-start') return this.start(event)
    const at = this.candidates[event.at.candidate]?.parts[event.at.part]
    if (at === undefined) return event
    return at === null ? this.passReasoningEvent(event) : { ...event, at }
  }

  private start(event: PartStart): CanonicalEvent | undefined {
    const { candidate, part: index } = event.at
    let state = this.candidates[candidate]
    if (isReasoning(event.part)) {
      state ??= this.candidates[candidate] = { hiddenCount: 0, parts: [] }
      state.parts[index] = null
      if (this.isHidden) state.hiddenCount++
      return this.isHidden ? undefined : { ...event, part: withBody(event.part, '') }
    }
    if (state === undefined || state.hiddenCount === 0) return event
    const at = { candidate, part: index - state.hiddenCount }
    state.parts[index] = at
    return { ...event, at }
  }

  /** Handles a later event of a reasoning part. */
  private passReasoningEvent(event: PartEvent): CanonicalEvent | undefined {
    if (this.isHidden || event.type === 'part-delta') return undefined
    if (event.type !== 'part-patch' || event.part === undefined) return event
    return { ...event, part: withBody(event.part, '') }
  }
}
