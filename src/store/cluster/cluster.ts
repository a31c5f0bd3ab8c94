import type { Json } from '../../canonical/node.ts'
import type { Bus } from './bus.ts'
import type { RedisLink } from './redis.ts'

/** A process's view of the other processes of its gateway, on this machine and on others. */
export interface Cluster {
  /** Unique id of this process, under which other processes release its resources when it ends. */
  readonly id: string
  /** True if this process is one of several workers that share a listening address. */
  readonly isWorker: boolean
  /** True if this process does the background work that a machine should only do once, such as polling tasks. */
  readonly leads: boolean
  readonly bus: Bus
  /** Link to the configured Redis, or undefined if none is configured. */
  readonly redis: RedisLink | undefined
  /**
   * Asks the primary process of this machine. Rejects if there is no primary, or if the primary has no handler for the
   * topic or does not answer within 30 seconds.
   */
  ask(topic: string, message: Json): Promise<Json>
  /**
   * Asks all workers of this machine, including this one. Workers that do not answer within two seconds are left out.
   */
  gather(topic: string, message?: Json): Promise<readonly Json[]>
  /** Sets this process's handler for questions of `gather` on a topic. */
  answer(topic: string, answer: Responder): void
  /** Resolves when Redis is connected or its connection timeout has passed. */
  ready(): Promise<void>
  close(): Promise<void>
}

/** Handles a question of another process. */
export type Responder = (message: Json) => Json | Promise<Json>
