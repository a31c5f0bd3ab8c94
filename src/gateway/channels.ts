import { isDeepStrictEqual } from 'node:util'
import type { ChannelConfig } from '../config/index.ts'
import { type Bus, LOCAL_BUS } from '../store/cluster/bus.ts'
import { Channel } from '../upstreams/channel/index.ts'
import type { TokenSharing } from '../upstreams/credentials/index.ts'
import { Listing } from './listing.ts'
import { SharedRest } from './shared-rest.ts'

/** The channels in use. On a reload, a channel with an unchanged config keeps its connections and its health. */
export class Channels {
  all: readonly Channel[] = []
  private byName = new Map<string, Channel>()
  /**
   * Channels by their config object. A running request stays with the channel that it started with, because after a
   * reload, a channel of the same name may have another upstream, which must not receive the old key.
   */
  private readonly byConfig = new WeakMap<ChannelConfig, Channel>()
  private readonly listing = new Listing(() => this.all)
  private isDrained: (channel: string) => boolean = () => false

  private readonly shared: SharedRest
  private readonly tokens: TokenSharing | undefined

  /**
   * @param bus shares rests with other processes.
   * @param tokens shares tokens of clouds with other processes.
   */
  constructor(configs: readonly ChannelConfig[], bus: Bus = LOCAL_BUS, tokens?: TokenSharing) {
    this.tokens = tokens
    this.shared = new SharedRest(bus, name => this.byName.get(name))
    this.reload(configs)
  }

  /** Returns the channel of a config, even if a reload has removed it. */
  get(config: ChannelConfig): Channel {
    return this.byConfig.get(config)!
  }

  reload(configs: readonly ChannelConfig[]): void {
    const previous = this.byName
    this.byName = new Map(
      configs.map(config => [config.name, keptOrNew(previous.get(config.name), config, this.tokens)]),
    )
    this.all = [...this.byName.values()]
    for (const channel of this.all) {
      for (const member of [channel, ...(channel.keys ?? [])]) {
        this.byConfig.set(member.config, member)
        this.shared.follow(member)
      }
    }
    this.markDrained()
    for (const channel of previous.values()) if (this.byName.get(channel.config.name) !== channel) void channel.close()
    this.listing.add(this.all.filter(channel => previous.get(channel.config.name) !== channel))
  }

  /**
   * Drains the channels for which `isDrained` returns true, so that they accept no new requests. All others accept
   * requests again.
   */
  drain(isDrained: (channel: string) => boolean): void {
    this.isDrained = isDrained
    this.markDrained()
  }

  private markDrained(): void {
    for (const channel of this.all) channel.drained = this.isDrained(channel.config.name)
  }

  /** Numbers of channels and of their models that are resting now. */
  get resting(): { readonly channels: number; readonly models: number } {
    const now = Date.now()
    const counts = this.all.map(channel => channel.restCount(now))
    return {
      channels: counts.reduce((sum, { channels }) => sum + channels, 0),
      models: counts.reduce((sum, { models }) => sum + models, 0),
    }
  }

  async close(): Promise<void> {
    this.listing.close()
    this.shared.close()
    await Promise.all(this.all.map(channel => channel.destroy()))
  }
}

const keptOrNew = (before: Channel | undefined, config: ChannelConfig, tokens: TokenSharing | undefined): Channel =>
  before !== undefined && isDeepStrictEqual(before.config, config)
    ? before
    : new Channel(config, before, undefined, tokens)
