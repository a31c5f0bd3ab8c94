import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { Access, Caller, Permissions } from '../access/index.ts'
import type { Waiting } from '../access/waiting.ts'
import { GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { Catalogue } from '../catalogue/index.ts'
import type { Config } from '../config/index.ts'
import { warnings } from '../config/warnings.ts'
import { ConsoleUsers } from '../console/index.ts'
import { readJson } from '../ingress/transport/body.ts'
import type { Log } from '../log/index.ts'
import type { Proxies } from '../proxies/index.ts'
import type { AccessRecords, AdminToken } from '../store/access-records.ts'
import type { LazyStore } from '../store/lazy-store.ts'
import type { UsageRecords } from '../store/usage-records.ts'
import type { Call } from './call.ts'
import type { Captures } from './capture/captures.ts'
import { type ChannelStates, mergedStates, statesOf } from './channel-states.ts'
import { type ChannelTest, testChannel } from './channel-test.ts'
import type { Channels } from './channels.ts'
import type { Seal } from './compaction/seals.ts'
import type { ImageDelivery } from './image-store.ts'
import type { Live } from './live.ts'
import { type ModelOverview, modelOverviews } from './model-overview.ts'
import { forcedTo, type OwnRequests } from './own-requests.ts'

/** The parts of a gateway that administrators work on. */
export interface AdministrationParts {
  readonly config: () => Config
  readonly log: Log
  readonly store: LazyStore
  readonly access: Access
  readonly channels: Channels
  readonly catalogue: Catalogue
  readonly waiting: Waiting
  readonly captures: Captures
  readonly live: Live
  readonly images: () => ImageDelivery
  readonly seal: () => Seal
  /** The path of one request. Never rejects. */
  readonly handle: (call: Call) => Promise<void>
  /** Of what browsers keep while a user signs in. */
  readonly consoleSeal: () => Seal
  /** The caller of a key's id, as it is now. Throws GatewayError where it may send nothing. */
  readonly callAs: (id: string) => Caller
  readonly proxies: () => Proxies
  /** Waits as long as the answer to a wrong credential is held back; gives what is to be answered. */
  readonly held: (thrown: unknown, message: IncomingMessage) => Promise<unknown>
  /** Settles when an answer to an address that guesses may be sent; rejects with GatewayError where too many wait already. */
  readonly slow: (address: string) => Promise<void>
  /** The channels as each process of this machine sees them, this one among them; absent where it is the only one. */
  readonly gather?: () => Promise<readonly ChannelStates[]>
  readonly redis?: { readonly isUp: boolean }
}

/** Milliseconds a test of a channel may take. */
const TEST_TIMEOUT = 30_000

/** What administrators can see and change of a gateway. */
export class Administration {
  readonly log: Log
  readonly version = versionOf()
  /** Unix time in milliseconds. */
  readonly startedAt = Math.round(performance.timeOrigin)
  /** Who may sign in to the console. */
  readonly users: ConsoleUsers
  private readonly parts: AdministrationParts

  constructor(parts: AdministrationParts) {
    this.parts = parts
    this.log = parts.log
    this.users = new ConsoleUsers({
      ...{ log: parts.log, proxies: parts.proxies, slow: parts.slow, records: parts.store.console },
      seal: parts.consoleSeal,
      config: () => this.config.console,
      publicUrls: () => this.config.server.publicUrls,
    })
  }

  get config(): Config {
    return this.parts.config()
  }

  get instance(): string {
    return this.parts.store.liveness.id
  }

  /** Keys, groups, drained channels and tokens, as stored. */
  get records(): AccessRecords {
    return this.parts.store.access
  }

  /** Captured requests. */
  get captures(): Captures {
    return this.parts.captures
  }

  /** Requests as they happen. */
  get live(): Live {
    return this.parts.live
  }

  /** Where requests are made in the names of callers; set by the server, which has the endpoints. */
  own: OwnRequests | undefined

  /**
   * The caller of a key's id, as it is now.
   *
   * @param channel the only one that may answer it.
   * @throws GatewayError where the key ended, or may not use the channel.
   */
  callerOf(id: string, channel?: string): Caller {
    const caller = this.parts.callAs(id)
    return channel === undefined ? caller : forcedTo(caller, channel)
  }

  get usage(): UsageRecords {
    return this.parts.store.usage
  }

  /** Something of the records was changed: it counts here at once, and other processes are notified. Never rejects. */
  changed(): Promise<void> {
    return this.parts.access.changed()
  }

  /** The admin token of that hash. A store that was never written is not made for it. */
  async token(hash: string): Promise<AdminToken | undefined> {
    const { store } = this.config
    if (store.engine === 'sqlite' && !existsSync(store.path)) return undefined
    return this.records.token(hash)
  }

  /**
   * Whether a credential that is no admin token is the key of a caller. Where nobody knows it, the answer comes ever later.
   *
   * @throws GatewayError `rate-limited` where too many answers to that address wait already, `overloaded` where keys cannot
   * be read.
   */
  async isCaller(credential: string, message: IncomingMessage): Promise<boolean> {
    const { access, held } = this.parts
    try {
      access.identify({ headers: { authorization: `Bearer ${credential}` } })
      return true
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.error.kind === 'overloaded') throw thrown
      // Whose key is disabled or expired is a caller all the same.
      if (!access.isWrongKey(thrown)) return true
      const why = await held(thrown, message)
      if (why !== thrown) throw why
      return false
    }
  }

  /** A request's body as JSON. Rejects with GatewayError as `readJson` does. */
  body(message: IncomingMessage, limit: number): Promise<JsonObject> {
    return readJson(message, limit, () => this.parts.waiting.open('administrators'))
  }

  /** The channels, as all processes of this machine see them. */
  async states(): Promise<ChannelStates> {
    const { channels, gather } = this.parts
    const all = (await gather?.()) ?? []
    return all.length === 0 ? statesOf(channels.all) : mergedStates(all)
  }

  /** The models that a key with these permissions can call. */
  models(permissions: Permissions): readonly ModelOverview[] {
    const { channels, catalogue } = this.parts
    return modelOverviews(permissions, channels.all, this.config, catalogue)
  }

  /** Tests a channel. Rejects with GatewayError `not-found` where there is none, or it does not have the model. */
  async test(name: string, model: string | undefined): Promise<ChannelTest> {
    const { channels, log, images, seal } = this.parts
    const channel = channels.all.find(({ config }) => config.name === name)
    if (channel === undefined) throw new GatewayError({ kind: 'not-found', message: 'There is no such channel.' })
    const facts = this.config.models
    return testChannel(channel, { model, facts, log, images: images(), seal: seal(), timeout: TEST_TIMEOUT })
  }

  /** Answers a request as the gateway does any caller's. Never rejects. */
  handle(call: Call): Promise<void> {
    return this.parts.handle(call)
  }

  /** What is wrong with the store, if anything, and whether Redis is in reach, where there is one. */
  async health(): Promise<{ readonly store: string | undefined; readonly redis: boolean | undefined }> {
    const { store, redis } = this.parts
    return { store: await store.check(), redis: redis?.isUp }
  }

  /** What is most likely wrong with the config. */
  warnings(): readonly string[] {
    return [...warnings(this.config)]
  }
}

const versionOf = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version
