import type { Json } from '../canonical/node.ts'

/** What processes notify each other of. */
export type Topic =
  /** Keys, groups or drained channels changed in the store. */
  | 'access'
  /** A channel, or a model of it, rests. */
  | 'health'

/**
 * Notices between the processes of one gateway. They may be lost or late: whatever must be true is in the store, and is
 * read from there now and then.
 */
export interface Bus {
  /** Notifies all other processes. Never throws. */
  publish(topic: Topic, message: Json): void
  /** @returns ends the subscription. */
  subscribe(topic: Topic, listener: (message: Json) => void): () => void
  close(): Promise<void>
}

/** The bus of a process that is alone. */
export const LONE_BUS: Bus = {
  publish: () => {},
  subscribe: () => () => {},
  close: async () => {},
}
