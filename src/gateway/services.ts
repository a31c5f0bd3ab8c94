import type { IncomingMessage } from 'node:http'
import { IncompleteBodies } from '../accounts/incomplete-bodies.ts'
import { Access, type Caller } from '../accounts/index.ts'
import { type AskSteps, type LimitState, Limits, type PrimaryLimits } from '../accounts/limits/index.ts'
import { UsageQueue } from '../accounts/usage/queue.ts'
import { WrongKeys } from '../accounts/wrong-keys.ts'
import type { Format, Json } from '../canonical/node.ts'
import { hashOf } from '../config/hash.ts'
import type { Config } from '../config/index.ts'
import { changedStartupFields } from '../config/startup-fields.ts'
import { MAX_MISSED_HEARTBEATS } from '../egress/transport/sse.ts'
import type { Log } from '../log.ts'
import type { Cluster } from '../store/cluster/cluster.ts'
import { SingleProcessCluster } from '../store/cluster/single-process.ts'
import { ignoringOutages, UNAVAILABLE } from '../store/fault.ts'
import { LazyStore } from '../store/lazy-store.ts'
import { Catalogue } from '../upstreams/catalogue/index.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { authenticate } from './admission.ts'
import type { Call } from './call.ts'
import { Captures } from './capture/captures.ts'
import { KeyRecordings } from './capture/key-recordings.ts'
import { type ChannelStates, mergedStates, statesOf } from './channel-states.ts'
import { Channels } from './channels.ts'
import { StateCiphers } from './compaction/state-cipher.ts'
import { ErrorAnswers } from './error-answers.ts'
import { GatewaySecret } from './gateway-secret.ts'
import { type ImageDelivery, ImageStore } from './image-store.ts'
import { keyReadings } from './key-readings.ts'
import { Live } from './live.ts'
import { Media } from './media.ts'
import { type MeterReaders, Metrics, merge, type Snapshot } from './metrics/index.ts'
import { LAST_METRICS, METRICS } from './metrics/memory.ts'
import { Traces } from './metrics/traces.ts'
import { Proxies } from './proxies/index.ts'
import { RequestMemory, requestMemoryLimit } from './request-memory.ts'
import { Running } from './running.ts'
import { SharedTokens } from './shared-tokens.ts'
import { State } from './stored/index.ts'
import { CredentialKeys } from './stored-config/credential-keys.ts'
import { StoredConfig } from './stored-config/index.ts'
import { VideoTasks } from './tasks/index.ts'
import { ReasoningMemory } from './thoughts/reasoning-memory.ts'
import { SharedReasoning } from './thoughts/shared-reasoning.ts'
import { Signers } from './thoughts/signers.ts'
import { UsageRecorder } from './usage-recorder.ts'

/** The gateway's long-lived services: built once, shared by all requests, and updated when the config is reloaded. */
export class Services {
  /** The config file, merged with the stored channels and models. */
  config: Config
  /** Channels and model settings in the store. */
  readonly storedConfig: StoredConfig
  /** Keys that encrypt the credentials of stored channels. */
  readonly credentialKeys: CredentialKeys
  /** True if the gateway is about to stop. Load balancers and clients should send no more requests. */
  isStopping = false
  readonly log: Log
  /** Other processes of this gateway. */
  readonly cluster: Cluster
  readonly store: LazyStore
  /** Reads the caller's address and the public URL from the headers of trusted proxies. */
  proxies: Proxies
  readonly access: Access
  /** Counts the usage of keys against their limits. */
  readonly limits: Limits
  readonly wrongKeys = new WrongKeys()
  readonly channels: Channels
  /** Counts the bytes in memory of bodies that are still arriving. */
  readonly bodiesInMemory: IncompleteBodies
  /** Counts the bytes on disk of bodies that are still arriving. */
  readonly bodiesOnDisk: IncompleteBodies
  /** Counts the memory of running requests with large bodies. */
  readonly requestMemory: RequestMemory
  media: Media
  /** Stores images, serves them by URL, and fetches them for callers. */
  readonly images: ImageDelivery
  readonly ciphers: StateCiphers
  readonly stored: State
  readonly reasoning: ReasoningMemory
  /** The accounts that issued reasoning signatures. */
  readonly signers: Signers
  readonly tasks: VideoTasks
  readonly running = new Running()
  /** Prices and limits of models. */
  readonly catalogue: Catalogue
  /** Writes usage rows to the store in batches. */
  readonly usage: UsageQueue
  readonly metrics: Metrics
  readonly traces: Traces
  /** Requests and answers of keys with captures switched on. */
  readonly captures: Captures
  /** Recordings of keys with `record`. */
  readonly recordings: KeyRecordings
  /** Requests as they start and end, for the live view. */
  readonly live: Live
  /** Records finished requests. */
  readonly recorder: UsageRecorder
  /** Answers failed requests. */
  readonly errors: ErrorAnswers

  constructor(config: Config, log: Log, cluster: Cluster = new SingleProcessCluster({}, log)) {
    this.config = config
    this.log = log
    this.cluster = cluster
    this.errors = new ErrorAnswers(log, this.running)
    this.proxies = new Proxies(config.server)
    this.metrics = new Metrics(config)
    this.traces = new Traces(config.traces, log)
    this.channels = new Channels(config.channels, cluster.bus, new SharedTokens(log, cluster))
    this.bodiesInMemory = new IncompleteBodies(config.server.limits.waiting)
    this.bodiesOnDisk = new IncompleteBodies(config.server.limits.spooled)
    this.requestMemory = new RequestMemory(requestMemoryLimit(config.server.workers))
    this.media = new Media(config.media)
    this.store = new LazyStore(config.store, config.dataDir, log)
    this.limits = new Limits({
      ...{ log, owner: cluster.id, redis: cluster.redis },
      ...(cluster.isWorker && { ask: askPrimary(cluster), primary: primaryLimits(cluster) }),
      ...(config.usage.retention > 0 && {
        spent: (key, at) => this.earlierSpend(key, at),
        spentBy: (keys, at) => this.store.usage.spentByKey(keys, at),
      }),
    })
    this.access = new Access(config, {
      ...{ records: this.store.access, limits: this.limits, bus: cluster.bus },
      onFault: err => log.error({ err }, 'keys cannot be read'),
      onConfig: entries => this.storedConfig.follow(entries),
    })
    this.credentialKeys = new CredentialKeys(this.store.shared, () => this.config.secrets)
    this.storedConfig = new StoredConfig({
      ...{ keys: this.credentialKeys, log, file: config },
      apply: next => this.apply(next),
    })
    this.access.onEnded(() => this.endRevoked())
    this.access.onEnded(() => this.channels.drain(name => this.access.isDrained(name)))
    this.catalogue = new Catalogue(config.models)
    this.usage = new UsageQueue({
      ...{ records: this.store.usage, log, retention: config.usage.retention },
      isFault: thrown => thrown === UNAVAILABLE,
    })
    this.live = new Live(cluster.bus)
    this.recordings = new KeyRecordings(log)
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
      onFault: ignoringOutages(err => log.error({ err }, 'the encryption key cannot be loaded')),
    })
    this.ciphers = new StateCiphers(secret)
    this.stored = new State(
      config,
      log,
      this.store,
      () => this.channels.all,
      (key, limit) => this.limits.takeSlot('background', key, limit),
    )
    const onReasoningFault = ignoringOutages(err => log.error({ err }, 'reasoning cannot be stored'))
    const shared = hasOthers(config)
      ? new SharedReasoning({ records: this.store.shared, secret, onFault: onReasoningFault })
      : undefined
    this.reasoning = new ReasoningMemory(config.reasoningMemory, undefined, onReasoningFault, shared)
    this.signers = new Signers(
      {
        ...{ records: this.store.shared, bus: cluster.bus },
        isStored: () => storesRequests(this.config),
        onFault: err => log.error({ err }, 'the accounts that issued signatures cannot be stored'),
      },
      config.channels,
    )
    this.tasks = new VideoTasks(config, {
      log,
      channels: () => this.channels.all,
      store: () => this.store,
      isLeader: () => cluster.leads,
      baseOf: message => this.proxies.baseOf(message),
    })
    cluster.answer(METRICS, async () => (await this.metrics.snapshot(cluster.id)) as unknown as Json)
    cluster.answer(CHANNELS, () => statesOf(this.channels.all) as unknown as Json)
    this.metrics.registerReaders(this.readings())
  }

  /** Reads what a key spent, including requests whose rows waited for the store. */
  private async earlierSpend(key: string, at: number) {
    await this.usage.written()
    return this.store.usage.spent(key, at)
  }

  /** Returns the gauges and counters for metrics. Those of Redis are included only if Redis is configured. */
  private readings(): MeterReaders {
    const { running, channels, bodiesInMemory, bodiesOnDisk, usage, captures, limits, wrongKeys, store, stored } = this
    const { redis } = this.cluster
    const perChannel = (value: (channel: Channel) => number) => () =>
      channels.all.map(channel => ({ labels: { channel: channel.config.name }, value: value(channel) }))
    return {
      interlingua_channel_in_flight: perChannel(({ health }) => health.inFlight),
      interlingua_channel_drained: perChannel(({ drained }) => Number(drained)),
      interlingua_channel_resting: perChannel(channel => channel.restCount(Date.now()).channels),
      interlingua_channel_resting_models: perChannel(({ resting }) => resting.count(Date.now()).models),
      interlingua_channel_failing: () =>
        channels.all
          .filter(({ stats }) => !stats.isUnused)
          .map(({ config: { name }, stats }) => ({
            labels: { channel: name },
            value: Number(stats.failingSince() !== undefined),
          })),
      interlingua_channel_keys: () => channels.all.flatMap(keyReadings),
      interlingua_usage_queue_rows: () => usage.queued,
      interlingua_usage_dropped_total: () => usage.dropped,
      interlingua_captures_dropped_total: () => captures.dropped,
      interlingua_limits_fallback: () => Number(limits.isAlone),
      interlingua_wrong_keys_total: () => wrongKeys.count,
      interlingua_store_faults_total: () => store.faultCount,
      ...(redis === undefined
        ? {}
        : { interlingua_redis_up: () => Number(redis.isUp), interlingua_redis_faults_total: () => redis.faults }),
      interlingua_open_requests: () =>
        Object.entries(running.counts).map(([state, value]) => ({ labels: { state }, value })),
      interlingua_waiting_bytes: () => bodiesInMemory.bytes,
      interlingua_spooled_bytes: () => bodiesOnDisk.bytes,
      interlingua_store_up: async () => ((await stored.check()) === undefined ? 1 : 0),
    }
  }

  /**
   * Opens the store and reads the keys before any request is answered. Rejects if the gateway cannot run with the
   * stored data, for example if the store has a newer version.
   */
  async open(): Promise<void> {
    await this.store.start()
    await this.access.open()
    await this.storedConfig.settled
    await this.signers.open()
  }

  /** Finds the caller by the key in a request, like `authenticate`. */
  callerOf(call: Pick<Call, 'message' | 'queryKey' | 'as'>, format?: Format): Caller | Promise<Caller> {
    return authenticate(this.access, this.addressOf, call, format)
  }

  private readonly addressOf = (message: IncomingMessage): string => this.proxies.addressOf(message)

  /**
   * Delays the refusal of a wrong key. The delay grows with the number of distinct wrong keys from one address.
   *
   * @returns the error for the caller.
   */
  async delayWrongKey(thrown: unknown, message: IncomingMessage): Promise<unknown> {
    if (!this.access.isWrongKey(thrown)) return thrown
    try {
      await this.wrongKeys.slow(this.proxies.addressOf(message), thrown.mark)
      return thrown
    } catch (tooManyKeys) {
      return tooManyKeys
    }
  }

  /** Ends the running answers and background work of callers whose keys are no longer valid. */
  private endRevoked(): void {
    this.running.end(
      caller => this.access.endOf(caller),
      (call, why) => this.errors.write(call, why),
    )
    this.stored.background.end(owner => this.access.endOfOwner(owner))
  }

  /** Applies another config without dropping a request. */
  reload(next: Config): void {
    for (const field of changedStartupFields(this.config, next))
      this.log.warn({ field }, 'this config change takes effect after a restart')
    // A new store or data folder takes effect only at a restart.
    const file = { ...next, dataDir: this.config.dataDir, store: this.config.store }
    this.apply(this.storedConfig.reloaded(file))
  }

  private apply(config: Config): void {
    this.config = config
    this.proxies = new Proxies(config.server)
    this.metrics.reload(config)
    this.traces.reload(config.traces)
    this.access.reload(config)
    this.channels.reload(config.channels)
    this.bodiesInMemory.limits = config.server.limits.waiting
    this.bodiesOnDisk.limits = config.server.limits.spooled
    this.media = this.media.reloaded(config.media)
    this.stored.reload(config)
    this.reasoning.reload(config.reasoningMemory)
    this.signers.reload(config.channels)
    this.tasks.reload(config)
    this.catalogue.reload(config.models)
    this.usage.reload(config.usage.retention)
    this.recorder.reload(config)
  }

  /** Returns true if a token is a valid admin token. */
  async isAdmin(token: string): Promise<boolean> {
    const found = this.store.exists() ? await this.store.access.token(hashOf(token)) : undefined
    return found !== undefined && (found.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now()
  }

  /** Maximum time for which a caller may read nothing before its connection is closed, in milliseconds. */
  get patience(): number {
    return this.config.server.heartbeat * MAX_MISSED_HEARTBEATS
  }

  /** Returns all metrics of all processes, in Prometheus's text format. Those of workers that ended are included. */
  async metricsPage(): Promise<string> {
    const { cluster } = this
    const all = cluster.isWorker ? await cluster.ask(METRICS, null) : await cluster.gather(METRICS)
    return merge(all as unknown as readonly Snapshot[])
  }

  /** Sends the last metrics of a worker to the primary process, which keeps its counters. */
  private async keepMetrics(): Promise<void> {
    const { cluster } = this
    if (!cluster.isWorker) return
    await cluster.ask(LAST_METRICS, (await this.metrics.snapshot(cluster.id)) as unknown as Json).catch(() => {})
  }

  /** Returns the state of each channel, merged over all processes of this machine. */
  async states(): Promise<ChannelStates> {
    const all = (await this.cluster.gather(CHANNELS)) as unknown as readonly ChannelStates[]
    return all.length === 0 ? statesOf(this.channels.all) : mergedStates(all)
  }

  /** Ends every running answer with an error in its caller's format, and all background work. */
  stop(): void {
    this.running.stop((call, why) => this.errors.write(call, why))
    void this.stored.background.close()
  }

  async close(): Promise<void> {
    this.storedConfig.close()
    await this.access.close()
    this.images.store.close()
    await this.reasoning.close()
    await this.signers.close()
    await this.tasks.close()
    await this.stored.background.close()
    await this.usage.close()
    await this.keepMetrics()
    this.live.close()
    await this.captures.close()
    await this.recordings.close()
    await this.store.close()
    await this.channels.close()
    await this.media.close()
    await this.traces.close()
  }
}

/** Topic by which a process asks the others for their channel states. */
const CHANNELS = 'channels'

/** Returns true if other processes may serve the same gateway. */
const hasOthers = ({ store, server }: Config): boolean => store.engine !== 'sqlite' || server.workers > 1

/** Returns true if the gateway stores anything about requests. */
const storesRequests = (config: Config): boolean =>
  config.usage.retention > 0 || config.responses.retention > 0 || hasOthers(config)

/** Sends changes of limits to the primary process, which counts them. */
const askPrimary =
  (cluster: Cluster): AskSteps =>
  async steps =>
    (await cluster.ask('limits', steps as unknown as Json)) as unknown as readonly LimitState[]

/** Returns the primary's role in the limits of a machine whose workers count in Redis. */
const primaryLimits = (cluster: Cluster): PrimaryLimits => ({
  takesSlots: key => void cluster.ask('limits-places', { owner: cluster.id, key }).catch(() => {}),
  isSettled: async () => (await cluster.ask('limits-settled', null)) === true,
})
