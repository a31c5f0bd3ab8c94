import type { JsonObject } from '../canonical/node.ts'

/**
 * One response and what was asked for it, as the format of stored responses has them (FORMATS §4). What came before is
 * not repeated in it: it is found by walking back.
 */
export interface Turn {
  /** Whose it is (`Caller.id`): nobody else ever sees it. */
  readonly owner: string
  readonly id: string
  /** The response object, as its caller saw it. */
  readonly response: JsonObject
  /** The items this turn added, each with an id. */
  readonly input: readonly JsonObject[]
  /** The turn it continues. */
  readonly previous?: string
  /** The channel whose upstream made it: proofs in it are good there. */
  readonly channel?: string
  /** That upstream keeps it, too, under the same ids. */
  readonly remembered?: true
  /** The id that upstream keeps it under, where it is another one. */
  readonly copy?: string
  /** Unix time in milliseconds, as everywhere here. */
  readonly createdAt: number
  readonly expiresAt: number
  /** While it is worked on: until when whoever does so has promised to be heard of again. */
  readonly lease?: number
  /** The process that works on it (`Liveness.id`). */
  readonly worker?: string
}

/** What one turn added to a conversation. */
export interface Link {
  /** What was asked, then what was answered. */
  readonly items: readonly JsonObject[]
  readonly channel?: string
}

export interface Chain {
  /** Oldest first. */
  readonly links: readonly Link[]
  /** The turn before the first link, where that is not kept here. */
  readonly before?: string
}

export interface FoundItem {
  readonly item: JsonObject
  /** The channel whose upstream made it. */
  readonly channel?: string
  /** That upstream knows it by its id. */
  readonly remembered?: true
}

/** A memory of turns. Everything is asked by its owner: another's is like unknown. */
export interface Turns {
  find(owner: string, id: string): Promise<Turn | undefined>
  /**
   * The turn of that id and all it continues; undefined where it is not here.
   *
   * @throws GatewayError `too-large` for a chain nobody could send any more.
   */
  chain(owner: string, id: string): Promise<Chain | undefined>
  /** The items of these ids among all turns and conversations, the latest of each; those not here are missing. */
  items(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundItem>>
  /** Whether any of these ids, of turns or of items, is another owner's alone, or of something forgotten. */
  barred(owner: string, ids: readonly string[]): Promise<boolean>
  /** Keeps a turn, in place of one of the same id. */
  keep(turn: Turn): Promise<void>
  /**
   * Keeps a turn that is worked on, with how far it has come or, without a lease, how it ended. False where nobody is to
   * work on it any more: it has ended otherwise or was forgotten, and nothing changes.
   */
  advance(turn: Turn): Promise<boolean>
  /** Those of the ids whose turns are worked on, whoever owns them. */
  unfinished(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Moves on the lease of a turn that is worked on; false where it is not any more. */
  renew(owner: string, id: string, lease: number): Promise<boolean>
  /** Forgets a turn for good, all but that its id is barred; false where there was none. */
  drop(owner: string, id: string): Promise<boolean>
}

/** The items of a turn's answer. */
export const outputOf = ({ response }: Pick<Turn, 'response'>): readonly JsonObject[] =>
  Array.isArray(response['output']) ? (response['output'] as readonly JsonObject[]) : []

/** A chain may have so many turns, and so many characters of JSON. */
export const LONGEST = { turns: 10_000, characters: 128 * 1024 * 1024 } as const
