import type { JsonObject } from '../canonical/node.ts'
import type { NewEvents } from './events.ts'

/**
 * One stored response with its input (docs/wire/responses.md#stored-responses). Links to earlier turns through
 * `previous` instead of repeating them.
 */
export interface Turn {
  /** Owner (`Caller.id`). No other key can read the turn. */
  readonly owner: string
  readonly id: string
  /** The response object, as sent to the caller. */
  readonly response: JsonObject
  /** The input items that this turn added, each with an id. */
  readonly input: readonly JsonObject[]
  /** Id of the turn that this one continues. */
  readonly previous?: string
  /** The channel whose upstream created the response. The signatures are valid only there. */
  readonly channel?: string
  /** True if the upstream also stores the response under the same ids. */
  readonly remembered?: true
  /** The upstream's id for the response, if it differs. */
  readonly copy?: string
  /** Time of creation, in Unix milliseconds like all times in this file. */
  readonly createdAt: number
  readonly expiresAt: number
  /** Deadline by which the worker must renew its lease. Absent once the response has ended. */
  readonly lease?: number
  /** Id of the process that works on the response (`Liveness.id`). */
  readonly worker?: string
}

/** Items that the end of a turn adds to a conversation, each with an id. */
export interface Addition {
  /** Id of the conversation. If it is unknown, nothing is added. */
  readonly conversation: string
  readonly items: readonly JsonObject[]
}

/** The items that one turn added to a chain. */
export interface Link {
  /** Input items, then output items. */
  readonly items: readonly JsonObject[]
  readonly channel?: string
}

/** A turn with all turns it continues. */
export interface Chain {
  /** Oldest first. */
  readonly links: readonly Link[]
  /** Id of the turn before the first link, if that turn is not stored here. */
  readonly before?: string
}

/** A stored item, and the upstream that created it. */
export interface FoundItem {
  readonly item: JsonObject
  /** The channel whose upstream created the item. */
  readonly channel?: string
  /** True if the upstream also stores the item under the same id. */
  readonly remembered?: true
}

/** A repository of turns. Every method takes the owner: another owner's turn counts as unknown. */
export interface Turns {
  find(owner: string, id: string): Promise<Turn | undefined>
  /**
   * Returns a turn with all turns that it continues, or undefined if the turn is unknown.
   *
   * @throws GatewayError `too-large` if the chain is too long to send.
   */
  chain(owner: string, id: string): Promise<Chain | undefined>
  /**
   * Finds items by id in all turns and conversations of the owner. Returns the newest of duplicates. Unknown ids
   * are missing from the result.
   */
  items(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundItem>>
  /** Returns true if any of the ids, of turns or items, was deleted or belongs only to another owner. */
  isForbidden(owner: string, ids: readonly string[]): Promise<boolean>
  /**
   * Stores a turn with the first events of its stream, and replaces a turn with the same id. In the same transaction,
   * extends a conversation.
   */
  put(turn: Turn, events?: NewEvents, addition?: Addition): Promise<void>
  /**
   * Stores progress of a turn or, without a lease, its end, appends events of its stream and extends a conversation.
   * Returns false and changes nothing if the turn has already ended or was deleted.
   */
  advance(turn: Turn, events?: NewEvents, addition?: Addition): Promise<boolean>
  /** Returns those of the ids whose turns are unfinished, for any owner. */
  unfinished(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Renews the lease of an unfinished turn. Returns false if the turn has ended. */
  renew(owner: string, id: string, lease: number): Promise<boolean>
  /**
   * Deletes a turn permanently, but remembers its id to refuse references to it. Returns false if the turn is unknown.
   */
  drop(owner: string, id: string): Promise<boolean>
}

/** Returns the field of an answer that holds its items. Interactions call items steps. */
export const outputFieldOf = (response: JsonObject): 'output' | 'steps' =>
  response['object'] === 'interaction' ? 'steps' : 'output'

/** Returns the output items of a turn. */
export function outputOf({ response }: Pick<Turn, 'response'>): readonly JsonObject[] {
  const items = response[outputFieldOf(response)]
  return Array.isArray(items) ? (items as readonly JsonObject[]) : []
}

/** Limits of a chain: its number of turns, and the total length of their items as JSON, in characters. */
export const MAX_CHAIN = { turns: 10_000, characters: 128 * 1024 * 1024 } as const
