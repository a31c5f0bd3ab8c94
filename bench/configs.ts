import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { hashOf } from '../src/config/hash.ts'
import { openSqlite } from '../src/store/store.ts'
import { UPSTREAMS } from './formats.ts'

/** Key of every caller of the bench. */
export const KEY = 'il-bench-0123456789abcdef0123456789'
/** Kinds of answers that the stub gives. A model name joins format and mode, as in `chat-burst-500`. */
const MODES = ['whole', 'one', 'few', 'burst-100', 'burst-500', 'once-500', 'paced-50', 'paced-2s', 'open', 'flood']
/** Formats whose request paths include the version. In other formats the base address includes it. */
const VERSIONED = new Set(['messages', 'contents'])
const FORMATS = Object.keys(UPSTREAMS)
const MODELS = FORMATS.flatMap(format => MODES.map(mode => `${format}-${mode}`))

/** A gateway with a key from the config, limits that no run reaches, usage and a log. */
export const configOf = (upstream: string, sessions: string, port: number, dataDir: string) => ({
  server: { host: '127.0.0.1', port, drain: '0s', grace: '1s' },
  data_dir: dataDir,
  groups: { default: { models: ['*'], rpm: 1e9, tpm: 1e12 } },
  keys: [{ name: 'bench', key: KEY, group: 'default' }],
  realtime: { sessions: { key: 10_000, all: 10_000 } },
  channels: [
    ...FORMATS.flatMap(format =>
      MODES.map(mode => ({
        name: `${format}-${mode}`,
        provider: 'custom',
        formats: [format],
        base_url: `${upstream}/${mode}${VERSIONED.has(format) ? '' : '/v1'}`,
        key: 'upstream-key',
        models: { [`${format}-${mode}`]: 'upstream-model' },
      })),
    ),
    {
      ...{ name: 'realtime', provider: 'custom', formats: ['realtime'], base_url: `${sessions}/echo/v1` },
      ...{ key: 'upstream-key', models: { 'realtime-echo': 'upstream-model' } },
    },
  ],
})

type Written = ReturnType<typeof configOf>

/** One limit of every kind, each too high to be reached. */
const LIMITS = { rpm: 1e9, tpm: 1e12, concurrent: 10_000, budget: { day: 1e6, month: 1e6 } }
const PRICE = { input: 3, output: 15 }

const AWS_KEYS = { type: 'aws-keys', access_key_id: 'AKIDBENCH', secret_access_key: 'secret-of-the-bench' }
const POOL = ['one', 'two', 'three'].map(key => ({ key: `upstream-key-${key}` }))

/** Channels with pools, affinity and orders, whose models no request of the bench names. */
const UNUSED = ['left', 'right'].map(name => ({
  ...{ name, provider: 'custom', formats: ['chat', 'messages'], base_url: 'http://127.0.0.1:9/v1' },
  ...{ keys: POOL, models: { unused: 'upstream-model', other: 'upstream-model' } },
}))

/** A channel of a cloud that takes signed requests and bearers. It answers the model of the cells with whole answers. */
const cloudChannel = ({ channels }: Written, credential: object) => {
  const { name, base_url } = channels.find(one => one.name === 'messages-whole')!
  return {
    ...{ name, provider: 'bedrock', region: 'eu-central-1', base_url, ...credential },
    models: { [name]: 'anthropic.claude-opus-4-8' },
  }
}

/** The measured gateways with their configs. */
export const CONFIGS = {
  gateway: written => written,
  /** No limits, and no recorded usage. */
  plain: written => ({ ...written, groups: { default: { models: ['*'] } }, usage: { keep: 0 } }),
  /** A key whose requests are recorded. */
  recorded: written => ({
    ...written,
    keys: written.keys.map(key => ({ ...key, record: join(written.data_dir, 'recordings') })),
  }),
  /** A stored key, limits of every kind, prices, usage and metrics. */
  limited: ({ keys: _, ...written }) => ({
    ...written,
    groups: { default: { models: ['*'], ...LIMITS } },
    models: Object.fromEntries(MODELS.map(model => [model, { price: PRICE }])),
    metrics: { key: 'metrics-of-the-bench' },
  }),
  /** Pools of keys, affinity, fallbacks and an order, none of which concerns the requests. */
  unused: written => ({
    ...written,
    channels: [...written.channels, ...UNUSED],
    models: { unused: { fallbacks: ['other'], order: 'latency' } },
  }),
  /** A cloud with a key as a bearer, then with signed requests. */
  bearer: written => ({ ...written, channels: [cloudChannel(written, { key: 'upstream-key' })] }),
  signed: written => ({ ...written, channels: [cloudChannel(written, { auth: AWS_KEYS })] }),
} as const satisfies { readonly [name: string]: (written: Written) => object }

export type GatewayName = keyof typeof CONFIGS

/** Stores the key in a gateway's folder, as `interlingua keys create` does. */
export async function storeKey(dataDir: string): Promise<void> {
  mkdirSync(dataDir)
  const { access, close } = await openSqlite(join(dataDir, 'interlingua.sqlite'))
  const createdAt = Date.now()
  await access.createKey({
    ...{ id: hashOf(KEY).slice(0, 32), name: 'bench', group: 'default', limits: {}, enabled: true, createdAt },
    secrets: [{ hash: hashOf(KEY), prefix: KEY.slice(0, 4), lastFour: KEY.slice(-4), createdAt }],
  })
  await close()
}
