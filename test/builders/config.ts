import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../../src/canonical/node.ts'
import type { ChannelConfig, Config, GroupConfig, KeyConfig, LimitSettings } from '../../src/config/index.ts'
import { storeAt } from './engines.ts'

export const KEY = 'caller-key-of-the-tests'
export const OTHER_KEY = 'another-caller-of-the-tests'

const hash = (key: string): string => createHash('sha256').update(key).digest('hex')

export const configOf = (
  channels: readonly ChannelConfig[],
  {
    heartbeat = 15_000,
    earlyHead = true,
    body = 32 * 1024 * 1024,
    group = {},
    allow,
    keep,
    sockets = SOCKETS,
    limits = {},
    config = {},
  }: TestServerOptions = {},
): Config => ({
  server: {
    host: '127.0.0.1',
    port: 0,
    ...ALONE,
    heartbeat,
    earlyHead,
    drain: 0,
    grace: 2000,
    limits: { ...LIMITS, body, ...limits },
    sockets,
  },
  media: { fetch: allow !== undefined, limit: 2 ** 20, count: 20, total: 2 ** 21, timeout: 20_000, allow: allow ?? [] },
  responses: { retention: keep === undefined ? 0 : 3_600_000, background: 2 },
  reasoningMemory: { retention: 3_600_000, memory: 2 ** 20 },
  tasks: { poll: 0, retention: 0, limit: 2 ** 30, vendorPath: 'videovendor' },
  realtime: REALTIME,
  dataDir: keep ?? EMPTY,
  store: keep === undefined ? { engine: 'sqlite', path: join(EMPTY, 'interlingua.sqlite') } : storeAt(keep),
  usage: { retention: 0 },
  capture: { retention: 86_400_000, limit: 2 ** 28 },
  metrics: {},
  console: CONSOLE,
  groups: new Map([['default', groupOf(group)]]),
  keys: [keyOf(KEY, 'dev')],
  channels,
  channelsFrom: 'config',
  models: new Map(),
  credentialFiles: [],
  ...config,
})

/** The config of a caller's key in the default group. */
export const keyOf = (key: string, name: string): KeyConfig => ({
  ...{ name, hash: hash(key), group: 'default', limits: {}, enabled: true },
})

/** Folder of gateways that store nothing on purpose. It belongs to this process and exists as long as the process. */
const EMPTY = mkdtempSync(join(tmpdir(), 'interlingua-tests-'))
process.once('exit', () => rmSync(EMPTY, { recursive: true, force: true }))

const groupOf = ({ rpm, tpm, concurrent, budget, limits = {}, ...group }: GroupFields): GroupConfig => ({
  ...{ name: 'default', models: ['*'], onLoss: 'show' },
  limits: defined({ rpm, tpm, concurrent, budget, ...limits }),
  ...group,
})

/** Fields of a group. Its limits may be beside the others. */
type GroupFields = Partial<GroupConfig> & LimitSettings

export const LIMITS = {
  byFormat: new Map<string, number>(),
  waiting: { key: 2 ** 28, all: 2 ** 30 },
  spooled: { key: 2 ** 33, all: 2 ** 35 },
  connections: 1000,
}

/** Settings of a gateway with one process and no proxy. */
export const ALONE = { workers: 1, trustedProxies: [], publicUrls: [], cors: [], keepAlive: 75_000 }

export const REALTIME: Config['realtime'] = {
  lifetime: 60_000,
  idle: 60_000,
  message: 2 ** 20,
  buffer: 2 ** 22,
  sessions: { key: 100, all: 1000 },
  browserKeys: false,
}

/** How long users of the console stay signed in, in milliseconds. */
export const CONSOLE = { session: 3_600_000, idle: 600_000 }

export const SOCKETS = { lifetime: 60_000, idle: 60_000, queue: 16, turns: 64, memory: 2 ** 20 }

export interface TestServerOptions {
  readonly sockets?: Config['server']['sockets']
  readonly heartbeat?: number
  readonly earlyHead?: boolean
  readonly body?: number
  readonly limits?: Partial<Config['server']['limits']>
  readonly group?: GroupFields
  /** Private address ranges from which media are fetched. If absent, no media are fetched. */
  readonly allow?: readonly string[]
  /** Directory in which responses are stored. If absent, none are stored. */
  readonly keep?: string
  /** Fields of the config that replace all others. */
  readonly config?: Partial<Config>
}

type FormatFields = Partial<ChannelConfig['formats'][number]>

/** Fields of a channel and of the one format it has. */
export type ChannelFields = Partial<ChannelConfig> & Omit<FormatFields, 'auth'>

/** Returns a complete channel config with defaults. */
export const channelAt = (
  address: string,
  { format = 'chat', baseUrl = `${address}/v1`, headers = {}, query = {}, dialect = {}, ...fields }: ChannelFields = {},
): ChannelConfig => ({
  name: 'secret-channel',
  provider: 'custom',
  formats: [{ format, baseUrl, auth: 'bearer', headers, query, dialect }],
  key: 'upstream-key-1234',
  models: { named: new Map([['m', 'm']]), patterns: [] },
  priority: 0,
  weight: 1,
  timeout: { connect: 10_000, firstByte: 20_000, idle: 20_000 },
  allowHeaders: [],
  betas: 'allow',
  ...fields,
})

/** Address ranges from which tests may fetch media. */
export const LOOPBACK = ['127.0.0.0/8']
