import { isObject, type Json, parseObject } from '../../canonical/node.ts'
import type { Log } from '../../log.ts'
import type { RedisLink } from './redis.ts'

/** Kinds of notices between processes. */
export type Topic =
  /** Keys, groups or drained channels changed in the store. */
  | 'access'
  /** A channel or one of its models started or ended a cooldown. */
  | 'health'
  /** An account issued a reasoning signature. */
  | 'signatures'
  /** An operator watches requests live. */
  | 'live-watched'
  /** Requests started or ended. */
  | 'live'

/** All topics. */
export const TOPICS: readonly Topic[] = ['access', 'health', 'signatures', 'live-watched', 'live']

/** Receives the notices of a topic. */
export type Listener = (message: Json) => void

/**
 * Notices between the processes of one gateway. A notice may be lost or late, so processes also poll the store for
 * anything that matters.
 */
export interface Bus {
  /** Notifies all other processes. Never throws. */
  publish(topic: Topic, message: Json): void
  /** @returns a function that ends the subscription. */
  subscribe(topic: Topic, listener: Listener): () => void
  close(): Promise<void>
}

/** The bus of a single process: delivers nothing. */
export const LOCAL_BUS: Bus = {
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

  /** Calls all listeners of a topic, even if one throws. An unknown topic has no listeners. */
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
    this.ends = TOPICS.map(topic => link.subscribe(PREFIX + topic, text => this.handleMessage(topic, text)))
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

  private handleMessage(topic: Topic, text: string): void {
    const notice = parseObject(text)
    if (!isObject(notice) || notice['from'] === this.id || notice['message'] === undefined) return
    this.listeners.notify(topic, notice['message'])
  }
}
