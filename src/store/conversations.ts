import type { JsonObject } from '../canonical/node.ts'

/** A named list of items that responses continue (docs/wire/responses.md#conversations). */
export interface Conversation {
  readonly owner: string
  readonly id: string
  readonly metadata: JsonObject
  /** Unix milliseconds, as all times in this file. */
  readonly createdAt: number
  /** Extended with every added item. */
  readonly expiresAt: number
}

/** All conversations. Every method takes the owner: another owner's conversation counts as unknown. */
export interface Conversations {
  create(conversation: Conversation, items: readonly JsonObject[]): Promise<void>
  find(owner: string, id: string): Promise<Conversation | undefined>
  /** Whether the id must not be referenced: only another owner has it, or the conversation was deleted. */
  isForbidden(owner: string, id: string): Promise<boolean>
  /** Replaces the metadata; false if the conversation is unknown. */
  describe(owner: string, id: string, metadata: JsonObject): Promise<boolean>
  /** Returns the items, oldest first; undefined if the conversation is unknown. */
  items(owner: string, id: string): Promise<readonly JsonObject[] | undefined>
  /** Appends items, each with an id; false if the conversation is unknown. */
  add(owner: string, id: string, items: readonly JsonObject[], expiresAt: number): Promise<boolean>
  dropItem(owner: string, id: string, item: string): Promise<boolean>
  /** Deletes a conversation and its items permanently. */
  drop(owner: string, id: string): Promise<boolean>
}
