import {
  type AccountPrices,
  type AccountTable,
  ratesIn,
  type TextKind,
  type TextPrices,
} from '../src/upstreams/catalogue/account-prices.ts'
import type { Rates } from '../src/upstreams/catalogue/rates.ts'
import { listedNames } from '../src/upstreams/catalogue/table.ts'
import type { TableRow } from './catalogue-rows.ts'

/** An account of LiteLLM's table, and the preset by which the price package is asked for its prices. */
interface Account {
  readonly name: string
  readonly preset: string
  /** Factor on the price of the prompt for tokens written to a cache, where the table lacks their price. */
  readonly cacheWrites?: number
  /** True if a price of the table replaces another price of the package. By default it only adds missing models. */
  readonly replaces?: (model: string) => boolean
}

const always = (): boolean => true
const maker = (name: string): Account => ({ name, preset: name, replaces: always })
const host = (name: string): Account => ({ name, preset: name })

/**
 * Matches a model of Bedrock with a region, because the package knows that Claude costs more without one than worldwide,
 * and Titan's embeddings, of which the package lists the first version for all.
 */
const UNKNOWN_AT_BEDROCK = /^(?:(?:us-gov|us|eu|apac|au|ca|jp|in|global)\.|amazon\.titan-embed)/

const BEDROCK: Account = { name: 'bedrock', preset: 'bedrock', replaces: model => UNKNOWN_AT_BEDROCK.test(model) }
const VERTEX: Account = { name: 'vertex', preset: 'vertex', replaces: always }
/** The package has the prices of Azure's own list, which differ from those of the vendors. */
const AZURE: Account = { name: 'azure', preset: 'azure-openai' }

/** Accounts by provider of LiteLLM. */
const ACCOUNTS: ReadonlyMap<string | undefined, Account> = new Map([
  ...['openai', 'anthropic', 'xai', 'deepseek', 'mistral', 'zai', 'moonshot', 'minimax', 'groq'].map(
    name => [name, maker(name)] as const,
  ),
  // alibabacloud.com/help/en/model-studio/context-cache: the explicit cache.
  ['dashscope', { ...maker('dashscope'), cacheWrites: 1.25 }],
  ['gemini', maker('google')],
  ['cohere_chat', maker('cohere')],
  ['cerebras', host('cerebras')],
  ['together_ai', host('together')],
  ['azure', AZURE],
  ['azure_ai', AZURE],
  ['bedrock', BEDROCK],
  ['bedrock_converse', BEDROCK],
  ['bedrock_mantle', host('bedrock-mantle')],
  ['vertex_ai', VERTEX],
  ['vertex_ai-language-models', VERTEX],
  ...['llama', 'mistral', 'ai21', 'deepseek', 'qwen', 'zai', 'openai', 'minimax', 'moonshot'].map(
    vendor => [`vertex_ai-${vendor}_models`, VERTEX] as const,
  ),
  ['vertex_ai-anthropic_models', { ...VERTEX, preset: 'vertex-claude' }],
])

/** Modes of models that are billed by tokens, if their rows have prices of tokens. */
const MODES: ReadonlySet<string | undefined> = new Set([
  ...['chat', 'responses', 'completion', 'embedding', 'audio_speech', 'image_generation'],
])
/** Matches the name of a provider before that of a model. Some hosts have names with a slash of their own. */
const PROVIDER =
  /^(?:azure_ai|azure|bedrock_mantle|bedrock|cerebras|dashscope|deepseek|gemini|groq|minimax|mistral|moonshot|openai|together_ai|vertex_ai|xai|zai)\//
/** Accounts whose rows with a slash are prices of a region or of reserved capacity. */
const REGIONAL: ReadonlySet<string> = new Set(['azure', 'bedrock', 'bedrock-mantle'])

/** Fields with prices of tokens, by kind of token. */
const FIELDS: readonly (readonly [kind: TextKind, field: string])[] = [
  ['input', 'input_cost_per_token'],
  ['output', 'output_cost_per_token'],
  ['cacheRead', 'cache_read_input_token_cost'],
  ['cacheWrite', 'cache_creation_input_token_cost'],
  ['cacheWriteLong', 'cache_creation_input_token_cost_above_1hr'],
  ['reasoning', 'output_cost_per_reasoning_token'],
]
/** Matches the end of a field with the price of long prompts. */
const ABOVE = /_above_(\d+)k_tokens$/

/**
 * Returns the prices of tokens that the price package lacks, and those in which the makers' rows differ from it.
 *
 * @param packaged returns the package's prices of a model.
 */
export function accountPricesOf(
  table: { readonly [id: string]: TableRow },
  packaged: (preset: string, model: string) => Rates,
): AccountTable {
  const accounts = new Map<string, Map<string, AccountPrices>>()
  const ids = Object.keys(table).sort((one, other) => one.length - other.length || (one < other ? -1 : 1))
  for (const id of ids) {
    const row = table[id]!
    const account = ACCOUNTS.get(row.litellm_provider)
    const model = id.replace(PROVIDER, '')
    const prices = account && isUsable(account, model, row) ? withCacheWrites(pricesOf(row), account) : undefined
    if (account === undefined || prices === undefined) continue
    const known = packaged(account.preset, model)
    const isMissing = known.input === undefined
    if (!isMissing && (account.replaces?.(model) !== true || agree(ratesIn(prices), known))) continue
    const models = accounts.get(account.name) ?? new Map<string, AccountPrices>()
    accounts.set(account.name, models)
    const names = listedNames(model)
    // A shorter name with the same prices leads to this model as well.
    const other = names.find(name => models.has(name))
    if (other !== undefined && JSON.stringify(models.get(other)) === JSON.stringify(prices)) continue
    if (!models.has(names[0]!)) models.set(names[0]!, prices)
  }
  const sorted = <T>(map: ReadonlyMap<string, T>) => Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
  return sorted(new Map([...accounts].map(([name, models]) => [name, sorted(models)])))
}

function isUsable(account: Account, model: string, { mode, deprecation_date: end }: TableRow): boolean {
  if (!MODES.has(mode) || (model.includes('/') && REGIONAL.has(account.name))) return false
  return typeof end !== 'string' || end > new Date().toISOString().slice(0, 10)
}

/** Returns the prices in a row, or undefined if it states none of a prompt or of an answer. */
function pricesOf(row: TableRow): AccountPrices | undefined {
  const { tiered_pricing: ranges } = row
  const prices = Array.isArray(ranges) ? pricesInRanges(ranges as readonly PricedRange[]) : pricesInFields(spoken(row))
  const isPriced = prices.input !== undefined && (prices.output !== undefined || row.mode === 'embedding')
  return isPriced ? prices : undefined
}

/** Adds the account's price of tokens written to a cache to a row that has one of cached tokens. */
function withCacheWrites(prices: AccountPrices | undefined, { cacheWrites: factor }: Account) {
  if (factor === undefined || prices?.cacheRead === undefined) return prices
  const added = <P extends TextPrices>(one: P): P =>
    one.input === undefined ? one : { ...one, cacheWrite: one.cacheWrite ?? Math.round(one.input * factor * 1e6) / 1e6 }
  const { above } = prices
  const longer = above && Object.fromEntries(Object.entries(above).map(([tokens, one]) => [tokens, added(one)]))
  return { ...added(prices), ...(longer !== undefined && { above: longer }) }
}

/** The tokens of a spoken answer are those of its sound, which upstreams count without saying so. */
const spoken = (row: TableRow): TableRow =>
  row.mode === 'audio_speech'
    ? { ...row, output_cost_per_token: row['output_cost_per_audio_token'] ?? row['output_cost_per_token'] }
    : row

function pricesInFields(row: TableRow): AccountPrices {
  const limits = Object.keys(row).flatMap(field => ABOVE.exec(field)?.[1] ?? [])
  const above = [...new Set(limits)]
    .sort((one, other) => Number(one) - Number(other))
    .map(limit => [`${limit}000`, textPrices(field => row[`${field}_above_${limit}k_tokens`])] as const)
  return withTiers(
    textPrices(field => row[field]),
    above,
  )
}

/** Prices of prompts whose number of tokens is in a range. */
interface PricedRange {
  readonly range: readonly [from: number, to: number]
  readonly [field: string]: unknown
}

function pricesInRanges([first, ...others]: readonly PricedRange[]): AccountPrices {
  const above = others.map(one => [String(one.range[0]), textPrices(field => one[field])] as const)
  return withTiers(
    textPrices(field => first?.[field]),
    above,
  )
}

const withTiers = (base: TextPrices, tiers: readonly (readonly [string, TextPrices])[]): AccountPrices => {
  const above = tiers.filter(([, prices]) => Object.keys(prices).length > 0)
  return above.length === 0 ? base : { ...base, above: Object.fromEntries(above) }
}

/** Returns prices of a million tokens. Zero means that the row does not state a price. */
const textPrices = (read: (field: string) => unknown): TextPrices =>
  Object.fromEntries(
    FIELDS.flatMap(([kind, field]) => {
      const price = read(field)
      return typeof price === 'number' && price > 0 ? [[kind, Math.round(price * 1e12) / 1e6] as const] : []
    }),
  )

/** Maximum relative difference between equal prices. */
const TOLERANCE = 0.01

/** Returns true if all prices of a row are those of the package, for short and for long prompts. */
function agree(rates: Rates, known: Rates): boolean {
  return FIELDS.every(([kind]) => {
    const [one, other] = [rates[kind], known[kind] ?? (kind === 'reasoning' ? known.output : undefined)]
    if (one === undefined) return true
    if (other === undefined) return false
    const prompts = [0, ...[...(one.tiers ?? []), ...(other.tiers ?? [])].map(({ above }) => above + 1)]
    return prompts.every(prompt => {
      const [price, its] = [one, other].map(({ base, tiers = [] }) =>
        tiers.reduce((price, tier) => (prompt > tier.above ? tier.price : price), base),
      ) as [number, number]
      return Math.abs(price - its) <= TOLERANCE * Math.max(price, its)
    })
  })
}
