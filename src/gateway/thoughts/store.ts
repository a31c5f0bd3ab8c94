import type { ReasoningPart } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'

/** What was thought between the call before, or the beginning of the answer, and one call. */
export interface Step {
  /** Thoughts with a text of the answer between them and the call. */
  readonly lead: readonly ReasoningPart[]
  /** Thoughts right before the call. */
  readonly next: readonly ReasoningPart[]
  /** Texts stood among the leading thoughts, too: where each of them belongs is not known exactly. */
  readonly mixed?: true
}

/** The thoughts of one answer that stand before its calls. */
export interface KeptThoughts {
  /** The format of the upstream that made them. */
  readonly format: Format
  /** Who can read their proofs: `issuerOf` of the target that answered. */
  readonly issuer: string
  /** One for each call, in order. */
  readonly steps: readonly Step[]
  /** `Trail` of everything the upstream got before; there only where a proof is bound to that. */
  readonly prefix?: string
}

/** Every name one call can be found under. */
export type CallKeys = readonly string[]

/** A call that is known, and which one of its answer it was. */
export interface Found {
  readonly thoughts: KeptThoughts
  readonly step: number
}
