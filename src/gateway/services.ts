import type { IncomingMessage } from 'node:http'
import { IncompleteBodies } from '../accounts/incomplete-bodies.ts'
import { Access, type Caller } from '../accounts/index.ts'
import { type AskSteps, type LimitState, Limits, type PrimaryLimits } from '../accounts/limits/index.ts'
import { UsageQueue } from '../accounts/usage/queue.ts'
import { WrongKeys } from '../accounts/wrong-keys.ts'
import type { Format, Json } from '../canonical/node.ts'
import { hashOf } from '../config/hash.ts'
import type { Config } from '../config/index.ts'
import { unfollowed } from '../config/lasting.ts'
import { PATIENCE } from '../egress/transport/sse.ts'
import { type Log, LogOnce } from '../log.ts'
import type { Cluster } from '../store/cluster/cluster.ts'
import { LoneCluster } from '../store/cluster/lone.ts'
import { besideOutages, UNAVAILABLE } from '../store/fault.ts'
import { LazyStore } from '../store/lazy-store.ts'
import { Catalogue } from '../upstreams/catalogue/index.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { authenticate } from './admission.ts'
import type { Call } from './call.ts'
import { Captures } from './capture/captures.ts'
import { type ChannelStates, mergedStates, statesOf } from './channel-states.ts'
import { Channels } from './channels.ts'
import { Seals } from './compaction/seals.ts'
import { GatewaySecret } from './gateway-secret.ts'
import { type ImageDelivery, ImageStore } from './image-store.ts'
import { Live } from './live.ts'
import { Media } from './media.ts'
import { Metrics, merge, type Readings, type Snapshot } from './metrics/index.ts'
import { Traces } from './metrics/traces.ts'
import { Proxies } from './proxies/index.ts'
import { Running } from './running.ts'
import { State } from './stored/index.ts'
import { VideoTasks } from './tasks/index.ts'
import { SharedThoughts } from './thoughts/shared-thoughts.ts'
import { Thoughts } from './thoughts/thoughts.ts'
import { UsageRecorder } from './usage-recorder.ts'

/** Everything that outlives a request and that requests are answered with; it follows the config. */
export abstract class Services {
  config: Config
  /** It is about to stop: callers should send no more requests. */
  leaving = false
  readonly log: Log
  /** The other processes of this gateway. */
  readonly cluster: Cluster
  readonly store: LazyStore
  /** Where requests come from. */
  proxies: Proxies
  readonly access: Access
  /** What keys use of their limits. */
  readonly limits: Limits
  readonly wrongKeys = new WrongKeys()
  readonly channels: Channels
  /** Counts the bytes of bodies that are not whole yet in memory. */
  readonly incomplete: IncompleteBodies
  /** Counts those on disk. */
  readonly spooled: IncompleteBodies
  media: Media
  /** How images reach callers. */
  readonly images: ImageDelivery
  readonly seals: Seals
  readonly stored: State
  readonly thoughts: Thoughts
  readonly tasks: VideoTasks
  readonly running = new Running()
  /** Prices and limits of models. */
  readonly catalogue: Catalogue
  /** Writes what requests used to the store. */
  readonly usage: UsageQueue
  readonly metrics: Metrics
  readonly traces: Traces
  /** Requests of keys for which that is switched on, as they were sent and answered. */
  readonly captures: Captures
  /** Requests as they happen. */
  readonly live: Live
  /** Takes what became of requests that are over. */
  readonly recorder: UsageRecorder
  /** Logs that memory or disk do not suffice. */
  protected readonly shortage: LogOnce

  constructor(config: Config, log: Log, cluster: Cluster = new LoneCluster({}, log)) {
    this.config = config
    this.log = log
    this.cluster = cluster
    this.proxies = new Proxies(config.server)
    this.metrics = new Metrics(config)
    this.traces = new Traces(config.traces, log)
    this.channels = new Channels(config.channels, cluster.bus)
    this.incomplete = new IncompleteBodies(config.server.limits.waiting)
    this.spooled = new IncompleteBodies(config.server.limits.spooled)
    this.media = new Media(config.media)
    this.store = new LazyStore(config.store, config.dataDir, log)
    this.limits = new Limits({
      ...{ log, owner: cluster.id, redis: cluster.redis },
      ...(cluster.isWorker && { ask: askPrimary(cluster), primary: primaryLimits(cluster) }),
      ...(config.usage.keep > 0 && { spent: (key, at) => this.store.usage.spent(key, at) }),
    })
    this.access = new Access(config, {
      ...{ records: this.store.access, limits: this.limits, bus: cluster.bus },
      onFault: err => log.error({ err }, 'keys cannot be read'),
    })
    this.access.onEnded(() => this.endRevoked())
    this.access.onEnded(() => this.channels.drain(name => this.access.isDrained(name)))
    this.catalogue = new Catalogue(config.models)
    this.usage = new UsageQueue({
      ...{ records: this.store.usage, log, keep: config.usage.keep },
      isFault: thrown => thrown === UNAVAILABLE,
    })
    this.live = new Live(cluster.bus)
    this.captures = new Captures({ records: this.store.captures, log, config: () => this.config })
    const { catalogue, usage, metrics, live } = this
    this.recorder = new UsageRecorder({ log, catalogue, usage, metrics, live, proxies: () => this.proxies }, config)
    this.images = {
      store: new ImageStore({ shared: this.store.shared, hasOthers: () => hasOthers(config) }),
      baseOf: message => this.proxies.baseOf(message),
      fetching: () => this.media.fetching(),
    }
    const secret = new GatewaySecret({
      shared: this.store.shared,
      dataDir: () => this.config.dataDir,
      onFault: besideOutages(err => log.error({ err }, 'the key of seals cannot be had')),
    })
    this.seals = new Seals(secret)
    this.stored = new State(
      config,
      log,
      this.store,
      () => this.channels.all,
      (key, most) => this.limits.place('background', key, most),
    )
    const unremembered = besideOutages(err => log.error({ err }, 'thoughts cannot be remembered'))
    const shared = hasOthers(config)
      ? new SharedThoughts({ records: this.store.shared, secret, onFault: unremembered })
      : undefined
    this.thoughts = new Thoughts(config.thoughts, undefined, unremembered, shared)
    this.tasks = new VideoTasks(config, {
      log,
      channels: () => this.channels.all,
      store: () => this.store,
      leads: () => cluster.leads,
      baseOf: message => this.proxies.baseOf(message),
    })
    this.shortage = new LogOnce(err => log.error({ err }, 'a form cannot be stored: the disk is full or fails'))
    cluster.answer(METRICS, async () => (await this.metrics.snapshot()) as unknown as Json)
    cluster.answer(CHANNELS, () => statesOf(this.channels.all) as unknown as Json)
    this.metrics.reads(this.readings())
  }

  /** The states that metrics show; those of Redis where there is one. */
  private readings(): Readings {
    const { running, channels, incomplete, spooled, usage, limits, wrongKeys, store, stored } = this
    const { redis } = this.cluster
    const each = (value: (channel: Channel) => number) => () =>
      channels.all.map(channel => ({ labels: { channel: channel.config.name }, value: value(channel) }))
    return {
      interlingua_channel_in_flight: each(({ health }) => health.inFlight),
      interlingua_channel_drained: each(({ drained }) => Number(drained)),
      interlingua_channel_resting: each(({ resting }) => resting.count(Date.now()).channels),
      interlingua_channel_resting_models: each(({ resting }) => resting.count(Date.now()).models),
      interlingua_usage_queue_rows: () => usage.queued,
      interlingua_usage_dropped_total: () => usage.dropped,
      interlingua_limits_fallback: () => Number(limits.isAlone),
      interlingua_wrong_keys_total: () => wrongKeys.count,
      interlingua_store_faults_total: () => store.faultCount,
      ...(redis === undefined
        ? {}
        : { interlingua_redis_up: () => Number(redis.isUp), interlingua_redis_faults_total: () => redis.faults }),
      interlingua_open_requests: () =>
        Object.entries(running.counts).map(([state, value]) => ({ labels: { state }, value })),
      interlingua_waiting_bytes: () => incomplete.bytes,
      interlingua_spooled_bytes: () => spooled.bytes,
      interlingua_store_up: async () => ((await stored.check()) === undefined ? 1 : 0),
    }
  }

  /**
   * Reads what must be known before requests are answered. Rejects where the gateway cannot run on what is stored, as with
   * a store of a newer version of the program.
   */
  async open(): Promise<void> {
    await this.store.start()
    await this.access.open()
  }

  /** The caller whose key a request carries, as `authenticate` finds it. */
  callerOf(call: Pick<Call, 'message' | 'queryKey' | 'as'>, door?: Format): Caller | Promise<Caller> {
    return authenticate(this.access, this.addressOf, call, door)
  }

  private readonly addressOf = (message: IncomingMessage): string => this.proxies.addressOf(message)

  /**
   * Waits until a refusal may be answered: wrong keys are held back the longer the more different ones come
   * from one address.
   *
   * @returns what is to be answered.
   */
  async held(thrown: unknown, message: IncomingMessage): Promise<unknown> {
    if (!this.access.isWrongKey(thrown)) return thrown
    try {
      await this.wrongKeys.slow(this.proxies.addressOf(message), thrown.mark)
      return thrown
    } catch (tooMany) {
      return tooMany
    }
  }

  /** Ends what runs for callers whose keys ended. */
  protected endRevoked(): void {}

  /** Takes another config without dropping a request. */
  reload(next: Config): void {
    for (const field of unfollowed(this.config, next))
      this.log.warn({ field }, 'a change of the config takes effect at the next start')
    // These two stay as they are until the next start.
    const config = { ...next, dataDir: this.config.dataDir, store: this.config.store }
    this.config = config
    this.proxies = new Proxies(config.server)
    this.metrics.reload(config)
    this.traces.reload(config.traces)
    this.access.reload(config)
    this.channels.reload(config.channels)
    this.incomplete.limits = config.server.limits.waiting
    this.spooled.limits = config.server.limits.spooled
    this.media = this.media.reloaded(config.media)
    this.stored.reload(config)
    this.thoughts.reload(config.thoughts)
    this.tasks.reload(config)
    this.catalogue.reload(config.models)
    this.usage.reload(config.usage.keep)
    this.recorder.reload(config)
  }

  /** Whether a token is that of an administrator. */
  async isAdmin(token: string): Promise<boolean> {
    const found = this.store.exists() ? await this.store.access.token(hashOf(token)) : undefined
    return found !== undefined && (found.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now()
  }

  /** Milliseconds after which a caller that takes nothing is gone. */
  get patience(): number {
    return this.config.server.heartbeat * PATIENCE
  }

  /** All metrics, in Prometheus's text format. */
  async metricsPage(): Promise<string> {
    return merge((await this.cluster.gather(METRICS)) as unknown as readonly Snapshot[])
  }

  /** The channels, as all processes of this machine see them. */
  async states(): Promise<ChannelStates> {
    const all = (await this.cluster.gather(CHANNELS)) as unknown as readonly ChannelStates[]
    return all.length === 0 ? statesOf(this.channels.all) : mergedStates(all)
  }

  async close(): Promise<void> {
    await this.access.close()
    this.images.store.close()
    await this.thoughts.close()
    await this.tasks.close()
    await this.stored.background.close()
    await this.usage.close()
    this.live.close()
    await this.captures.close()
    await this.store.close()
    await this.channels.close()
    await this.media.close()
    await this.traces.close()
  }
}

/** What the processes of a machine ask each other for. */
const METRICS = 'metrics'
const CHANNELS = 'channels'

/** Whether other processes may answer for the same gateway. */
const hasOthers = ({ store, server }: Config): boolean => store.engine !== 'sqlite' || server.workers > 1

/** Has steps of limits counted by the primary process. */
const askPrimary =
  (cluster: Cluster): AskSteps =>
  async steps =>
    (await cluster.ask('limits', steps as unknown as Json)) as unknown as readonly LimitState[]

/** The primary's limits, of a machine whose workers count in Redis. */
const primaryLimits = (cluster: Cluster): PrimaryLimits => ({
  takesPlaces: key => void cluster.ask('limits-places', { owner: cluster.id, key }).catch(() => {}),
  isSettled: async () => (await cluster.ask('limits-settled', null)) === true,
})
