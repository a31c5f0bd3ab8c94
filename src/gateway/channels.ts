import { isDeepStrictEqual } from 'node:util'
import type { ChannelConfig } from '../config/index.ts'
import { type Bus, LONE_BUS } from '../store/cluster/bus.ts'
import { Channel } from '../upstreams/channel/index.ts'
import { Listing } from './listing.ts'
import { SharedRest } from './shared-rest.ts'

/** The channels in use. A reload keeps those whose config stayed the same, with their connections and health. */
export class Channels {
  all: readonly Channel[] = []
  private byName = new Map<string, Channel>()
  /** Requests that run go on with the channels they found: another config's key is not for their upstreams. */
  private readonly byConfig = new WeakMap<ChannelConfig, Channel>()
  private readonly listing = new Listing(() => this.all)
  private isDrained: (channel: string) => boolean = () => false

  private readonly shared: SharedRest

  /** @param bus shares what rests with other processes. */
  constructor(configs: readonly ChannelConfig[], bus: Bus = LONE_BUS) {
    this.shared = new SharedRest(bus, name => this.byName.get(name))
    this.reload(configs)
  }

  /** The channel of that config, also where a reload took it away meanwhile. */
  get(config: ChannelConfig): Channel {
    return this.byConfig.get(config)!
  }

  reload(configs: readonly ChannelConfig[]): void {
    const before = this.byName
    this.byName = new Map(configs.map(config => [config.name, kept(before.get(config.name), config)]))
    this.all = [...this.byName.values()]
    for (const channel of this.all) {
      this.byConfig.set(channel.config, channel)
      this.shared.follow(channel)
    }
    this.mark()
    for (const channel of before.values()) if (this.byName.get(channel.config.name) !== channel) void channel.close()
    this.listing.refresh()
  }

  /** Has the channels of these names take no new requests, and all others take them. */
  drain(isDrained: (channel: string) => boolean): void {
    this.isDrained = isDrained
    this.mark()
  }

  private mark(): void {
    for (const channel of this.all) channel.drained = this.isDrained(channel.config.name)
  }

  /** How many of them, and how many of their models, rest just now. */
  get resting(): { readonly channels: number; readonly models: number } {
    const now = Date.now()
    const counts = this.all.map(({ resting }) => resting.count(now))
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

const kept = (before: Channel | undefined, config: ChannelConfig): Channel =>
  before !== undefined && isDeepStrictEqual(before.config, config) ? before : new Channel(config, before)
