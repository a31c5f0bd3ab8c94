import type { JsonObject } from '../canonical/node.ts'

/** A named list of items that responses continue (docs/wire/responses.md#conversations). */
export interface Conversation {
  readonly owner: string
  readonly id: string
  readonly metadata: JsonObject
  /** Unix time in milliseconds, as everywhere here. */
  readonly createdAt: number
  /** Extended whenever something is added. */
  readonly expiresAt: number
}

/** All conversations. Every access names the owner: another owner's conversation counts as unknown. */
export interface Conversations {
  create(conversation: Conversation, items: readonly JsonObject[]): Promise<void>
  find(owner: string, id: string): Promise<Conversation | undefined>
  /** Whether the id is another owner's alone, or of a deleted conversation. */
  barred(owner: string, id: string): Promise<boolean>
  /** Replaces the metadata; false where there is no such conversation. */
  describe(owner: string, id: string, metadata: JsonObject): Promise<boolean>
  /** Its items, oldest first; undefined where there is no such conversation. */
  items(owner: string, id: string): Promise<readonly JsonObject[] | undefined>
  /** Appends items, each with an id; false where there is no such conversation. */
  add(owner: string, id: string, items: readonly JsonObject[], expiresAt: number): Promise<boolean>
  dropItem(owner: string, id: string, item: string): Promise<boolean>
  /** Deletes it for good, with its items. */
  drop(owner: string, id: string): Promise<boolean>
}
