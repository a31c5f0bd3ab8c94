import type { JsonObject } from '../canonical/node.ts'

/**
 * One response with its input, as the format of stored responses has them (docs/wire/responses.md#stored-responses).
 * Earlier turns are not repeated in it: they are found by `previous`.
 */
export interface Turn {
  /** Its owner (`Caller.id`): no other key ever sees it. */
  readonly owner: string
  readonly id: string
  /** The response object, as its caller received it. */
  readonly response: JsonObject
  /** The items this turn added, each with an id. */
  readonly input: readonly JsonObject[]
  /** The turn it continues. */
  readonly previous?: string
  /** The channel whose upstream made it: its proofs are valid there. */
  readonly channel?: string
  /** That upstream stores it, too, under the same ids. */
  readonly remembered?: true
  /** The upstream's id of it, where it differs. */
  readonly copy?: string
  /** Unix time in milliseconds, as everywhere here. */
  readonly createdAt: number
  readonly expiresAt: number
  /** While it is worked on: the time until which the worker has to renew it. */
  readonly lease?: number
  /** The process that works on it (`Liveness.id`). */
  readonly worker?: string
}

/** The items one turn added to a conversation. */
export interface Link {
  /** Its input, then its output. */
  readonly items: readonly JsonObject[]
  readonly channel?: string
}

export interface Chain {
  /** Oldest first. */
  readonly links: readonly Link[]
  /** The turn before the first link, where that is not stored here. */
  readonly before?: string
}

export interface FoundItem {
  readonly item: JsonObject
  /** The channel whose upstream made it. */
  readonly channel?: string
  /** That upstream has it under the same id. */
  readonly remembered?: true
}

/** A memory of turns. Every access names the owner: another owner's turn counts as unknown. */
export interface Turns {
  find(owner: string, id: string): Promise<Turn | undefined>
  /**
   * The turn of that id and all it continues; undefined where it is unknown.
   *
   * @throws GatewayError `too-large` for a chain too long to send.
   */
  chain(owner: string, id: string): Promise<Chain | undefined>
  /** The items of these ids among all turns and conversations, the latest of each; unknown ones are missing. */
  items(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundItem>>
  /** Whether any of these ids, of turns or of items, is another owner's alone, or of something deleted. */
  barred(owner: string, ids: readonly string[]): Promise<boolean>
  /** Stores a turn, in place of one of the same id. */
  keep(turn: Turn): Promise<void>
  /**
   * Stores the progress of a turn that is worked on or, without a lease, how it ended. False where no process may work
   * on it any more: it has ended otherwise or was deleted, and nothing changes.
   */
  advance(turn: Turn): Promise<boolean>
  /** Those of the ids whose turns are worked on, of any owner. */
  unfinished(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Renews the lease of a turn that is worked on; false where it is not any more. */
  renew(owner: string, id: string, lease: number): Promise<boolean>
  /** Deletes a turn for good, except that its id stays barred; false where there was none. */
  drop(owner: string, id: string): Promise<boolean>
}

/** The items of a turn's answer. */
export const outputOf = ({ response }: Pick<Turn, 'response'>): readonly JsonObject[] =>
  Array.isArray(response['output']) ? (response['output'] as readonly JsonObject[]) : []

/** The most turns of a chain, and characters of their JSON. */
export const LONGEST = { turns: 10_000, characters: 128 * 1024 * 1024 } as const
