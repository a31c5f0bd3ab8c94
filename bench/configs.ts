import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { hashOf } from '../src/config/hash.ts'
import { openSqlite } from '../src/store/store.ts'
import { UPSTREAMS } from './formats.ts'

/** The key of every caller of the bench. */
export const KEY = 'il-bench-0123456789abcdef0123456789'
/** The stub's kinds of answers. A model here is named by format and mode: `chat-burst-500`. */
const MODES = ['whole', 'one', 'few', 'burst-100', 'burst-500', 'once-500', 'paced-50', 'paced-2s', 'open', 'flood']
/** Formats whose paths have the version, instead of the base address. */
const VERSIONED = new Set(['messages', 'contents'])
const FORMATS = Object.keys(UPSTREAMS)
const MODELS = FORMATS.flatMap(format => MODES.map(mode => `${format}-${mode}`))

/** A gateway with a key of the config, limits out of reach, usage and log. */
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

/** Every limit there is, out of reach. */
const LIMITS = { rpm: 1e9, tpm: 1e12, concurrent: 10_000, budget: { day: 1e6, month: 1e6 } }
const PRICE = { input: 3, output: 15 }

/** The gateways that are measured, and their configs. */
export const CONFIGS = {
  gateway: written => written,
  /** Without limits, and no usage is recorded. */
  plain: written => ({ ...written, groups: { default: { models: ['*'] } }, usage: { keep: 0 } }),
  /** With a stored key, every kind of limit, prices, usage and metrics. */
  limited: ({ keys: _, ...written }) => ({
    ...written,
    groups: { default: { models: ['*'], ...LIMITS } },
    models: Object.fromEntries(MODELS.map(model => [model, { price: PRICE }])),
    metrics: { key: 'metrics-of-the-bench' },
  }),
} as const satisfies { readonly [name: string]: (written: Written) => object }

export type GatewayName = keyof typeof CONFIGS

/** Stores the key in a gateway's folder, as `interlingua keys create` would. */
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
