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
  /** Who can read their proofs: `issuerOf` of the candidate that answered. */
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

/**
 * Where thoughts are kept, by the owner of the caller's key and by the names a call can be found under. All of it is
 * at hand in memory. A shared store would be queried once a request for all keys of its history, before the request is
 * written, and answer `find` out of that; `keep` is never waited for, and may fail without anybody minding.
 */
export interface ThoughtStore {
  /** Whether anything of the owner is kept: most requests need not be looked through. */
  holds(owner: string): boolean
  /** Whether some of it has a key that is no id. */
  holdsPlaces(owner: string): boolean
  /** Under whichever of the keys comes first, and for another while: what is looked up is in use. */
  find(owner: string, key: string): Found | undefined
  /** @param keys of each call, in the order of the steps; what is known under a key already is forgotten. */
  keep(owner: string, keys: readonly CallKeys[], thoughts: KeptThoughts): void
  /** Calls under these keys were made again, without a thought. */
  forget(owner: string, keys: readonly CallKeys[]): void
}
