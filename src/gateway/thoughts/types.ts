import type { ReasoningPart } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'

/** Reasoning between one tool call and the previous one, or the start of the answer. */
export interface Step {
  /** Reasoning that is separated from the call by other parts, such as text. */
  readonly lead: readonly ReasoningPart[]
  /** Reasoning immediately before the call. */
  readonly next: readonly ReasoningPart[]
  /** True if text was mixed with the leading reasoning, so that the exact positions are lost. */
  readonly mixed?: true
}

/** Reasoning before the tool calls of one answer. */
export interface AnswerReasoning {
  /** Format of the upstream that answered. */
  readonly format: Format
  /** Issuer that can verify the signatures: `issuerOf` of the target that answered. */
  readonly issuer: string
  /** One step per call, in order. */
  readonly steps: readonly Step[]
  /** Digest of everything that the upstream received before (`FullDigest`). Set only if signatures depend on it. */
  readonly prefix?: string
}

/** All keys under which one call can be found. */
export type CallKeys = readonly string[]

/** A known call: the reasoning of its answer, and its index among the answer's calls. */
export interface KnownCall {
  readonly reasoning: AnswerReasoning
  readonly step: number
}
