import type { IncomingMessage } from 'node:http'
import { Access, type Caller, checkDoor } from '../access/index.ts'
import { type AskSteps, type LimitState, Limits } from '../access/limits/index.ts'
import { Waiting } from '../access/waiting.ts'
import { WrongKeys } from '../access/wrong-keys.ts'
import type { MediaPart } from '../canonical/content.ts'
import { defined } from '../canonical/defined.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Format, Json } from '../canonical/node.ts'
import type { RawBody } from '../canonical/wire.ts'
import { Catalogue } from '../catalogue/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { LoneCluster } from '../cluster/lone.ts'
import { hashOf } from '../config/hash.ts'
import type { Config } from '../config/index.ts'
import { unfollowed } from '../config/lasting.ts'
import { PATIENCE } from '../egress/transport/sse.ts'
import type { Log } from '../log/index.ts'
import { LogOnce } from '../log/index.ts'
import { Metrics, merge, type Snapshot } from '../metrics/index.ts'
import { type RequestTrace, Traces } from '../metrics/traces.ts'
import { Proxies } from '../proxies/index.ts'
import { UNAVAILABLE } from '../store/fault.ts'
import { LazyStore } from '../store/lazy-store.ts'
import { State } from '../stored/index.ts'
import { VideoTasks } from '../tasks/index.ts'
import { UsageLog } from '../usage/log.ts'
import type { Administration } from './administration.ts'
import { type Call, credentialsOf, type Reply } from './call.ts'
import { Captures } from './capture/captures.ts'
import { type ChannelStates, statesOf } from './channel-states.ts'
import { Channels } from './channels.ts'
import { Seals } from './compaction/seals.ts'
import { GatewaySecret } from './gateway-secret.ts'
import { type ImageDelivery, ImageStore } from './image-store.ts'
import { ListedFacts } from './listed-facts.ts'
import { Live } from './live.ts'
import { Media } from './media.ts'
import type { StoredImage } from './picture-copies.ts'
import { channelReadings, countReadings, openRequests } from './readings.ts'
import { relay } from './relay.ts'
import { Running, type RunningCall } from './running.ts'
import { SharedThoughts } from './thoughts/shared-thoughts.ts'
import { Thoughts } from './thoughts/thoughts.ts'
import { UsageRecorder } from './usage-recorder.ts'

/** Everything that outlives a request and that requests are answered with; it follows the config. */
export abstract class Services {
  /** It is about to stop: callers should send no more requests. */
  leaving = false
  /** Counts the bytes of bodies that are not whole yet in memory. */
  readonly waiting: Waiting
  /** Where requests come from. */
  proxies: Proxies
  readonly metrics: Metrics
  readonly traces: Traces
  protected config: Config
  protected readonly log: Log
  /** The other processes of this gateway. */
  protected readonly cluster: Cluster
  protected readonly access: Access
  /** What keys use of their limits. */
  readonly limits: Limits
  protected readonly channels: Channels
  /** Counts those on disk. */
  protected readonly spooled: Waiting
  protected media: Media
  protected images: ImageDelivery
  protected readonly seals: Seals
  protected readonly store: LazyStore
  protected readonly stored: State
  protected readonly thoughts: Thoughts
  protected readonly tasks: VideoTasks
  protected readonly running = new Running()
  private readonly wrongKeys = new WrongKeys()
  /** Prices and limits of models. */
  protected readonly catalogue: Catalogue
  /** Writes what requests used to the store. */
  protected readonly usage: UsageLog
  /** Requests of keys for which that is switched on, as they were sent and answered. */
  protected readonly captures: Captures
  /** Requests as they happen. */
  protected readonly live: Live
  /** Takes what became of requests that are over. */
  protected readonly recorder: UsageRecorder
  /** Logs that memory or disk do not suffice. */
  protected readonly shortage: LogOnce
  private readonly imageStore: ImageStore

  constructor(config: Config, log: Log, cluster: Cluster = new LoneCluster({}, log)) {
    this.config = config
    this.log = log
    this.cluster = cluster
    this.proxies = new Proxies(config.server)
    this.metrics = new Metrics(config)
    this.traces = new Traces(config.traces, log)
    this.channels = new Channels(config.channels, cluster.bus)
    this.waiting = new Waiting(config.server.limits.waiting)
    this.spooled = new Waiting(config.server.limits.spooled)
    this.media = new Media(config.media)
    this.store = new LazyStore(config.store, config.dataDir, log)
    this.limits = new Limits({
      ...{ log, owner: cluster.id, redis: cluster.redis },
      ask: cluster.isWorker ? askPrimary(cluster) : undefined,
      ...(config.usage.keep > 0 && { spent: (key, at) => this.store.usage.spent(key, at) }),
    })
    this.access = new Access(config, {
      ...{ records: this.store.access, limits: this.limits, bus: cluster.bus },
      onFault: err => log.error({ err }, 'keys cannot be read'),
    })
    this.access.onEnded(() => this.endRevoked())
    this.access.onEnded(() => this.channels.drain(name => this.access.isDrained(name)))
    this.catalogue = new Catalogue(config.models)
    this.usage = new UsageLog({
      ...{ sink: this.store.usage, log, keep: config.usage.keep },
      isFault: thrown => thrown === UNAVAILABLE,
    })
    this.live = new Live(cluster.bus)
    this.captures = new Captures({ records: this.store.captures, log, config: () => this.config })
    const { catalogue, usage, metrics, live } = this
    this.recorder = new UsageRecorder({ log, catalogue, usage, metrics, live, proxies: () => this.proxies }, config)
    this.imageStore = new ImageStore({ shared: this.store.shared, hasOthers: () => hasOthers(config) })
    this.images = this.imageDelivery()
    const secret = new GatewaySecret({
      shared: this.store.shared,
      dataDir: () => this.config.dataDir,
      onFault: err => log.error({ err }, 'the key of seals cannot be had'),
    })
    this.seals = new Seals(secret)
    this.stored = new State(
      config,
      log,
      this.store,
      () => this.channels.all,
      (key, most) => this.limits.place('background', key, most),
    )
    const unremembered = (err: unknown): void => log.error({ err }, 'thoughts cannot be remembered')
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
    this.shortage = new LogOnce(err => log.error({ err }, 'the gateway lacks room'))
    cluster.answer(METRICS, async () => (await this.metrics.snapshot()) as unknown as Json)
    cluster.answer(CHANNELS, () => statesOf(this.channels.all) as unknown as Json)
    this.metrics.reads({
      ...channelReadings(() => this.channels.all),
      ...countReadings({
        usage,
        limits: this.limits,
        wrongKeys: this.wrongKeys,
        store: this.store,
        redis: cluster.redis,
      }),
      interlingua_open_requests: () => openRequests(this.running),
      interlingua_waiting_bytes: () => this.waiting.bytes,
      interlingua_spooled_bytes: () => this.spooled.bytes,
      interlingua_store_up: async () => ((await this.stored.check()) === undefined ? 1 : 0),
    })
  }

  /** Whether there is a console, by the config. */
  get hasConsole(): boolean {
    return this.config.console !== undefined
  }

  /**
   * Reads what must be known before requests are answered. Rejects where the gateway cannot run on what is stored, as with
   * a store of a newer version of the program.
   */
  async open(): Promise<void> {
    await this.store.start()
    await this.access.open()
  }

  /** Reads at once what other processes changed of keys and groups. Never rejects. */
  refresh(): Promise<void> {
    return this.access.refresh()
  }

  /** The IP address a request came from. */
  addressOf(message: IncomingMessage): string {
    return this.proxies.addressOf(message)
  }

  /**
   * Waits until a refusal may be answered: wrong keys are held back the longer the more of them come from one address.
   *
   * @returns what is to be answered.
   */
  async held(thrown: unknown, message: IncomingMessage): Promise<unknown> {
    if (!this.access.isWrongKey(thrown)) return thrown
    try {
      await this.wrongKeys.slow(this.addressOf(message))
      return thrown
    } catch (tooMany) {
      return tooMany
    }
  }

  /**
   * The caller whose key a request carries.
   *
   * @param door the format of its endpoint, where it is the endpoint of one.
   * @throws GatewayError `unauthenticated`, or `forbidden` where the door is closed to the key.
   */
  authenticate(call: Pick<Call, 'message' | 'queryKey'>, door?: Format): Caller {
    const caller = this.access.identify(credentialsOf(call))
    if (door !== undefined) checkDoor(caller.permissions, door)
    return caller
  }

  /** The same for a request that runs: it ends when its key does. */
  protected admitted(call: RunningCall & Pick<Call, 'message' | 'queryKey' | 'as'>): Caller {
    const caller = call.as ?? this.access.identify(credentialsOf(call))
    checkDoor(caller.permissions, call.format)
    call.caller = caller
    return caller
  }

  /** Ends what runs for callers whose keys ended. */
  protected endRevoked(): void {}

  /** Why a caller's requests may not go on; undefined where they may. */
  endOf(caller: Caller): GatewayError | undefined {
    return this.access.endOf(caller)
  }

  /** Calls the listener when some callers may have ended, after their requests were. */
  onEnded(listener: () => void): void {
    this.access.onEnded(listener)
  }

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
    this.waiting.limits = config.server.limits.waiting
    this.spooled.limits = config.server.limits.spooled
    this.media = this.media.reloaded(config.media)
    this.images = this.imageDelivery()
    this.stored.reload(config)
    this.thoughts.reload(config.thoughts)
    this.tasks.reload(config)
    this.catalogue.reload(config.models)
    this.usage.reload(config.usage.keep)
    this.recorder.reload(config)
  }

  /** The path of one request. Never rejects. */
  abstract handle(call: Call): Promise<void>

  /** What administrators can see and change. */
  async administration(): Promise<Administration> {
    const { Administration } = await import('./administration.ts')
    const { log, store, access, channels, waiting, catalogue, captures, live } = this
    return new Administration({
      ...{ log, store, access, channels, waiting, catalogue, captures, live },
      config: () => this.config,
      images: () => this.images,
      handle: call => this.handle(call),
      seal: () => this.seals.of('administrators'),
      consoleSeal: () => this.seals.of('console'),
      callAs: id => this.access.renewed({ id }),
      held: (thrown, message) => this.held(thrown, message),
      slow: address => this.wrongKeys.slow(address),
      proxies: () => this.proxies,
      gather: async () => (await this.cluster.gather(CHANNELS)) as unknown as readonly ChannelStates[],
      ...defined({ redis: this.cluster.redis }),
    })
  }

  /** Whether a token is that of an administrator. */
  async isAdmin(token: string): Promise<boolean> {
    const found = this.store.exists() ? await this.store.access.token(hashOf(token)) : undefined
    return found !== undefined && (found.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now()
  }

  /** A stored image by the token of its address. */
  image(token: string): Promise<StoredImage | undefined> {
    return this.imageStore.get(token)
  }

  /** Sends bytes to a caller as they come. Rejects where they break off, or the caller left or takes none of them. */
  pass(reply: Reply, headers: { readonly [name: string]: string }, raw: RawBody): Promise<void> {
    return relay(reply, headers, raw, this.config.server.heartbeat)
  }

  /** Milliseconds after which a caller that takes nothing is gone. */
  get patience(): number {
    return this.config.server.heartbeat * PATIENCE
  }

  /** The gateway has channels to send requests to. */
  get ready(): boolean {
    return this.config.channels.length > 0
  }

  /** How many channels, and how many models of single channels, rest now. */
  get resting(): { readonly channels: number; readonly models: number } {
    return this.channels.resting
  }

  /** Faults that the gateway can work with, by the name of the check. */
  async faults(): Promise<{ readonly [check: string]: string }> {
    const store = await this.stored.check()
    return store === undefined ? {} : { store }
  }

  /** All metrics, in Prometheus's text format. */
  async metricsPage(): Promise<string> {
    return merge((await this.cluster.gather(METRICS)) as unknown as readonly Snapshot[])
  }

  /** Ends the streams of those who watch requests. */
  endWatching(): void {
    this.live.end()
  }

  /** Settles when no work is left in the background. */
  idle(): Promise<void> {
    return this.stored.idle()
  }

  async close(): Promise<void> {
    await this.access.close()
    this.imageStore.close()
    await this.thoughts.close()
    await this.tasks.close()
    await this.stored.close()
    await this.usage.close()
    this.live.close()
    await this.captures.close()
    await this.store.close()
    await this.channels.close()
    await this.media.close()
    await this.traces.close()
  }

  /** The trace of a request that begins; undefined where none are made. */
  protected trace({ path: door, format, message }: Call): RequestTrace | undefined {
    return this.traces.begin({ door, format, headers: message.headers })
  }

  /** What lists of models tell. */
  protected listedFacts(): ListedFacts {
    return new ListedFacts(this.config.models, this.channels.all, this.catalogue)
  }

  private imageDelivery(): ImageDelivery {
    const { imageStore: store, proxies } = this
    return { store, baseOf: message => proxies.baseOf(message), fetch: (part: MediaPart) => this.media.fetch(part) }
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
