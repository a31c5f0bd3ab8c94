import type { IncomingMessage } from 'node:http'
import { Access, type Caller, checkDoor } from '../access/index.ts'
import { Waiting } from '../access/waiting.ts'
import { WrongKeys } from '../access/wrong-keys.ts'
import type { MediaPart } from '../canonical/content.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import type { RawBody } from '../canonical/wire.ts'
import { Catalogue } from '../catalogue/index.ts'
import type { Config } from '../config/index.ts'
import { PATIENCE } from '../egress/transport/sse.ts'
import type { Log } from '../log/index.ts'
import { LogOnce } from '../log/index.ts'
import { UNAVAILABLE } from '../store/fault.ts'
import { LazyStore } from '../store/lazy-store.ts'
import { State } from '../stored/index.ts'
import { VideoTasks } from '../tasks/index.ts'
import { UsageLog } from '../usage/log.ts'
import type { Administration } from './administration.ts'
import { type Call, credentialsOf, type Reply } from './call.ts'
import { Channels } from './channels.ts'
import { Seals } from './compaction/seals.ts'
import { type ImageDelivery, ImageStore, type StoredImage } from './image-store.ts'
import { ListedFacts } from './listed-facts.ts'
import { Media } from './media.ts'
import { Recording } from './recording.ts'
import { relay } from './relay.ts'
import { Running, type RunningCall } from './running.ts'
import { Thoughts } from './thoughts/thoughts.ts'

/** Everything that outlives a request and that requests are answered with; it follows the config. */
export class Services {
  /** It is about to stop: callers should send no more requests. */
  leaving = false
  /** Counts the bytes of bodies that are not whole yet in memory. */
  readonly waiting: Waiting
  protected config: Config
  protected readonly log: Log
  protected readonly access: Access
  protected readonly channels: Channels
  /** Counts those on disk. */
  protected readonly spooled: Waiting
  protected media: Media
  protected images: ImageDelivery
  protected seals: Seals
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
  /** Takes what became of requests that are over. */
  protected readonly recorder: Recording
  /** Logs that memory or disk do not suffice. */
  protected readonly shortage: LogOnce
  private readonly imageStore = new ImageStore()

  constructor(config: Config, log: Log) {
    this.config = config
    this.log = log
    this.channels = new Channels(config.channels)
    this.waiting = new Waiting(config.server.limits.waiting)
    this.spooled = new Waiting(config.server.limits.spooled)
    this.media = new Media(config.media)
    this.images = this.imageDelivery()
    this.seals = this.sealsIn(config.dataDir)
    this.store = new LazyStore(config.store, config.dataDir, log)
    this.access = new Access(config, {
      records: this.store.access,
      onFault: err => log.error({ err }, 'keys cannot be read'),
    })
    this.access.onEnded(() => this.endRevoked())
    this.access.onEnded(() => this.channels.drain(name => this.access.isDrained(name)))
    this.catalogue = new Catalogue(config.models)
    this.usage = new UsageLog({
      ...{ sink: this.store.usage, log, keep: config.usage.keep },
      isFault: thrown => thrown === UNAVAILABLE,
    })
    this.recorder = new Recording(log, this.catalogue, this.usage, config)
    this.stored = new State(config, log, this.store, () => this.channels.all)
    this.thoughts = new Thoughts(config.thoughts, undefined, err => log.error({ err }, 'thoughts cannot be remembered'))
    this.tasks = new VideoTasks(config, {
      log,
      channels: () => this.channels.all,
      store: () => this.store,
    })
    this.shortage = new LogOnce(err => log.error({ err }, 'the gateway lacks room'))
  }

  /** Reads what must be known before requests are answered. Rejects where the gateway cannot run on what is stored. */
  open(): Promise<void> {
    return this.access.open()
  }

  /** Reads at once what other processes changed of keys and groups. Never rejects. */
  refresh(): Promise<void> {
    return this.access.refresh()
  }

  /** The IP address a request came from. */
  addressOf(message: IncomingMessage): string {
    return message.socket.remoteAddress ?? ''
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
  protected admitted(call: RunningCall & Pick<Call, 'message' | 'queryKey'>): Caller {
    const caller = this.authenticate(call, call.format)
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
  reload(config: Config): void {
    this.config = config
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
    if (config.dataDir !== this.seals.dataDir) this.seals = this.sealsIn(config.dataDir)
  }

  /** What administrators can see and change. */
  async administration(): Promise<Administration> {
    const { Administration } = await import('./administration.ts')
    const { log, store, access, channels, waiting, catalogue } = this
    return new Administration({
      ...{ log, store, access, channels, waiting, catalogue },
      config: () => this.config,
      images: () => this.images,
      seal: () => this.seals.of('administrators'),
      held: (thrown, message) => this.held(thrown, message),
    })
  }

  /** A stored image by the token of its address. */
  image(token: string): StoredImage | undefined {
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

  /** Settles when no work is left in the background. */
  idle(): Promise<void> {
    return this.stored.idle()
  }

  async close(): Promise<void> {
    await this.access.close()
    this.imageStore.close()
    this.thoughts.close()
    await this.tasks.close()
    await this.stored.close()
    await this.usage.close()
    await this.store.close()
    await this.channels.close()
    await this.media.close()
  }

  /** What lists of models tell. */
  protected listedFacts(): ListedFacts {
    return new ListedFacts(this.config.models, this.channels.all, this.catalogue)
  }

  private imageDelivery(): ImageDelivery {
    const [publicUrl] = this.config.server.publicUrls
    return { store: this.imageStore, publicUrl, fetch: (part: MediaPart) => this.media.fetch(part) }
  }

  private sealsIn(dataDir: string): Seals {
    return new Seals(dataDir, err => this.log.error({ err }, 'the key of seals cannot be had'))
  }
}
