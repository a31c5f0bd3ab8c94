import type { Format, JsonObject } from '../canonical/node.ts'

/** What an operator configured, complete: defaults filled in, presets applied, units made milliseconds and bytes. */
export interface Config {
  readonly server: ServerConfig
  readonly media: MediaConfig
  readonly responses: ResponsesConfig
  readonly thoughts: ThoughtsConfig
  readonly tasks: TasksConfig
  /** Where what outlives a process is kept. */
  readonly dataDir: string
  /** Address of a PostgreSQL database; not used yet, which `warnings` says. */
  readonly store?: string
  /** Address of a Redis; not used yet, either. */
  readonly redis?: string
  readonly groups: ReadonlyMap<string, GroupConfig>
  readonly keys: readonly KeyConfig[]
  readonly channels: readonly ChannelConfig[]
  readonly models: ReadonlyMap<string, ModelFacts>
}

export interface ServerConfig {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Where callers reach the gateway, without a slash at the end; absent where only their requests tell. */
  readonly publicUrl?: string
  /** How long a stream may be silent before the caller is shown that it lives, in milliseconds. */
  readonly heartbeat: number
  /** Whether a stream begins after one heartbeat although its upstream has said nothing; no other is tried then. */
  readonly earlyHead: boolean
  /** How long requests are still taken once the gateway is asked to stop, so that balancers hear of it, in milliseconds. */
  readonly drain: number
  /** How long running answers may go on once the gateway is asked to stop, in milliseconds. */
  readonly grace: number
  readonly limits: BodyLimits
  readonly sockets: SocketLimits
}

/** What one WebSocket connection may have. */
export interface SocketLimits {
  /** How long it may last, and lie idle, in milliseconds. */
  readonly lifetime: number
  readonly idle: number
  /** Turns that may wait while one is answered. */
  readonly queue: number
  /** Earlier turns it can go on from although they are stored nowhere, and characters of all of them. */
  readonly turns: number
  readonly memory: number
}

export interface BodyLimits {
  /** The largest body of a request, inflated, in bytes. */
  readonly body: number
  /** Limits of single formats' endpoints that differ from `body`, in bytes. */
  readonly byFormat: ReadonlyMap<Format, number>
  /** Bytes of bodies that are not whole yet, of one key and of all. */
  readonly waiting: { readonly key: number; readonly all: number }
  /** The same of large files of forms, which wait on disk. */
  readonly spooled: { readonly key: number; readonly all: number }
  /** WebSocket connections a key may have open. */
  readonly connections: number
}

/** Fetching of media that callers name by address, for upstreams that want bytes. */
export interface MediaConfig {
  readonly fetch: boolean
  /** Bytes a thing may have. */
  readonly limit: number
  /** Things one request may name, and bytes of all of them. */
  readonly count: number
  readonly total: number
  /** Milliseconds for all of it. */
  readonly timeout: number
  /** Addresses (`10.0.0.0/8`) that are fetched from although they are not public. */
  readonly allow: readonly string[]
}

/** Stored responses and conversations. */
export interface ResponsesConfig {
  /** Milliseconds for which they are kept; 0 keeps none. */
  readonly keep: number
  /** Responses a key may have in the making in the background. */
  readonly background: number
}

/** What models thought before calls, for callers who do not hand it back. */
export interface ThoughtsConfig {
  /** Milliseconds for which it is kept after its last use; 0 keeps none. */
  readonly keep: number
  /** Bytes of all of it, whosever it is. */
  readonly memory: number
}

/** Video tasks. */
export interface TasksConfig {
  /** Milliseconds between two looks of the background at unfinished tasks; 0 leaves them to callers that poll. */
  readonly poll: number
  /** Milliseconds for which finished videos are kept here; 0 leaves them to their upstreams. */
  readonly keep: number
  /** Bytes of all kept videos; the oldest are deleted first. */
  readonly limit: number
  /** The first segment of the paths of the vendor's own video endpoints. */
  readonly vendorPath: string
}

/** What the keys of a group may do. Limits are each key's own. */
export interface GroupConfig {
  readonly name: string
  /** Public model ids; `*` stands for any run of characters. */
  readonly models: readonly string[]
  /** Requests a minute. */
  readonly rpm?: number
  /** Tokens a minute, of prompt and answer. */
  readonly tpm?: number
  /** Whether a request that loses something on its way is answered all the same, or refused. */
  readonly onLoss: OnLoss
  /** Nobody declared it: it is what keys are in that name no group. */
  readonly implied?: true
}

export type OnLoss = 'show' | 'refuse'

/** A fixed key. Only its hash is held. */
export interface KeyConfig {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly hash: string
  readonly group: string
  /** Who owns what it leaves behind, where its hash does not say. */
  readonly owner?: string
}

/** A configured way to one upstream. */
export interface ChannelConfig {
  readonly name: string
  /** The preset it was made from. */
  readonly provider: string
  /** The formats the upstream speaks, best first; never empty. */
  readonly formats: readonly ChannelFormat[]
  /** The upstream's key; absent where it asks for none. Never log it. */
  readonly key?: string
  readonly models: ChannelModels
  /** Lower is tried first. */
  readonly priority: number
  /** Channels of one priority share requests in proportion to it. */
  readonly weight: number
  readonly timeout: Timeouts
  /** Requests that may be open at once. */
  readonly maxConcurrent?: number
  /** Names of callers' headers that are passed on to the upstream, in lower case. */
  readonly allowHeaders: readonly string[]
  /** Its upstream is told any address of media; otherwise only public ones. */
  readonly anyAddress?: true
  /** Which `anthropic-beta` words are passed on (trap 79). */
  readonly betas: 'allow' | 'none' | readonly string[]
}

/** How the upstream of a channel is addressed in one format. */
export interface ChannelFormat {
  readonly format: Format
  /** Without a slash at its end; a writer's path is appended to it. */
  readonly baseUrl: string
  readonly auth: AuthStyle
  /** Sent with every request, names in lower case; credentials are not among them. */
  readonly headers: { readonly [name: string]: string }
  /** Added to the query of every request. */
  readonly query: { readonly [name: string]: string }
  readonly dialect: JsonObject
}

/**
 * The header that carries the upstream's key; `bearer` and `token` are schemes of `authorization`, `jwt` is a bearer token
 * signed with the secret of a key `access:secret`.
 */
export type AuthStyle = 'bearer' | 'token' | 'x-api-key' | 'x-goog-api-key' | 'api-key' | 'xi-api-key' | 'jwt' | 'none'

export interface ChannelModels {
  /** Public id to the upstream's own. */
  readonly named: ReadonlyMap<string, string>
  /** Patterns over the ids the upstream lists itself, which are then public ids: `*` is all of them. */
  readonly patterns: readonly string[]
}

/** In milliseconds. */
export interface Timeouts {
  readonly connect: number
  /** From the end of the request to the head of a streamed answer. */
  readonly firstByte: number
  /** The same for a whole answer, whose head comes only when all of it is made. Absent, it is `firstByte`. */
  readonly whole?: number
  /** Between two pieces of an answer. */
  readonly idle: number
}

/** What an operator says of a model; the model lists show its name, description and limits. */
export interface ModelFacts {
  readonly id: string
  readonly name?: string
  readonly description?: string
  /** The format a client does best to ask it in. */
  readonly interface?: Format
  /** Tokens of context. */
  readonly context?: number
  readonly maxOutput?: number
  /** Flags of dialects that are true of this model at whatever channel; a channel's own go before them. */
  readonly dialect?: JsonObject
  /** Whether conversations with it may be put in short. */
  readonly compaction?: 'enabled' | 'disabled'
  readonly input: readonly string[]
  readonly output: readonly string[]
  /** US dollars for a million tokens. */
  readonly price?: {
    readonly input?: number
    readonly output?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
  }
}
