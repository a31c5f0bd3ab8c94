import type { Json } from '../../canonical/node.ts'

/** What processes notify each other of. */
export type Topic =
  /** Keys, groups or drained channels changed in the store. */
  | 'access'
  /** A channel, or a model of it, rests. */
  | 'health'
  /** Somebody watches requests as they happen. */
  | 'live-watched'
  /** Requests began or are over. */
  | 'live'

export const TOPICS: readonly Topic[] = ['access', 'health', 'live-watched', 'live']

export type Listener = (message: Json) => void

/**
 * Notices between the processes of one gateway. They may be lost or late: whatever must be true is in the store, and is
 * read from there now and then.
 */
export interface Bus {
  /** Notifies all other processes. Never throws. */
  publish(topic: Topic, message: Json): void
  /** @returns ends the subscription. */
  subscribe(topic: Topic, listener: Listener): () => void
  close(): Promise<void>
}

/** The bus of a process that is alone. */
export const LONE_BUS: Bus = {
  publish: () => {},
  subscribe: () => () => {},
  close: async () => {},
}

/** The listeners of this process, by topic. */
export class Listeners {
  private readonly byTopic = new Map<string, readonly Listener[]>()
  private readonly onFault: (thrown: unknown) => void

  constructor(onFault: (thrown: unknown) => void) {
    this.onFault = onFault
  }

  add(topic: Topic, listener: Listener): () => void {
    this.byTopic.set(topic, [...(this.byTopic.get(topic) ?? []), listener])
    return () =>
      this.byTopic.set(
        topic,
        this.byTopic.get(topic)!.filter(one => one !== listener),
      )
  }

  /** Notifies all listeners of a topic, whatever one of them throws; an unknown topic has none. */
  notify(topic: string, message: Json): void {
    for (const listener of this.byTopic.get(topic) ?? []) {
      try {
        listener(message)
      } catch (thrown) {
        this.onFault(thrown)
      }
    }
  }
}
