import { randomUUID } from 'node:crypto'
import { url as inspectorUrl } from 'node:inspector'
import type { Json } from '../../canonical/node.ts'
import type { Log } from '../../log.ts'
import { type Bus, Listeners, TOPICS, type Topic } from './bus.ts'
import type { Cluster, Responder } from './cluster.ts'
import { Port } from './port.ts'
import { FIRST_CONNECTION_TIMEOUT_MS, OpenRedis } from './redis.ts'

/** The log, and the channel to the primary. */
export interface MemberOptions {
  readonly log: Log
  /** Sends a message to the primary, which may already have ended. */
  send(message: Json): void
}

/** The cluster as seen by a worker. All communication goes through the primary, except commands to Redis. */
export class Member implements Cluster {
  readonly id = randomUUID()
  readonly isWorker = true
  readonly bus: Bus
  leads = false
  redis: OpenRedis | undefined
  private readonly log: Log
  private readonly port: Port
  private readonly answers = new Map<string, Responder>()
  private readonly orders = new Map<string, (message: Json) => void>()

  constructor({ log, send }: MemberOptions) {
    this.log = log
    const listeners = new Listeners(err => log.error({ err }, 'a notice could not be handled'))
    this.port = new Port({
      send,
      answer: (topic, message) => this.answerPrimary(topic, message),
      onNotice: (topic, message) => {
        if (TOPICS.includes(topic as Topic)) listeners.notify(topic, message)
        else this.orders.get(topic)?.(message)
      },
    })
    this.bus = {
      publish: (topic, message) => this.port.notify(topic, message),
      subscribe: (topic, listener) => listeners.add(topic, listener),
      close: async () => {},
    }
    this.answer('ping', () => inspectorUrl() !== undefined)
    this.onOrder('lead', message => (this.leads = message === true))
  }

  /** Connects to Redis, if an address is configured. */
  connect(redis: string | undefined): void {
    this.redis = redis === undefined ? undefined : new OpenRedis(redis, this.log)
  }

  /** Receives a message from the primary. */
  receive(message: unknown): void {
    this.port.receive(message)
  }

  /** Sets the handler for an order of the primary. */
  onOrder(topic: string, handle: (message: Json) => void): void {
    this.orders.set(topic, handle)
  }

  ask(topic: string, message: Json): Promise<Json> {
    return this.port.ask(topic, message)
  }

  async gather(topic: string, message: Json = null): Promise<readonly Json[]> {
    return (await this.ask('gather', { topic, message })) as readonly Json[]
  }

  answer(topic: string, answer: Responder): void {
    this.answers.set(topic, answer)
  }

  async ready(): Promise<void> {
    await this.redis?.ready(FIRST_CONNECTION_TIMEOUT_MS)
  }

  async close(): Promise<void> {
    await this.redis?.close()
  }

  private answerPrimary(topic: string, message: Json): Json | Promise<Json> {
    const answer = this.answers.get(topic)
    if (answer === undefined) throw new Error(`no handler for ${topic}`)
    return answer(message)
  }
}
