import type { Part } from '../canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../canonical/event.ts'
import { bodyOf, fold } from '../canonical/fold.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { isRefusal } from './fallback-models.ts'

/** Held events, and the upstream event that they were read from. */
export interface HeldEvents {
  readonly events: readonly CanonicalEvent[]
  readonly wire: WireEvent | undefined
}

/** Decision on a held stream: it has content, is a complete refusal or failed. It is undefined until it is made. */
type Decision = 'content' | 'refused' | 'failed' | undefined

/**
 * Holds a stream back until its first content, because a refusal without content leads to a fallback model. Only
 * answers of models with a fallback for refusals are held (docs/decisions/2026-11-28-fallback-models.md).
 */
export class HeldRefusal {
  readonly heldEvents: HeldEvents[] = []
  decision: Decision
  /** The answer, if the model refused. */
  refusal: CanonicalResult | undefined
  private readonly showsReasoning: boolean
  private readonly kinds = new Map<string, Part['type']>()
  private bytes = 0

  /** @param showsReasoning whether the caller sees reasoning, which then counts as content. */
  constructor(showsReasoning: boolean) {
    this.showsReasoning = showsReasoning
  }

  /** Holds the events read from one upstream event. Makes the decision if the events allow it. */
  push(events: readonly CanonicalEvent[], wire: WireEvent | undefined): void {
    this.heldEvents.push({ events, wire })
    for (const event of events) if (this.decision === undefined) this.decision = this.decisionFor(event)
  }

  /** Counts bytes of the upstream's answer. Large answers are not held, whatever they contain. */
  countBytes(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > MAX_HELD_SIZE) this.decision ??= 'content'
  }

  private decisionFor(event: CanonicalEvent): Decision {
    if (event.type === 'error') return 'failed'
    if (event.type !== 'result-end') return this.isContent(event) ? 'content' : undefined
    const result = fold(this.heldEvents.flatMap(({ events }) => events))
    if (!isRefusal(result)) return 'content'
    this.refusal = result
    return 'refused'
  }

  private isContent(event: CanonicalEvent): boolean {
    switch (event.type) {
      case 'part-start':
        this.kinds.set(nameOf(event.at), event.part.type)
        return !GROWING_TYPES.has(event.part.type)
      case 'part-delta':
        return event.append !== '' && this.shows(this.kinds.get(nameOf(event.at)))
      case 'part-patch':
        return event.part !== undefined && bodyOf(event.part) !== '' && this.shows(event.part.type)
      case 'candidate-end':
        return event.finish?.reason !== 'refused'
      case 'transcript':
      case 'preview':
        return true
      default:
        return false
    }
  }

  private shows(kind: Part['type'] | undefined): boolean {
    return kind !== 'refusal' && (kind !== 'reasoning' || this.showsReasoning)
  }
}

const nameOf = ({ candidate, part }: PartPosition): string => `${candidate} ${part}`

/** Types of parts that are empty when they start. */
const GROWING_TYPES: ReadonlySet<Part['type']> = new Set<Part['type']>(['text', 'reasoning', 'refusal'])

/** Maximum size of a held answer, in bytes. */
const MAX_HELD_SIZE = 1024 * 1024
