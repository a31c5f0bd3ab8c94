import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import type { Path } from '../canonical/loss.ts'
import { defined, type JsonObject } from '../canonical/node.ts'
import { withoutTrailingSlashes } from '../canonical/text.ts'
import { CALLER_FORMATS, FORMAT_FACTS, PRESETS } from '../formats/index.ts'
import { channelWithDefaults, type WrittenChannel } from './channel.ts'
import { environmentChannels, environmentOrigin } from './environment.ts'
import { fallbacksOf } from './fallbacks.ts'
import { type FaultAt, suggestion } from './faults.ts'
import { providerCalled } from './foreign-names.ts'
import { hashOf } from './hash.ts'
import type { WrittenConfig } from './index.ts'
import { withKeyPool } from './key-pool.ts'
import { credentialFilesOf } from './named-files.ts'
import { environmentProxy, namedProxy } from './proxy.ts'
import { storeAt } from './store-address.ts'
import type {
  ChannelConfig,
  Config,
  ConsoleConfig,
  GroupConfig,
  KeyConfig,
  LimitSettings,
  MediaConfig,
  MetricsConfig,
  ModelFacts,
  OidcConfig,
  ProxyConfig,
  RealtimeConfig,
  ServerConfig,
  StoreConfig,
  TracesConfig,
} from './types.ts'
import type { Env } from './variable.ts'
import { workersOf } from './workers.ts'

export interface ConfigWithFaults {
  readonly config: Config
  readonly faults: readonly { readonly path: Path; readonly message: string }[]
}

const DATA_DIR = './data'
const PORT = 4747

/** Applies all defaults and presets to a config, and checks references between its fields. */
export function withDefaults(written: WrittenConfig, env: Env): ConfigWithFaults {
  const faults: { path: Path; message: string }[] = []
  const fault: FaultAt = (path, message) => faults.push({ path, message })
  const groups = groupsOf(written, fault)
  const server = serverOf(written.server, fault)
  const proxy = written.proxy === undefined ? environmentProxy(env, fault) : namedProxy(written.proxy)
  const metrics = metricsOf(written.metrics)
  if (metrics.listen !== undefined && conflicts(metrics.listen, server))
    fault(
      ['metrics', 'port'],
      "is also the gateway's port; to serve metrics there, set `metrics: { key: … }` without a port",
    )
  const config: Config = {
    server,
    media: mediaOf(written.media, proxy),
    responses: {
      retention: written.responses?.keep ?? 30 * 86_400_000,
      background: written.responses?.background ?? 20,
    },
    tasks: {
      poll: written.tasks?.poll ?? 10_000,
      retention: written.tasks?.keep ?? 0,
      limit: written.tasks?.limit ?? 20 * 2 ** 30,
      vendorPath: written.tasks?.vendor_path ?? 'videovendor',
    },
    reasoningMemory: {
      retention: written.thoughts?.keep ?? 2 * 3_600_000,
      memory: written.thoughts?.memory ?? 64 * 2 ** 20,
    },
    realtime: realtimeOf(written.realtime),
    dataDir: written.data_dir ?? DATA_DIR,
    store: storeOf(written),
    ...defined({
      proxy,
      secrets: written.encryption && { key: written.encryption.key, previous: written.encryption.previous ?? [] },
      redis: written.redis,
      traces: tracesOf(written.traces, proxy),
      console: consoleOf(written.console, proxy),
    }),
    usage: { retention: written.usage?.keep ?? 90 * 86_400_000 },
    capture: { retention: written.capture?.keep ?? 86_400_000, limit: written.capture?.limit ?? 256 * 2 ** 20 },
    metrics,
    groups,
    keys: keysOf(written, groups, fault),
    channels: channelsOf(written.channels, env, proxy, fault),
    channelsFrom: written.channels === undefined ? environmentOrigin(env) : 'config',
    models: new Map(
      Object.entries(written.models ?? {}).map(([id, facts]) => [
        id,
        factsOf(id, facts, (path, message) => fault(['models', id, ...path], message)),
      ]),
    ),
    credentialFiles: credentialFilesOf(written.channels, env),
  }
  return { config, faults }
}

function serverOf(written: WrittenConfig['server'], fault: FaultAt): ServerConfig {
  const byEndpoint = Object.entries(written?.limits?.doors ?? {})
  for (const [format] of byEndpoint)
    if (!FORMAT_FACTS.has(format))
      fault(['server', 'limits', 'doors', format], `unknown format${suggestion(format, FORMAT_FACTS.keys())}`)
  return {
    host: written?.host ?? '127.0.0.1',
    port: written?.port ?? PORT,
    workers: workersOf(written?.workers),
    ...defined({ tls: written?.tls }),
    trustedProxies: written?.trusted_proxies ?? [],
    publicUrls: [written?.public_url ?? []].flat().map(url => withoutTrailingSlashes(url)),
    cors: written?.cors ?? [],
    heartbeat: written?.heartbeat ?? 15_000,
    earlyHead: written?.early_head ?? true,
    ...defined({ sessionHeaders: written?.session_headers?.map(name => name.toLowerCase()) }),
    keepAlive: written?.keep_alive ?? 75_000,
    drain: written?.drain ?? 5_000,
    grace: written?.grace ?? 30_000,
    limits: {
      body: written?.limits?.json_body ?? 32 * 2 ** 20,
      byFormat: new Map(byEndpoint),
      waiting: { key: 256 * 2 ** 20, all: 2 ** 30, ...defined(written?.limits?.waiting ?? {}) },
      spooled: { key: 8 * 2 ** 30, all: 32 * 2 ** 30, ...defined(written?.limits?.spooled ?? {}) },
      connections: written?.limits?.connections ?? 1000,
    },
    sockets: {
      lifetime: written?.sockets?.lifetime ?? 3_600_000,
      idle: written?.sockets?.idle ?? 1_800_000,
      queue: written?.sockets?.queue ?? 16,
      turns: written?.sockets?.turns ?? 1024,
      memory: written?.sockets?.memory ?? 16 * 2 ** 20,
    },
  }
}

const storeOf = ({ store, data_dir = DATA_DIR }: WrittenConfig): StoreConfig =>
  storeAt(store ?? `sqlite:${join(data_dir, 'interlingua.sqlite')}`)

const metricsOf = (written: WrittenConfig['metrics']): MetricsConfig =>
  defined({
    listen: written?.port === undefined ? undefined : { host: written.host ?? '127.0.0.1', port: written.port },
    keyHash: written?.key === undefined ? undefined : hashOf(written.key),
  })

interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Returns true if listening on both addresses is certain to conflict. Port 0 means any free port and never conflicts.
 */
const conflicts = (one: Address, other: Address): boolean =>
  one.port === other.port &&
  one.port !== 0 &&
  (one.host === other.host || coversHost(one.host, other.host) || coversHost(other.host, one.host))

/** Returns true if a wildcard host (`::` or `0.0.0.0`) covers another host. */
const coversHost = (all: string, host: string): boolean => all === '::' || (all === '0.0.0.0' && isIPv4(host))

const tracesOf = (written: WrittenConfig['traces'], proxy: ProxyConfig | undefined): TracesConfig | undefined =>
  written && {
    ...{ otlp: written.otlp, headers: written.headers ?? {}, sample: written.sample ?? 1 },
    ...defined({ proxy }),
  }

const consoleOf = (written: WrittenConfig['console'], proxy: ProxyConfig | undefined): ConsoleConfig | undefined =>
  written === false
    ? undefined
    : {
        session: written?.session ?? 12 * 3_600_000,
        idle: written?.idle ?? 3_600_000,
        ...defined({ oidc: oidcOf(written?.oidc, proxy) }),
      }

function oidcOf(
  written: NonNullable<Exclude<WrittenConfig['console'], false>>['oidc'],
  proxy: ProxyConfig | undefined,
): OidcConfig | undefined {
  if (written === undefined) return undefined
  const { issuer, client_id: clientId, client_secret: clientSecret, name, scopes, claim, roles } = written
  return {
    ...{ issuer, clientId, clientSecret, name: name ?? new URL(issuer).host },
    ...{ scopes: scopes ?? ['openid', 'profile', 'email'], claim: claim ?? 'groups' },
    roles: { admin: roles.admin ?? [], viewer: roles.viewer ?? [] },
    ...defined({ proxy }),
  }
}

const mediaOf = (written: WrittenConfig['media'], proxy: ProxyConfig | undefined): MediaConfig => ({
  fetch: written?.fetch ?? true,
  limit: written?.limit ?? 20 * 2 ** 20,
  count: written?.count ?? 100,
  total: written?.total ?? 32 * 2 ** 20,
  timeout: written?.timeout ?? 20_000,
  allow: written?.allow ?? [],
  ...defined({ proxy }),
})

/**
 * Returns the settings of voice sessions. The default message size is 20 MiB, because OpenAI allows 15 MiB of audio per
 * message, which is 20 MiB in base64.
 */
const realtimeOf = (written: WrittenConfig['realtime']): RealtimeConfig => ({
  lifetime: written?.lifetime ?? 3_600_000,
  idle: written?.idle ?? 600_000,
  message: written?.message ?? 20 * 2 ** 20,
  buffer: written?.buffer ?? 4 * 2 ** 20,
  sessions: { key: 100, all: 1000, ...defined(written?.sessions ?? {}) },
  browserKeys: written?.browser_keys ?? false,
  ...(written?.cascade === undefined
    ? {}
    : {
        cascade: {
          transcription: written.cascade.transcription,
          speech: written.cascade.speech,
          ...defined({ voice: written.cascade.voice }),
        },
      }),
})

/** Builds the groups. `default` always exists. Unless declared, it allows all models and has no limits. */
function groupsOf(written: WrittenConfig, fault: FaultAt): ReadonlyMap<string, GroupConfig> {
  const groups = new Map<string, GroupConfig>()
  const declared = written.groups ?? {}
  const implied = Object.hasOwn(declared, 'default') ? undefined : (true as const)
  for (const [name, group] of Object.entries({ default: {}, ...declared }) as [string, WrittenGroup][]) {
    checkFormats(group.doors, ['groups', name], fault)
    groups.set(name, {
      name,
      models: group.models ?? ['*'],
      limits: limitsOf(group),
      onLoss: group.on_loss ?? 'show',
      ...defined({
        doors: group.doors,
        channels: group.channels,
        fallbacks: fallbacksOf(group.fallbacks, undefined, (path, message) =>
          fault(['groups', name, 'fallbacks', ...path], message),
        ),
        implied: name === 'default' ? implied : undefined,
      }),
    })
  }
  return groups
}

const limitsOf = ({ rpm, tpm, concurrent, budget }: WrittenLimits): LimitSettings =>
  defined({
    ...{ rpm, tpm, concurrent },
    budget:
      budget === undefined ? undefined : defined({ day: budget.day, month: budget.month, unknown: budget.unknown }),
  })

type WrittenLimits = Pick<WrittenGroup, 'rpm' | 'tpm' | 'concurrent' | 'budget'>

/** Checks the format names in `doors`, the list of formats whose endpoints may be used. */
function checkFormats(formats: readonly string[] | undefined, at: Path, fault: FaultAt): void {
  for (const [index, format] of (formats ?? []).entries())
    if (!CALLER_FORMATS.has(format))
      fault([...at, 'doors', index], `unknown format${suggestion(format, CALLER_FORMATS.keys())}`)
}

type WrittenGroup = NonNullable<WrittenConfig['groups']>[string]

function keysOf(written: WrittenConfig, groups: ReadonlyMap<string, unknown>, fault: FaultAt): KeyConfig[] {
  const seen = new Map<string, number>()
  return (written.keys ?? []).map(({ name, key, group = 'default', ...settings }, index) => {
    checkFormats(settings.doors, ['keys', index], fault)
    if (!groups.has(group)) fault(['keys', index, 'group'], `no group "${group}"${suggestion(group, groups.keys())}`)
    checkUnique(name, seen, index, () => fault(['keys', index, 'name'], `another key is named "${name}"`))
    const hash = hashOf(key)
    checkUnique(hash, seen, index, () => fault(['keys', index, 'key'], 'another entry has the same key'))
    return {
      ...{ name, hash, group, limits: limitsOf(settings), enabled: settings.enabled ?? true },
      ...defined({
        ...{ note: settings.note, models: settings.models, doors: settings.doors },
        ...{ onLoss: settings.on_loss, expiresAt: settings.expires, captureUntil: settings.capture_until },
        record: typeof settings.record === 'string' ? { folder: settings.record } : recordOf(settings.record),
      }),
    }
  })
}

const recordOf = (
  written: { folder: string; redact?: string[] | undefined; ignore?: string[] | undefined } | undefined,
) => written && { folder: written.folder, ...defined({ redact: written.redact, ignore: written.ignore }) }

function channelsOf(
  written: readonly WrittenChannel[] | undefined,
  env: Env,
  proxy: ProxyConfig | undefined,
  fault: FaultAt,
): ChannelConfig[] {
  if (written === undefined) return environmentChannels(env).map(channel => ({ ...channel, ...defined({ proxy }) }))
  const seen = new Map<string, number>()
  return written.flatMap((channel, index) => {
    const at = (path: Path, message: string): void => fault(['channels', index, ...path], message)
    checkUnique(channel.name, seen, index, () => at(['name'], `another channel is named "${channel.name}"`))
    return channelOf(channel, env, proxy, at) ?? []
  })
}

/**
 * Returns a channel with all defaults, or undefined if its provider is unknown. Paths of reported faults are relative
 * to the channel.
 *
 * @param proxy the proxy of channels that configure none.
 */
export function channelOf(
  channel: WrittenChannel,
  env: Env,
  proxy: ProxyConfig | undefined,
  fault: FaultAt,
): ChannelConfig | undefined {
  const preset = PRESETS.get(channel.provider)
  const channelProxy = channel.proxy === undefined ? proxy : namedProxy(channel.proxy)
  if (preset !== undefined)
    return withKeyPool(
      { ...channelWithDefaults(channel, preset, env, fault), ...defined({ proxy: channelProxy }) },
      channel,
      fault,
    )
  fault(['provider'], `unknown provider "${channel.provider}"${providerHint(channel.provider)}`)
  return undefined
}

function providerHint(name: string): string {
  const called = providerCalled(name)
  return called === undefined ? suggestion(name, PRESETS.keys()) : `; did you mean "${called}"?`
}

function checkUnique(value: string, seen: Map<string, number>, index: number, onDuplicate: () => void): void {
  if (seen.has(value)) onDuplicate()
  else seen.set(value, index)
}

type WrittenFacts = NonNullable<WrittenConfig['models']>[string]

/** Returns the facts about a model. Paths of reported faults are relative to the model. */
export function factsOf(id: string, facts: WrittenFacts, fault: FaultAt): ModelFacts {
  const { price } = facts
  return {
    id,
    ...defined({
      name: facts.name,
      description: facts.description,
      interface: facts.interface,
      context: facts.context,
      maxOutput: facts.max_output,
      dialect: facts.dialect as JsonObject | undefined,
      compaction: facts.compaction,
      reasoning: facts.reasoning,
      tools: facts.tools,
      order: facts.order,
      fallbacks: fallbacksOf(facts.fallbacks, id, (path, message) => fault(['fallbacks', ...path], message)),
      price:
        price === undefined
          ? undefined
          : defined({
              input: price.input,
              output: price.output,
              cacheRead: price.cache_read,
              cacheWrite: price.cache_write,
              ...{ search: price.search, minute: price.minute, tiers: price.tiers },
              ...{ image: price.image, characters: price.characters, videoSecond: price.video_second },
              sessionMinute: price.session_minute,
            }),
    }),
    input: facts.input ?? ['text'],
    output: facts.output ?? ['text'],
  }
}
