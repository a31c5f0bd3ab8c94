import type { Part } from './content.ts'
import type { At, CanonicalEvent, PartEvent, PartStart } from './event.ts'
import { withBody } from './fold.ts'
import type { Candidate, CanonicalResult } from './result.ts'

/** What of a model's reasoning an answer contains: all of it, its signatures without any text, or nothing. */
export type ReasoningShown = 'all' | 'signatures' | 'none'

/** The result with what is shown of its reasoning; the very same where that is all there is. */
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

/** The parts of one candidate. */
interface Line {
  /** How many reasoning parts were left out so far. */
  hidden: number
  /** By the index of a part: its index in the shown answer, or null for reasoning; undefined where it has not moved. */
  readonly parts: (At | null | undefined)[]
}

/**
 * Leaves out of a streamed answer what is not shown of its reasoning. The indexes of the parts that stay are consecutive.
 * Events before the first reasoning part of a candidate pass as they are.
 */
export class ReasoningFilter {
  private readonly isHidden: boolean
  /** By candidate; present from its first reasoning part on. */
  private readonly lines: (Line | undefined)[] = []

  constructor(shown: Exclude<ReasoningShown, 'all'>) {
    this.isHidden = shown === 'none'
  }

  /** The event as it is shown; undefined where it is not. */
  pass(event: CanonicalEvent): CanonicalEvent | undefined {
    if (!('at' in event)) return event
    if (event.type === 'part-start') return this.start(event)
    const at = this.lines[event.at.candidate]?.parts[event.at.part]
    if (at === undefined) return event
    return at === null ? this.ofReasoning(event) : { ...event, at }
  }

  private start(event: PartStart): CanonicalEvent | undefined {
    const { candidate, part: index } = event.at
    let line = this.lines[candidate]
    if (isReasoning(event.part)) {
      line ??= this.lines[candidate] = { hidden: 0, parts: [] }
      line.parts[index] = null
      if (this.isHidden) line.hidden++
      return this.isHidden ? undefined : { ...event, part: withBody(event.part, '') }
    }
    if (line === undefined || line.hidden === 0) return event
    const at = { candidate, part: index - line.hidden }
    line.parts[index] = at
    return { ...event, at }
  }

  /** An event of a reasoning part that began. */
  private ofReasoning(event: PartEvent): CanonicalEvent | undefined {
    if (this.isHidden || event.type === 'part-delta') return undefined
    if (event.type !== 'part-patch' || event.part === undefined) return event
    return { ...event, part: withBody(event.part, '') }
  }
}
