import type { Json } from '../../canonical/node.ts'
import type { Bus } from './bus.ts'
import type { RedisLink } from './redis-link.ts'

/** What a process has of the other processes of its gateway, on this machine and on others. */
export interface Cluster {
  /** Of this process, unlike that of any other: what it holds elsewhere is given back under this name when it ends. */
  readonly id: string
  /** Whether other processes of this machine answer requests at the same address. */
  readonly isWorker: boolean
  /** Whether it does the work that one process of a machine should do, such as polls in the background. */
  readonly leads: boolean
  readonly bus: Bus
  /** Absent where none is configured. */
  readonly redis: RedisLink | undefined
  /**
   * Asks the primary process of this machine. Rejects where there is none, it has no answer for the topic, or it does not
   * answer within five seconds.
   */
  ask(topic: string, message: Json): Promise<Json>
  /**
   * Asks all processes of this machine that answer requests, this one among them. Who does not answer within two
   * seconds is left out.
   */
  gather(topic: string, message?: Json): Promise<readonly Json[]>
  /** Answers `gather` of a topic in this process. */
  answer(topic: string, answer: Responder): void
  /** Settles when Redis is connected, or has had its time for that. */
  ready(): Promise<void>
  close(): Promise<void>
}

export type Responder = (message: Json) => Json | Promise<Json>
