import type { Format } from '../canonical/node.ts'
import type { BetaPolicy } from '../formats/betas.ts'
import type { ChannelFormat } from '../formats/channel-format.ts'
import type { ModelFacts } from '../formats/model-facts.ts'

export type { AuthStyle } from '../formats/auth.ts'
export type { ChannelFormat, ModelFacts }

/** The operator's config, complete: defaults filled in, presets applied, units converted to milliseconds and bytes. */
export interface Config {
  readonly server: ServerConfig
  readonly media: MediaConfig
  readonly responses: ResponsesConfig
  readonly thoughts: ThoughtsConfig
  readonly realtime: RealtimeConfig
  readonly tasks: TasksConfig
  /** The directory of everything that outlives the process. */
  readonly dataDir: string
  readonly store: StoreConfig
  /** Address of a Redis that instances share limits, health and notices through. */
  readonly redis?: string
  readonly usage: UsageConfig
  readonly capture: CaptureConfig
  readonly metrics: MetricsConfig
  readonly traces?: TracesConfig
  /** Absent where there is no console. */
  readonly console?: ConsoleConfig
  readonly groups: ReadonlyMap<string, GroupConfig>
  readonly keys: readonly KeyConfig[]
  readonly channels: readonly ChannelConfig[]
  readonly models: ReadonlyMap<string, ModelFacts>
}

export interface ServerConfig {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Processes that answer requests. */
  readonly workers: number
  /** Files of certificate and key, in PEM; absent, the gateway speaks plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Addresses and ranges of proxies whose `x-forwarded-*` headers are believed. */
  readonly trustedProxies: readonly string[]
  /** The gateway's addresses for callers, without a slash at the end; none: that of their requests. */
  readonly publicUrls: readonly string[]
  /** Origins of pages that may call the gateway from browsers, or `*` for any. */
  readonly cors: readonly string[]
  /** How long a stream may be silent before the caller gets a heartbeat, in milliseconds. */
  readonly heartbeat: number
  /** Whether a stream begins after one heartbeat without an answer of the upstream; no other is tried then. */
  readonly earlyHead: boolean
  /** How long requests are accepted after the signal to stop, so that balancers notice, in milliseconds. */
  readonly drain: number
  /** How long running answers may take after the signal to stop, in milliseconds. */
  readonly grace: number
  readonly limits: BodyLimits
  readonly sockets: SocketLimits
}

/** The limits of one WebSocket connection. */
export interface SocketLimits {
  /** How long it may last, and how long it may be idle, in milliseconds. */
  readonly lifetime: number
  readonly idle: number
  /** Turns that may wait while another is answered. */
  readonly queue: number
  /** Earlier turns it can continue although they are not stored, and characters of all of them. */
  readonly turns: number
  readonly memory: number
}

export interface BodyLimits {
  /** The largest body of a request, inflated, in bytes. */
  readonly body: number
  /** Limits of single formats' endpoints that differ from `body`, in bytes. */
  readonly byFormat: ReadonlyMap<Format, number>
  /** Bytes of incomplete bodies, of one key and of all. */
  readonly waiting: { readonly key: number; readonly all: number }
  /** The same for large files of forms, which are held on disk. */
  readonly spooled: { readonly key: number; readonly all: number }
  /** WebSocket connections a key may have open at one process. */
  readonly connections: number
}

/** Fetching of media that callers give by address, for upstreams that need bytes. */
export interface MediaConfig {
  readonly fetch: boolean
  /** Bytes a file may have. */
  readonly limit: number
  /** Files one request may refer to, and bytes of all of them. */
  readonly count: number
  readonly total: number
  /** Milliseconds for all of them. */
  readonly timeout: number
  /** Addresses (`10.0.0.0/8`) that are fetched from although they are not public. */
  readonly allow: readonly string[]
}

/** Stored responses and conversations. */
export interface ResponsesConfig {
  /** Milliseconds for which they are stored; 0 stores none. */
  readonly keep: number
  /** Background responses a key may have unfinished, at all processes. */
  readonly background: number
}

/** What models thought before calls, for callers that do not send it back. */
export interface ThoughtsConfig {
  /** Milliseconds for which it is kept after its last use; 0 keeps none. */
  readonly keep: number
  /** Bytes of all of it, for all keys. */
  readonly memory: number
}

/** Realtime voice sessions. */
export interface RealtimeConfig {
  /** How long a session may last, and lie idle, in milliseconds. */
  readonly lifetime: number
  readonly idle: number
  /** Bytes of one message, either way. */
  readonly message: number
  /** Bytes that may wait for a caller who reads slowly. */
  readonly buffer: number
  /** Sessions that may be open: of one key at all processes, of all keys at one process. */
  readonly sessions: { readonly key: number; readonly all: number }
  /** Keys are accepted as the WebSocket subprotocol `openai-insecure-api-key.KEY`, which browsers use. */
  readonly browserKeys: boolean
  /** The models between which a conversation is put to make a session of it; absent where that is not done. */
  readonly cascade?: { readonly transcription: string; readonly speech: string; readonly voice?: string }
}

/** Video tasks. */
export interface TasksConfig {
  /** Milliseconds between two background polls of unfinished tasks; 0 leaves them to callers that poll. */
  readonly poll: number
  /** Milliseconds for which finished videos are kept here; 0 leaves them to their upstreams. */
  readonly keep: number
  /** Bytes of all kept videos; the oldest are deleted first. */
  readonly limit: number
  /** The first segment of the paths of the vendor's own video endpoints. */
  readonly vendorPath: string
}

/** Where everything is stored that outlives a request. */
export type StoreConfig =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string }

/** One row for each request, without its content. */
export interface UsageConfig {
  /** Milliseconds for which rows are kept; 0 keeps none. Sums by hour and day are kept for longer. */
  readonly keep: number
}

/** Requests of keys that are captured whole. */
export interface CaptureConfig {
  /** Milliseconds for which they are kept; 0 captures none. */
  readonly keep: number
  /** Bytes of all of them, as they are stored; the oldest are deleted first. */
  readonly limit: number
}

/** Who may read `/metrics`: by default administrators. */
export interface MetricsConfig {
  /** An address of its own, without authentication. */
  readonly listen?: { readonly host: string; readonly port: number }
  /** SHA-256 of the key that reads them at the gateway's own address, in hex. */
  readonly keyHash?: string
}

/** Where traces are sent (OTLP over HTTP). */
export interface TracesConfig {
  /** The address of the collector, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly otlp: string
  readonly headers: { readonly [name: string]: string }
  /** The share of requests that is traced where the caller has not decided. */
  readonly sample: number
}

/** Who may sign in to the console, and for how long; in milliseconds. */
export interface ConsoleConfig {
  /** How long a session lasts, and how long it may be idle. */
  readonly session: number
  readonly idle: number
  readonly oidc?: OidcConfig
}

/** A provider of OpenID Connect that users of the console sign in at. */
export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  /** Never log it. */
  readonly clientSecret: string
  /** What the button is labelled with. */
  readonly name: string
  readonly scopes: readonly string[]
  /** The claim that has a user's roles, or groups; a path of names where it is nested. */
  readonly claim: string
  /** Values of the claim that make an admin or a viewer. */
  readonly roles: { readonly admin: readonly string[]; readonly viewer: readonly string[] }
}

/** What a key may spend. */
export interface Budget {
  /** US dollars a day and a month (UTC). */
  readonly day?: number
  readonly month?: number
  /** What becomes of requests to models whose price is unknown; `allow` by default: they cost the budget nothing. */
  readonly unknown?: 'allow' | 'refuse'
}

/** Limits of each key. Where key and group have the same one, the smaller counts. */
export interface LimitSettings {
  /** Requests a minute. */
  readonly rpm?: number
  /** Tokens a minute, of prompt and answer. */
  readonly tpm?: number
  /** Requests and sessions at once. */
  readonly concurrent?: number
  readonly budget?: Budget
}

/** The permissions of the keys of a group. Limits apply to each key separately. */
export interface GroupConfig {
  readonly name: string
  /** Public model ids; `*` stands for any run of characters. */
  readonly models: readonly string[]
  /** Names of the formats whose endpoints they may use; absent: all. */
  readonly doors?: readonly Format[]
  /** Names of the channels that may answer them, with `*`; absent: all. */
  readonly channels?: readonly string[]
  readonly limits: LimitSettings
  /** Whether a request that loses something in translation is answered or refused. */
  readonly onLoss: OnLoss
  /** Not declared: the default group of keys without one. */
  readonly implied?: true
}

export type OnLoss = 'show' | 'refuse'

/** What a key may do within its group; an absent field narrows nothing. */
export interface KeySettings {
  readonly note?: string
  readonly models?: readonly string[]
  readonly doors?: readonly Format[]
  readonly limits: LimitSettings
  readonly onLoss?: OnLoss
  readonly enabled: boolean
  /** Unix time in milliseconds. */
  readonly expiresAt?: number
  /** Until when its requests are captured; Unix time in milliseconds. */
  readonly captureUntil?: number
}

/** A key of the config. Only its hash is held. */
export interface KeyConfig extends KeySettings {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly hash: string
  readonly group: string
}

/** A configured upstream account. */
export interface ChannelConfig {
  readonly name: string
  /** The preset it was made from. */
  readonly provider: string
  /** The upstream's formats, best first; never empty. */
  readonly formats: readonly ChannelFormat[]
  /** The upstream's key; absent where it needs none. Never log it. */
  readonly key?: string
  readonly models: ChannelModels
  /** Lower is tried first. */
  readonly priority: number
  /** Channels of one priority share requests in proportion to it. */
  readonly weight: number
  readonly timeout: Timeouts
  /** Requests that may be in flight at once. */
  readonly maxConcurrent?: number
  /** Names of callers' headers that are passed on to the upstream, in lower case. */
  readonly allowHeaders: readonly string[]
  /** Its upstream gets any address of media; otherwise only public ones. */
  readonly anyAddress?: true
  /** The `anthropic-beta` values that are passed on (trap 79). */
  readonly betas: BetaPolicy
}

export interface ChannelModels {
  /** Public id to the upstream's own. */
  readonly named: ReadonlyMap<string, string>
  /** Patterns over the ids the upstream lists, which are then public ids: `*` matches all of them. */
  readonly patterns: readonly string[]
}

/** In milliseconds. */
export interface Timeouts {
  readonly connect: number
  /** From the end of the request to the head of a streamed answer. */
  readonly firstByte: number
  /** The same for a whole answer, whose head comes only when all of it is made. `firstByte` by default. */
  readonly whole?: number
  /** Between two chunks of an answer. */
  readonly idle: number
}
