import { randomUUID } from 'node:crypto'
import type { Json } from '../../canonical/node.ts'
import type { Log } from '../../log.ts'
import { type Bus, LOCAL_BUS, RedisBus } from './bus.ts'
import type { Cluster, Responder } from './cluster.ts'
import { FIRST_CONNECTION_TIMEOUT_MS, OpenRedis } from './redis.ts'

/** The cluster on a machine with a single process. With Redis, the gateway may span several machines. */
export class SingleProcessCluster implements Cluster {
  readonly id = randomUUID()
  readonly isWorker = false
  readonly leads = true
  readonly bus: Bus
  readonly redis: OpenRedis | undefined
  private readonly answers = new Map<string, Responder>()

  constructor({ redis }: { readonly redis?: string }, log: Log) {
    this.redis = redis === undefined ? undefined : new OpenRedis(redis, log)
    this.bus = this.redis === undefined ? LOCAL_BUS : new RedisBus(this.redis, this.id, log)
  }

  ask(topic: string): Promise<Json> {
    return Promise.reject(new Error(`no primary process to ask for ${topic}`))
  }

  async gather(topic: string, message: Json = null): Promise<readonly Json[]> {
    const answer = this.answers.get(topic)
    return answer === undefined ? [] : [await answer(message)]
  }

  answer(topic: string, answer: Responder): void {
    this.answers.set(topic, answer)
  }

  async ready(): Promise<void> {
    await this.redis?.ready(FIRST_CONNECTION_TIMEOUT_MS)
  }

  async close(): Promise<void> {
    await this.bus.close()
    await this.redis?.close()
  }
}
