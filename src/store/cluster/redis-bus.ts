import { isObject, type Json, parseObject } from '../../canonical/node.ts'
import type { Log } from '../../log.ts'
import { type Bus, type Listener, Listeners, TOPICS, type Topic } from './bus.ts'
import type { RedisLink } from './redis-link.ts'

/** Prefix of all Redis channels. */
const PREFIX = 'interlingua:'

/** Notices between instances that share a Redis. A process does not receive its own notices. */
export class RedisBus implements Bus {
  private readonly link: Pick<RedisLink, 'publish' | 'subscribe'>
  private readonly id: string
  private readonly listeners: Listeners
  private readonly ends: readonly (() => void)[]

  /** @param id unique id of this process. */
  constructor(link: Pick<RedisLink, 'publish' | 'subscribe'>, id: string, log: Log) {
    this.link = link
    this.id = id
    this.listeners = new Listeners(err => log.error({ err }, 'a notice could not be handled'))
    this.ends = TOPICS.map(topic => link.subscribe(PREFIX + topic, text => this.received(topic, text)))
  }

  publish(topic: Topic, message: Json): void {
    this.link.publish(PREFIX + topic, JSON.stringify({ from: this.id, message }))
  }

  subscribe(topic: Topic, listener: Listener): () => void {
    return this.listeners.add(topic, listener)
  }

  async close(): Promise<void> {
    for (const end of this.ends) end()
  }

  private received(topic: Topic, text: string): void {
    const notice = parseObject(text)
    if (!isObject(notice) || notice['from'] === this.id || notice['message'] === undefined) return
    this.listeners.notify(topic, notice['message'])
  }
}
