import type { IncomingMessage } from 'node:http'
import type { Caller, Permissions } from '../../accounts/index.ts'
import { GatewayError, notFound } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { ChannelConfig, Config } from '../../config/index.ts'
import { warnings } from '../../config/warnings.ts'
import type { Call } from '../../gateway/call.ts'
import { type CallerRequests, forcedTo } from '../../gateway/caller-requests.ts'
import type { Captures } from '../../gateway/capture/captures.ts'
import { type ChannelCheck, checkChannel } from '../../gateway/channel-check.ts'
import type { ChannelStates } from '../../gateway/channel-states.ts'
import type { Gateway } from '../../gateway/index.ts'
import type { Live } from '../../gateway/live.ts'
import { type ModelOverview, modelOverviews } from '../../gateway/model-overview.ts'
import type { Services } from '../../gateway/services.ts'
import { ConfigEditor } from '../../gateway/stored-config/editor.ts'
import type { StoredRow } from '../../gateway/stored-config/index.ts'
import { readJson } from '../../ingress/transport/body.ts'
import type { Log } from '../../log.ts'
import type { AccessRecords, AdminToken } from '../../store/access-records.ts'
import type { AuditRecords } from '../../store/audit-records.ts'
import type { UsageRecords } from '../../store/usage-records.ts'
import type { TableSource } from '../../upstreams/catalogue/index.ts'
import type { Prices } from '../../upstreams/catalogue/rates.ts'
import { Channel } from '../../upstreams/channel/index.ts'
import { version } from '../../version.ts'
import { ConsoleUsers } from '../sign-in/index.ts'

/** Timeout of a channel test, in milliseconds. */
const TEST_TIMEOUT_MS = 30_000

/**
 * The gateway as used by the admin API and the console: reads its state, changes its records, and sends requests for
 * operators.
 */
export class Administration {
  readonly log: Log
  readonly version = version()
  /** Time at which the gateway started, in Unix milliseconds. */
  readonly startedAt = Math.round(performance.timeOrigin)
  readonly instance: string
  /** Users who may sign in to the console. */
  readonly users: ConsoleUsers
  /** Keys, groups, drained channels and admin tokens in the store. */
  readonly records: AccessRecords
  readonly usage: UsageRecords
  readonly captures: Captures
  /** The log of changes by administrators. */
  readonly audit: AuditRecords
  /** Publishes requests as they start and end, for the live view. */
  readonly live: Live
  /** Editor of stored channels and settings of models. */
  readonly editor: ConfigEditor
  private readonly gateway: Gateway
  private readonly services: Services

  constructor(gateway: Gateway) {
    const { services } = gateway
    const { log, store, captures, live } = services
    this.gateway = gateway
    this.services = services
    this.log = log
    this.instance = store.liveness.id
    this.records = store.access
    this.usage = store.usage
    this.captures = captures
    this.audit = store.audit
    this.live = live
    this.editor = new ConfigEditor({
      ...{ records: store.stored, keys: services.credentialKeys },
      surroundings: () => ({ env: process.env, proxy: this.config.proxy }),
    })
    this.users = new ConsoleUsers({
      ...{ log, records: store.console, proxies: () => services.proxies },
      slow: address => services.wrongKeys.slow(address),
      encryption: () => services.ciphers.of('console'),
      config: () => this.config.console,
      publicUrls: () => this.config.server.publicUrls,
    })
  }

  get config(): Config {
    return this.services.config
  }

  /** Sends requests on behalf of a caller. The server sets this field, because the server has the endpoints. */
  callerRequests: CallerRequests | undefined

  /**
   * Looks up the caller with this id and the current permissions.
   *
   * @param channel the only channel that may answer the caller's requests.
   * @throws GatewayError if the key is no longer valid or may not use the channel.
   */
  callerOf(id: string, channel?: string): Caller {
    const caller = this.services.access.renewed({ id })
    return channel === undefined ? caller : forcedTo(caller, channel)
  }

  /** Stored channels and settings of models, and their effect. */
  get stored(): readonly StoredRow[] {
    return this.services.storedConfig.rows
  }

  /** Applies a change of the store in this process immediately, and notifies the other processes. Never rejects. */
  async changed(): Promise<void> {
    await this.services.access.changed()
    await this.services.storedConfig.settled
  }

  /** Finds the admin token with this hash. Never creates a store just to search it. */
  async token(hash: string): Promise<AdminToken | undefined> {
    return this.services.store.exists() ? this.records.token(hash) : undefined
  }

  /**
   * Returns true if a credential that is not an admin token is a caller's key. Answers unknown keys from one address
   * more and more slowly.
   *
   * @throws GatewayError `rate-limited` if too many answers to the address are already delayed, `overloaded` if the
   * keys cannot be read.
   */
  async isCaller(credential: string, message: IncomingMessage): Promise<boolean> {
    const { access } = this.services
    try {
      const headers = { authorization: `Bearer ${credential}` }
      await access.find({ headers }, () => this.services.proxies.addressOf(message))
      return true
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.error.kind === 'overloaded') throw thrown
      // A disabled or expired key still identifies a caller.
      if (!access.isWrongKey(thrown)) return true
      const delayError = await this.services.delayWrongKey(thrown, message)
      if (delayError !== thrown) throw delayError
      return false
    }
  }

  /** Reads a request's body as JSON. Rejects with GatewayError as `readJson` does. */
  body(message: IncomingMessage, limit: number): Promise<JsonObject> {
    return readJson(message, limit, () => this.services.bodiesInMemory.open('administrators'))
  }

  /** Returns the state of each channel, merged over all processes of this machine. */
  states(): Promise<ChannelStates> {
    return this.services.states()
  }

  /** Returns the models that a key with these permissions can call. */
  models(permissions: Permissions): readonly ModelOverview[] {
    const { channels, catalogue } = this.services
    return modelOverviews(permissions, channels.all, this.config, catalogue)
  }

  /** Prices of models. */
  get prices(): Prices {
    return this.services.catalogue
  }

  /** The source of the catalogue's limits and abilities of models. */
  get catalogue(): TableSource {
    return this.services.catalogue.source
  }

  /**
   * Tests a channel. Rejects with GatewayError `not-found` if the channel does not exist or does not have the model.
   */
  async test(name: string, model: string | undefined): Promise<ChannelCheck> {
    const channel = this.services.channels.all.find(({ config }) => config.name === name)
    if (channel === undefined) throw notFound('There is no such channel.')
    return this.check(channel, model)
  }

  /** Tests the config of a channel that is not in use. */
  async testDraft(config: ChannelConfig, model: string | undefined): Promise<ChannelCheck> {
    const channel = new Channel(config)
    try {
      return await this.check(channel, model)
    } finally {
      await channel.destroy()
    }
  }

  private check(channel: Channel, model: string | undefined): Promise<ChannelCheck> {
    const { log, images, ciphers } = this.services
    return checkChannel(channel, {
      ...{ model, facts: this.config.models, log, images, seal: ciphers.of('administrators') },
      timeout: TEST_TIMEOUT_MS,
    })
  }

  /** Answers a request in the same way as a caller's request. Never rejects. */
  handle(call: Call): Promise<void> {
    return this.gateway.handle(call)
  }

  /** Returns the store's fault, if any, and whether Redis is reachable, if configured. */
  async health(): Promise<{ readonly store: string | undefined; readonly redis: boolean | undefined }> {
    const { store, cluster } = this.services
    return { store: await store.check(), redis: cluster.redis?.isUp }
  }

  /** Returns probable mistakes in the config. */
  warnings(): readonly string[] {
    return [...warnings(this.config)]
  }
}
