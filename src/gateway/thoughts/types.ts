import type { ReasoningPart } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'

/** The reasoning between one tool call and the previous one, or the beginning of the answer. */
export interface Step {
  /** Reasoning that is separated from the call by a text of the answer. */
  readonly lead: readonly ReasoningPart[]
  /** Reasoning immediately before the call. */
  readonly next: readonly ReasoningPart[]
  /** Texts were mixed with the leading reasoning, so that its exact positions are lost. */
  readonly mixed?: true
}

/** The reasoning before the tool calls of one answer. */
export interface AnswerReasoning {
  /** The format of the upstream that answered. */
  readonly format: Format
  /** The issuer that can verify the signatures: `issuerOf` of the target that answered. */
  readonly issuer: string
  /** One step per call, in order. */
  readonly steps: readonly Step[]
  /** The digest of everything the upstream got before (`FullDigest`); set only if signatures cover that. */
  readonly prefix?: string
}

/** All keys under which one call can be found. */
export type CallKeys = readonly string[]

/** A known call: the reasoning of its answer, and its number among the calls. */
export interface KnownCall {
  readonly reasoning: AnswerReasoning
  readonly step: number
}
