import type { JsonObject } from '../canonical/node.ts'

/** A named list of items that responses take up and go on (FORMATS §4). */
export interface Conversation {
  readonly owner: string
  readonly id: string
  readonly metadata: JsonObject
  /** Unix time in milliseconds, as everywhere here. */
  readonly createdAt: number
  /** Moves on whenever something is added. */
  readonly expiresAt: number
}

/** All conversations. Everything is asked by its owner: another's is like unknown. */
export interface Conversations {
  create(conversation: Conversation, items: readonly JsonObject[]): Promise<void>
  find(owner: string, id: string): Promise<Conversation | undefined>
  /** Whether the id is another owner's alone, or of a conversation forgotten. */
  barred(owner: string, id: string): Promise<boolean>
  /** Replaces the metadata; false where there is no such conversation. */
  describe(owner: string, id: string, metadata: JsonObject): Promise<boolean>
  /** Its items, oldest first; undefined where there is no such conversation. */
  items(owner: string, id: string): Promise<readonly JsonObject[] | undefined>
  /** Adds items, each with an id, behind all others; false where there is no such conversation. */
  add(owner: string, id: string, items: readonly JsonObject[], expiresAt: number): Promise<boolean>
  dropItem(owner: string, id: string, item: string): Promise<boolean>
  /** Forgets it for good, with its items. */
  drop(owner: string, id: string): Promise<boolean>
}
