import type { Format } from '../canonical/node.ts'
import type { BetaPolicy } from '../formats/betas.ts'
import type { ChannelFormat } from '../formats/channel-format.ts'
import type { FallbackModel, ModelFacts } from '../formats/model-facts.ts'
import type { ChannelAuth } from './auth.ts'

export type { AuthStyle } from '../formats/auth.ts'
export type { ChannelFormat, ModelFacts }

/** The complete config: defaults and presets applied, units converted to milliseconds and bytes. */
export interface Config {
  readonly server: ServerConfig
  readonly media: MediaConfig
  readonly responses: ResponsesConfig
  readonly reasoningMemory: ReasoningMemoryConfig
  readonly realtime: RealtimeConfig
  readonly tasks: TasksConfig
  /** Directory for all data that outlives the process. */
  readonly dataDir: string
  readonly store: StoreConfig
  /** Proxy of channels that name none. Absent if they connect directly. */
  readonly proxy?: ProxyConfig
  /**
   * Secrets that encrypt the credentials of stored channels; earlier ones only decrypt. Never log them. Absent if the
   * store holds a secret of its own.
   */
  readonly secrets?: { readonly key: string; readonly previous: readonly string[] }
  /** URL of the Redis through which instances share limits, health and notifications. */
  readonly redis?: string
  readonly usage: UsageConfig
  readonly capture: CaptureConfig
  readonly metrics: MetricsConfig
  readonly traces?: TracesConfig
  /** Settings of the console. Absent if it is disabled. */
  readonly console?: ConsoleConfig
  readonly groups: ReadonlyMap<string, GroupConfig>
  readonly keys: readonly KeyConfig[]
  readonly channels: readonly ChannelConfig[]
  /** Origin of the channels: the config, or without `channels` the environment's keys, or without those the demo. */
  readonly channelsFrom: 'config' | 'environment' | 'demo'
  readonly models: ReadonlyMap<string, ModelFacts>
}

export interface ServerConfig {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Number of worker processes. */
  readonly workers: number
  /** Paths of the certificate and key in PEM. Without them, the gateway speaks plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Addresses and ranges of proxies whose `x-forwarded-*` headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** The gateway's public URLs, without trailing slashes. If empty, URLs are derived from each request. */
  readonly publicUrls: readonly string[]
  /** Origins whose pages may call the gateway from browsers. `*` allows any. */
  readonly cors: readonly string[]
  /** Maximum silence of a stream before a heartbeat is sent to the caller, in milliseconds. */
  readonly heartbeat: number
  /**
   * Whether a stream starts after one heartbeat interval without an upstream answer. No other upstream is tried after
   * that.
   */
  readonly earlyHead: boolean
  /** Further headers that name a client's session, in lower case, so that its requests reach the same channel. */
  readonly sessionHeaders?: readonly string[]
  /**
   * Time for which requests are still accepted after the stop signal, in milliseconds, so that load balancers notice.
   */
  readonly drain: number
  /** Maximum time that running answers may take after the stop signal, in milliseconds. */
  readonly grace: number
  readonly limits: BodyLimits
  readonly sockets: SocketLimits
}

/** Limits of one WebSocket connection of the responses format. */
export interface SocketLimits {
  /** Maximum duration of a connection, in milliseconds. */
  readonly lifetime: number
  /** Maximum time without a message, in milliseconds. */
  readonly idle: number
  /** Maximum number of turns that may wait while another is answered. */
  readonly queue: number
  /** Unstored earlier turns that can be continued: most turns, and most characters of all of them. */
  readonly turns: number
  readonly memory: number
}

export interface BodyLimits {
  /** Maximum size of a decompressed request body, in bytes. */
  readonly body: number
  /** Maximum body size of formats that differ from `body`, in bytes. */
  readonly byFormat: ReadonlyMap<Format, number>
  /** Maximum size of incomplete bodies held in memory, in bytes: per key, and for all keys. */
  readonly waiting: { readonly key: number; readonly all: number }
  /** Maximum size of incomplete form files held on disk, in bytes: per key, and for all keys. */
  readonly spooled: { readonly key: number; readonly all: number }
  /** Maximum number of open WebSocket connections of one key per process. */
  readonly connections: number
}

/** Fetching of media that callers pass by URL, for upstreams that need the bytes. */
export interface MediaConfig {
  readonly fetch: boolean
  /** Maximum size of a file, in bytes. */
  readonly limit: number
  /** Maximum number of files in a request, and maximum size of all of them in bytes. */
  readonly count: number
  readonly total: number
  /** Maximum time for all files of a request, in milliseconds. */
  readonly timeout: number
  /** Private address ranges (`10.0.0.0/8`) that may be fetched from anyway. */
  readonly allow: readonly string[]
  /** Proxy for media and files. Absent if they are fetched directly. */
  readonly proxy?: ProxyConfig
}

/** Stored responses and conversations. */
export interface ResponsesConfig {
  /** Retention time in milliseconds. 0 stores nothing. */
  readonly retention: number
  /** Maximum number of unfinished background responses of a key, over all processes. */
  readonly background: number
}

/** Reasoning remembered for callers that do not send it back with tool results. */
export interface ReasoningMemoryConfig {
  /** Retention time after the last use, in milliseconds. 0 stores nothing. */
  readonly retention: number
  /** Maximum size of the reasoning stored for all keys, in bytes. */
  readonly memory: number
}

/** Realtime voice sessions. */
export interface RealtimeConfig {
  /** Maximum duration of a voice session, in milliseconds. */
  readonly lifetime: number
  /** Maximum time without a message, in milliseconds. */
  readonly idle: number
  /** Maximum size of a message in either direction, in bytes. */
  readonly message: number
  /** Maximum size of the data buffered for a slow caller, in bytes. */
  readonly buffer: number
  /** Maximum number of open voice sessions: per key over all processes, and per process for all keys. */
  readonly sessions: { readonly key: number; readonly all: number }
  /** Whether keys are accepted in the WebSocket subprotocol `openai-insecure-api-key.KEY`, which browsers use. */
  readonly browserKeys: boolean
  /**
   * Models that turn a text conversation into a voice session (transcription, then the chat model, then speech). Absent
   * if disabled.
   */
  readonly cascade?: { readonly transcription: string; readonly speech: string; readonly voice?: string }
}

/** Video tasks. */
export interface TasksConfig {
  /**
   * Time between background polls of unfinished tasks, in milliseconds. With 0 a task is polled only when a caller asks
   * for it.
   */
  readonly poll: number
  /** Time for which the gateway stores finished videos, in milliseconds. 0 leaves them at their upstreams. */
  readonly retention: number
  /** Maximum size of all stored videos, in bytes. The oldest are deleted first. */
  readonly limit: number
  /** First path segment of the endpoints that follow the video vendor's API. */
  readonly vendorPath: string
}

/** The database for all data that outlives a request. */
export type StoreConfig =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string }

/** Usage rows: one per request, without its content. */
export interface UsageConfig {
  /** Retention time of rows, in milliseconds. 0 stores none. Hourly and daily sums are stored longer. */
  readonly retention: number
}

/** Captures: full copies of the requests of selected keys. */
export interface CaptureConfig {
  /** Retention time in milliseconds. 0 disables captures. */
  readonly retention: number
  /** Maximum size of all stored captures, in bytes. The oldest are deleted first. */
  readonly limit: number
}

/** Access to `/metrics`. By default administrators only. */
export interface MetricsConfig {
  /** A separate address that serves metrics without authentication. */
  readonly listen?: { readonly host: string; readonly port: number }
  /** SHA-256 in hex of the key that may read metrics at the gateway's address. */
  readonly keyHash?: string
}

/** Export of traces (OTLP over HTTP). */
export interface TracesConfig {
  /** URL of the collector, for example `http://127.0.0.1:4318/v1/traces`. */
  readonly otlp: string
  readonly headers: { readonly [name: string]: string }
  /** Share of requests to trace if the caller has not decided; 0 to 1. */
  readonly sample: number
  /** Proxy before the collector. */
  readonly proxy?: ProxyConfig
}

/** Sign-in to the console. */
export interface ConsoleConfig {
  /** Maximum duration of a sign-in session, in milliseconds. */
  readonly session: number
  /** Maximum time without a request, in milliseconds. */
  readonly idle: number
  readonly oidc?: OidcConfig
}

/** An OpenID Connect provider for console sign-in. */
export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  /** A secret. Never log it. */
  readonly clientSecret: string
  /** Label of the sign-in button. */
  readonly name: string
  readonly scopes: readonly string[]
  /** Claim with the user's roles or groups. A dotted path if it is nested. */
  readonly claim: string
  /** Claim values that make a user an admin or a viewer. */
  readonly roles: { readonly admin: readonly string[]; readonly viewer: readonly string[] }
  /** Proxy before the provider. */
  readonly proxy?: ProxyConfig
}

/** The spending limit of a key. */
export interface Budget {
  /** US dollars per day and per month (UTC). */
  readonly day?: number
  readonly month?: number
  /**
   * Whether requests to models with unknown prices are allowed or refused. `allow` by default, at no cost to the
   * budget.
   */
  readonly unknown?: 'allow' | 'refuse'
}

/** Limits of each key. If key and group both set a limit, the smaller one applies. */
export interface LimitSettings {
  /** Maximum number of requests per minute. */
  readonly rpm?: number
  /** Maximum number of tokens per minute, prompts and answers together. */
  readonly tpm?: number
  /** Maximum number of concurrent requests and voice sessions. */
  readonly concurrent?: number
  readonly budget?: Budget
}

/** A group: the permissions of its keys. Limits apply to each key separately. */
export interface GroupConfig {
  readonly name: string
  /** Public model ids and patterns. `*` matches any run of characters. */
  readonly models: readonly string[]
  /** Formats whose endpoints the keys may use. Absent: all. */
  readonly doors?: readonly Format[]
  /** Names and patterns of the channels that may answer. Absent: all. */
  readonly channels?: readonly string[]
  readonly limits: LimitSettings
  /** Models that answer if no channel of the requested one does. A model's own list comes before it. */
  readonly fallbacks?: readonly FallbackModel[]
  /** Whether a request with losses is answered (`show`) or refused. */
  readonly onLoss: OnLoss
  /** Whether the config does not declare this group. It is the default group for keys without one. */
  readonly implied?: true
}

export type OnLoss = 'show' | 'refuse'

/** Restrictions of a key within its group. An absent field adds no restriction. */
export interface KeySettings {
  readonly note?: string
  readonly models?: readonly string[]
  readonly doors?: readonly Format[]
  readonly limits: LimitSettings
  readonly onLoss?: OnLoss
  readonly enabled: boolean
  /** Time at which the key expires, in Unix milliseconds. */
  readonly expiresAt?: number
  /** End of request capture for this key; Unix time in milliseconds. */
  readonly captureUntil?: number
}

/** A folder of recordings, and rules of what is redacted and of what does not count when requests are compared. */
export interface RecordSettings {
  readonly folder: string
  readonly redact?: readonly string[]
  readonly ignore?: readonly string[]
}

/** A key from the config. Only its hash is held in memory. */
export interface KeyConfig extends KeySettings {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly hash: string
  readonly group: string
  /** Where requests of the key are recorded. Stored keys have none, because it names a folder of the server. */
  readonly record?: RecordSettings
}

/** A channel: one account at an upstream. */
export interface ChannelConfig {
  readonly name: string
  /** Name of the channel's preset. */
  readonly provider: string
  /** Folder of the recordings from which the provider `replay` answers. Absent for the demo. */
  readonly folder?: string
  /** The formats the upstream speaks, best first. Never empty. */
  readonly formats: readonly ChannelFormat[]
  /** The upstream API key. Absent if the upstream needs none. Never log it. */
  readonly key?: string
  /** The channel's sign-in at a cloud, which replaces the key. Never log it. */
  readonly auth?: ChannelAuth
  /** The channel once per key of its pool, each with that key; absent if the channel has at most one key. */
  readonly keys?: readonly ChannelConfig[]
  /** Set in `keys` only: the key that this channel stands for. */
  readonly pooled?: PooledKey
  readonly models: ChannelModels
  /** Channels with lower values are tried first. */
  readonly priority: number
  /** Channels of equal priority share requests in proportion to their weights. */
  readonly weight: number
  /** False if the requests of one conversation are spread like all others. True by default. */
  readonly affinity?: false
  readonly timeout: Timeouts
  readonly tls?: UpstreamTls
  /** Proxy for connections to the upstream. Absent if there is none. */
  readonly proxy?: ProxyConfig
  /** Maximum number of requests in flight. */
  readonly maxConcurrent?: number
  /** Caller headers passed on to the upstream, in lower case. */
  readonly allowHeaders: readonly string[]
  /** Whether the upstream receives media URLs of any address. Without it, only public ones. */
  readonly anyAddress?: true
  /** `anthropic-beta` values passed on to the upstream (trap 79). */
  readonly betas: BetaPolicy
}

/** One key of a channel's pool. */
export interface PooledKey {
  /** Identifies the key in stored records: a hash, equal on every instance and after a restart. */
  readonly id: string
  /** The last characters of the key, by which operators recognise it. */
  readonly ending: string
  /** Maximum number of requests per minute that the key may send. */
  readonly rpm?: number
  /** Maximum number of tokens per minute, prompts and answers together. */
  readonly tpm?: number
  /** The key whose account signs reasoning and stores objects, if all keys of the channel share one. */
  readonly accountKey?: string
}

export interface ChannelModels {
  /** Upstream model ids by public id. */
  readonly named: ReadonlyMap<string, string>
  /** Patterns over public ids, which are the upstream's ids unless `renamed` has the pattern. `*` matches all. */
  readonly patterns: readonly string[]
  /** The upstream's ids of the models of a pattern. A `*` stands for what the pattern's `*` matches. */
  readonly renamed?: ReadonlyMap<string, string>
}

/** Certificates for connections to one upstream, in PEM. */
export interface UpstreamTls {
  /** Replaces the usual authorities. */
  readonly ca?: string
  /** The client certificate and its private key. Never log the key. */
  readonly cert?: string
  readonly key?: string
}

/** Proxies for outgoing connections, by the scheme of the address that is connected to. */
export interface ProxyConfig {
  /** URLs, which may contain credentials: never log them. An empty string means no proxy. */
  readonly http: string
  readonly https: string
  /** Hosts that are connected to directly, as in `NO_PROXY`. */
  readonly except: string
}

/** Timeouts of a channel in milliseconds. */
export interface Timeouts {
  readonly connect: number
  /** From the end of the request to the headers of a streamed answer. */
  readonly firstByte: number
  /**
   * From the end of the request to the headers of an unstreamed answer, which arrive only when the answer is complete.
   * `firstByte` by default.
   */
  readonly whole?: number
  /** Between two chunks of an answer. */
  readonly idle: number
}
