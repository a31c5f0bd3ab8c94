import type { IncomingMessage } from 'node:http'
import type { Caller, Permissions } from '../../accounts/index.ts'
import { GatewayError, notFound } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Config } from '../../config/index.ts'
import { warnings } from '../../config/warnings.ts'
import type { Call } from '../../gateway/call.ts'
import type { Captures } from '../../gateway/capture/captures.ts'
import type { ChannelStates } from '../../gateway/channel-states.ts'
import { type ChannelTest, testChannel } from '../../gateway/channel-test.ts'
import type { Gateway } from '../../gateway/index.ts'
import type { Live } from '../../gateway/live.ts'
import { type ModelOverview, modelOverviews } from '../../gateway/model-overview.ts'
import { forcedTo, type OwnRequests } from '../../gateway/own-requests.ts'
import { readJson } from '../../ingress/transport/body.ts'
import type { Log } from '../../log.ts'
import type { AccessRecords, AdminToken } from '../../store/access-records.ts'
import type { UsageRecords } from '../../store/usage-records.ts'
import type { TableSource } from '../../upstreams/catalogue/index.ts'
import { version } from '../../version.ts'
import { ConsoleUsers } from '../sign-in/index.ts'

/** Milliseconds a test of a channel may take. */
const TEST_TIMEOUT = 30_000

/** What administrators can see and change of a gateway. */
export class Administration {
  readonly log: Log
  readonly version = version()
  /** Unix time in milliseconds. */
  readonly startedAt = Math.round(performance.timeOrigin)
  readonly instance: string
  /** Who may sign in to the console. */
  readonly users: ConsoleUsers
  /** Keys, groups, drained channels and tokens, as stored. */
  readonly records: AccessRecords
  readonly usage: UsageRecords
  readonly captures: Captures
  /** Requests as they happen. */
  readonly live: Live
  private readonly gateway: Gateway

  constructor(gateway: Gateway) {
    const { log, store, captures, live } = gateway
    this.gateway = gateway
    this.log = log
    this.instance = store.liveness.id
    this.records = store.access
    this.usage = store.usage
    this.captures = captures
    this.live = live
    this.users = new ConsoleUsers({
      ...{ log, records: store.console, proxies: () => gateway.proxies },
      slow: address => gateway.wrongKeys.slow(address),
      seal: () => gateway.seals.of('console'),
      config: () => this.config.console,
      publicUrls: () => this.config.server.publicUrls,
    })
  }

  get config(): Config {
    return this.gateway.config
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
    const caller = this.gateway.access.renewed({ id })
    return channel === undefined ? caller : forcedTo(caller, channel)
  }

  /** Something of the records was changed: it counts here at once, and other processes are notified. Never rejects. */
  changed(): Promise<void> {
    return this.gateway.access.changed()
  }

  /** The admin token of that hash. A store that was never written is not made for it. */
  async token(hash: string): Promise<AdminToken | undefined> {
    return this.gateway.store.exists() ? this.records.token(hash) : undefined
  }

  /**
   * Whether a credential that is no admin token is the key of a caller. Where it is unknown, the answer comes ever later.
   *
   * @throws GatewayError `rate-limited` where too many answers to that address wait already, `overloaded` where keys cannot
   * be read.
   */
  async isCaller(credential: string, message: IncomingMessage): Promise<boolean> {
    const { access } = this.gateway
    try {
      const headers = { authorization: `Bearer ${credential}` }
      await access.find({ headers }, () => this.gateway.proxies.addressOf(message))
      return true
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.error.kind === 'overloaded') throw thrown
      // Whose key is disabled or expired is a caller all the same.
      if (!access.isWrongKey(thrown)) return true
      const why = await this.gateway.held(thrown, message)
      if (why !== thrown) throw why
      return false
    }
  }

  /** A request's body as JSON. Rejects with GatewayError as `readJson` does. */
  body(message: IncomingMessage, limit: number): Promise<JsonObject> {
    return readJson(message, limit, () => this.gateway.incomplete.open('administrators'))
  }

  /** The channels, as all processes of this machine see them. */
  states(): Promise<ChannelStates> {
    return this.gateway.states()
  }

  /** The models that a key with these permissions can call. */
  models(permissions: Permissions): readonly ModelOverview[] {
    const { channels, catalogue } = this.gateway
    return modelOverviews(permissions, channels.all, this.config, catalogue)
  }

  /** Where limits and abilities of models are from. */
  get catalogue(): TableSource {
    return this.gateway.catalogue.source
  }

  /** Tests a channel. Rejects with GatewayError `not-found` where there is none, or it does not have the model. */
  async test(name: string, model: string | undefined): Promise<ChannelTest> {
    const { channels, log, images, seals } = this.gateway
    const channel = channels.all.find(({ config }) => config.name === name)
    if (channel === undefined) throw notFound('There is no such channel.')
    const seal = seals.of('administrators')
    return testChannel(channel, { model, facts: this.config.models, log, images, seal, timeout: TEST_TIMEOUT })
  }

  /** Answers a request as the gateway does any caller's. Never rejects. */
  handle(call: Call): Promise<void> {
    return this.gateway.handle(call)
  }

  /** What is wrong with the store, if anything, and whether Redis is in reach, where there is one. */
  async health(): Promise<{ readonly store: string | undefined; readonly redis: boolean | undefined }> {
    const { store, cluster } = this.gateway
    return { store: await store.check(), redis: cluster.redis?.isUp }
  }

  /** What is most likely wrong with the config. */
  warnings(): readonly string[] {
    return [...warnings(this.config)]
  }
}
