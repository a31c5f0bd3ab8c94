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
  /** Proxy for channels that configure none. Absent if they connect directly. */
  readonly proxy?: ProxyConfig
  /**
   * Secrets for the credentials of stored channels: `key` encrypts and decrypts, `previous` only decrypt. Never log
   * them. Absent if the store's own secret is used.
   */
  readonly secrets?: { readonly key: string; readonly previous: readonly string[] }
  /** URL of the Redis server through which instances share limits, health and notifications. */
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
  /** Source of the channels: the config's `channels`, else API keys in the environment, else the demo. */
  readonly channelsFrom: 'config' | 'environment' | 'demo'
  readonly models: ReadonlyMap<string, ModelFacts>
  /** Files whose content is part of the config. */
  readonly credentialFiles: readonly string[]
}

export interface ServerConfig {
  readonly host: string
  /** Port to listen on. 0 selects any free port. */
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
  /** True to start a stream after one heartbeat without an upstream answer. No other upstream is tried afterwards. */
  readonly earlyHead: boolean
  /** Further headers that identify a client's session, in lower case. A session stays on one channel. */
  readonly sessionHeaders?: readonly string[]
  /** Time for which a connection without a request stays open, in milliseconds. */
  readonly keepAlive: number
  /** Time to accept requests after the stop signal, so that load balancers can react, in milliseconds. */
  readonly drain: number
  /** Maximum time for running answers to finish after the stop signal, in milliseconds. */
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
  /** Maximum number of queued turns while another is answered. */
  readonly queue: number
  /** Unstored earlier turns that can be continued: their maximum number, and their maximum total size in characters. */
  readonly turns: number
  readonly memory: number
}

export interface BodyLimits {
  /** Maximum size of a decompressed request body, in bytes. */
  readonly body: number
  /** Limits that replace `body` for some formats, in bytes. */
  readonly byFormat: ReadonlyMap<Format, number>
  /** Maximum total size of incomplete bodies in memory, in bytes: per key, and for all keys. */
  readonly waiting: { readonly key: number; readonly all: number }
  /** Maximum total size of incomplete form files on disk, in bytes: per key, and for all keys. */
  readonly spooled: { readonly key: number; readonly all: number }
  /** Maximum number of open WebSocket connections per key and process. */
  readonly connections: number
}

/** Fetching of media that callers send as URLs, for upstreams that accept only bytes. */
export interface MediaConfig {
  readonly fetch: boolean
  /** Maximum size of a file, in bytes. */
  readonly limit: number
  /** Maximum number of files in a request, and their maximum total size in bytes. */
  readonly count: number
  readonly total: number
  /** Maximum time to fetch all files of a request, in milliseconds. */
  readonly timeout: number
  /** Private address ranges from which media may be fetched, such as `10.0.0.0/8`. */
  readonly allow: readonly string[]
  /** Proxy for media and files. Absent if they are fetched directly. */
  readonly proxy?: ProxyConfig
}

/** Stored responses and conversations. */
export interface ResponsesConfig {
  /** Retention time in milliseconds. 0 stores nothing. */
  readonly retention: number
  /** Maximum number of unfinished background responses per key, across all processes. */
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
  /** True if keys are accepted in the WebSocket subprotocol `openai-insecure-api-key.KEY`, which browsers use. */
  readonly browserKeys: boolean
  /** Models that transcribe and speak for a chat model in a voice session. Absent if disabled. */
  readonly cascade?: { readonly transcription: string; readonly speech: string; readonly voice?: string }
}

/** Video tasks. */
export interface TasksConfig {
  /** Time between background polls of tasks, in milliseconds. With 0, tasks are polled only when callers ask. */
  readonly poll: number
  /** Retention time of finished videos in the gateway, in milliseconds. 0 leaves them at their upstreams. */
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

/** Access to `/metrics`. By default, only administrators may read it. */
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
  /** Share of requests to trace if the caller sends no sampling decision, from 0 to 1. */
  readonly sample: number
  /** Proxy for connections to the collector. */
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
  /** Secret of this gateway at the provider. Never log it. */
  readonly clientSecret: string
  /** Label of the sign-in button. */
  readonly name: string
  readonly scopes: readonly string[]
  /** Claim with the user's roles or groups. A dotted path if it is nested. */
  readonly claim: string
  /** Claim values that make a user an admin or a viewer. */
  readonly roles: { readonly admin: readonly string[]; readonly viewer: readonly string[] }
  /** Proxy for connections to the provider. */
  readonly proxy?: ProxyConfig
}

/** The spending limit of a key. */
export interface Budget {
  /** Maximum cost per day and per month (UTC), in US dollars. */
  readonly day?: number
  readonly month?: number
  /** Policy for models without a known price. By default, they are allowed at no cost to the budget. */
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
  /** Formats whose endpoints the keys may use. All if absent. */
  readonly doors?: readonly Format[]
  /** Names and patterns of the channels that may answer. All if absent. */
  readonly channels?: readonly string[]
  readonly limits: LimitSettings
  /** Models to try if no channel of the requested model answers. A model's own list replaces this one. */
  readonly fallbacks?: readonly FallbackModel[]
  /** Policy for requests with losses: answer them and show the losses, or refuse them. */
  readonly onLoss: OnLoss
  /** Set for the default group if the config does not declare it. Keys without a group belong to it. */
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
  /** Time until which the key's requests are captured, in Unix milliseconds. */
  readonly captureUntil?: number
}

/** A folder for recordings, and rules for what is redacted and what is ignored when requests are compared. */
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
  /** Recording of the key's requests. Not for stored keys, because it names a folder on the server. */
  readonly record?: RecordSettings
}

/** A channel: one account at an upstream. */
export interface ChannelConfig {
  readonly name: string
  /** Name of the channel's preset. */
  readonly provider: string
  /** Folder of the recordings that the provider `replay` serves. Absent for the demo. */
  readonly folder?: string
  /** Formats of the upstream, best first. Never empty. */
  readonly formats: readonly ChannelFormat[]
  /** The upstream API key. Absent if the upstream needs none. Never log it. */
  readonly key?: string
  /** The cloud credential that replaces the key. Never log it. */
  readonly auth?: ChannelAuth
  /** One copy of the channel for each key of its pool. Absent if the channel has at most one key. */
  readonly keys?: readonly ChannelConfig[]
  /** Key of this copy. Set only in `keys`. */
  readonly pooled?: PooledKey
  readonly models: ChannelModels
  /** Channels with lower values are tried first. */
  readonly priority: number
  /** Channels of equal priority share requests in proportion to their weights. */
  readonly weight: number
  /** False if requests are spread regardless of their conversation. Otherwise a conversation stays on one channel. */
  readonly affinity?: false
  readonly timeout: Timeouts
  readonly tls?: UpstreamTls
  /** Proxy for connections to the upstream. Absent if they are direct. */
  readonly proxy?: ProxyConfig
  /** Maximum number of concurrent requests. */
  readonly maxConcurrent?: number
  /** Caller headers passed on to the upstream, in lower case. */
  readonly allowHeaders: readonly string[]
  /** Set if media URLs with private addresses are also passed to the upstream, instead of only public ones. */
  readonly anyAddress?: true
  /** `anthropic-beta` values passed on to the upstream (trap 79). */
  readonly betas: BetaPolicy
}

/** One key of a channel's pool. */
export interface PooledKey {
  /** Hash that identifies the key in stored records. Equal on every instance and after a restart. */
  readonly id: string
  /** Last characters of the key, by which operators recognise it. */
  readonly ending: string
  /** Maximum number of requests per minute with this key. */
  readonly rpm?: number
  /** Maximum number of tokens per minute, prompts and answers together. */
  readonly tpm?: number
  /** Key that identifies the account in stored objects and reasoning, if all keys of the pool share one account. */
  readonly accountKey?: string
}

export interface ChannelModels {
  /** Upstream model ids by public id. */
  readonly named: ReadonlyMap<string, string>
  /** Patterns for public ids, which are also the upstream's ids unless `renamed` has the pattern. `*` matches all. */
  readonly patterns: readonly string[]
  /** Upstream ids by pattern. A `*` in an id is replaced by the text that the pattern's `*` matches. */
  readonly renamed?: ReadonlyMap<string, string>
}

/** Certificates for connections to one upstream, in PEM. */
export interface UpstreamTls {
  /** Replaces the default certificate authorities. */
  readonly ca?: string
  /** The client certificate and its private key. Never log the key. */
  readonly cert?: string
  readonly key?: string
}

/** Proxies for outgoing connections, by the scheme of the destination. */
export interface ProxyConfig {
  /** URLs of the proxies. An empty string means no proxy. Never log them, because they may contain credentials. */
  readonly http: string
  readonly https: string
  /** Hosts that are reached without a proxy, in the syntax of `NO_PROXY`. */
  readonly except: string
}

/** Timeouts of a channel in milliseconds. */
export interface Timeouts {
  readonly connect: number
  /** Maximum time from the end of the request to the headers of a streamed answer. */
  readonly firstByte: number
  /**
   * Maximum time from the end of the request to the headers of an unstreamed answer, which arrive only when the answer
   * is complete. `firstByte` by default.
   */
  readonly whole?: number
  /** Maximum time between two chunks of an answer. */
  readonly idle: number
}
