import { type ListedModel, listedNames, type ModelTable, type TokenKind } from '../src/upstreams/catalogue/table.ts'

/**
 * The fields used from a row of LiteLLM's table (https://github.com/BerriAI/litellm, described by its row
 * `sample_spec`).
 */
export interface TableRow {
  readonly litellm_provider?: string
  readonly mode?: string
  readonly max_input_tokens?: number | string
  readonly max_output_tokens?: number | string
  readonly supported_modalities?: readonly string[]
  readonly supported_output_modalities?: readonly string[]
  readonly [field: string]: unknown
}

/** Providers whose rows take precedence: first those that make models, then others that host them, by name. */
const MAKERS = [
  ...['openai', 'anthropic', 'gemini', 'xai', 'deepseek', 'mistral', 'moonshot', 'zai', 'dashscope', 'cohere_chat'],
  ...['cohere', 'minimax', 'meta_llama', 'ai21', 'voyage', 'jina_ai', 'vertex_ai', 'groq', 'cerebras', 'azure'],
]

/** Input and output of models of each mode, for rows that do not state them. */
const MODES: { readonly [mode: string]: { readonly input: readonly string[]; readonly output: readonly string[] } } = {
  chat: { input: ['text'], output: ['text'] },
  responses: { input: ['text'], output: ['text'] },
  completion: { input: ['text'], output: ['text'] },
  embedding: { input: ['text'], output: ['embedding'] },
  rerank: { input: ['text'], output: ['text'] },
  image_generation: { input: ['text'], output: ['image'] },
  image_edit: { input: ['text', 'image'], output: ['image'] },
  audio_speech: { input: ['text'], output: ['audio'] },
  audio_transcription: { input: ['audio'], output: ['text'] },
  realtime: { input: ['text', 'audio'], output: ['text', 'audio'] },
  video_generation: { input: ['text'], output: ['video'] },
}
/** Modes whose rows state abilities. If a row states any ability, a model lacks those that the row leaves out. */
const CONVERSES: ReadonlySet<string> = new Set(['chat', 'responses'])

const INPUTS: { readonly [flag: string]: string } = {
  supports_vision: 'image',
  supports_audio_input: 'audio',
  supports_video_input: 'video',
  supports_pdf_input: 'pdf',
}
const ABILITIES = ['supports_function_calling', 'supports_reasoning', ...Object.keys(INPUTS)]
const MODALITIES = ['text', 'image', 'audio', 'video', 'pdf', 'embedding']

/**
 * Share of the context window above which a limit of answers is no limit of its own: such hosts state what a short
 * prompt leaves free.
 */
const WHOLE = 0.9

/**
 * The models of a table, sorted by name. Leaves out names that the lookup already finds under another name with the
 * same facts.
 */
export function modelsOf(table: { readonly [id: string]: TableRow }): ModelTable['models'] {
  const models = new Map<string, ListedModel>()
  const rows = Object.entries(table).filter(([, row]) => isUsable(row))
  const named = Object.groupBy(rows, ([id]) => listedNames(id)[0]!)
  for (const name of Object.keys(named).sort(byLength)) {
    const model = modelOf(named[name]!.sort(byMaker))
    const other = listedNames(name).find(one => models.has(one))
    const known = other === undefined ? undefined : models.get(other)!
    if (known === undefined || factsOf(known) !== factsOf(model)) models.set(name, model)
    else models.set(other!, { ...known, ...listedPrices(model), ...listedPrices(known) })
  }
  return Object.fromEntries([...models].filter(([, model]) => Object.keys(model).length > 0).sort(byName))
}

const PRICES: ReadonlySet<string> = new Set([
  'tiers',
  'search',
  'perQuery',
  'request',
  'second',
  'image',
  'character',
  'videoSecond',
  'sessionSecond',
  'tokens',
] as const satisfies (keyof ListedModel)[])

/** Facts by which two models differ. */
const factsOf = (model: ListedModel): string =>
  JSON.stringify(Object.entries(model).filter(([field]) => !PRICES.has(field)))

/** Prices of a model, which a model of the same facts under a plainer name gets if it has none. */
const listedPrices = (model: ListedModel): Partial<ListedModel> =>
  Object.fromEntries(Object.entries(model).filter(([field]) => PRICES.has(field)))

/** Whether a row describes a model and states facts about it. Hosts list some models by name only. */
const isUsable = ({ mode = '', max_input_tokens }: TableRow): boolean =>
  MODES[mode] !== undefined && (count(max_input_tokens) !== undefined || !CONVERSES.has(mode))

/** Builds one model from its rows at several hosts. Rows of its maker come first. */
function modelOf(entries: readonly Entry[]): ListedModel {
  const rows = entries.map(([, row]) => row)
  const context = limitOf(rows, ({ max_input_tokens }) => count(max_input_tokens))
  const conversing = rows.filter(row => CONVERSES.has(row.mode!))
  const maxOutput = limitOf(conversing, ({ max_output_tokens }) => count(max_output_tokens))
  const reasoning = abilityOf(conversing, 'supports_reasoning')
  const tools = abilityOf(conversing, 'supports_function_calling')
  return {
    ...(context !== undefined && { context }),
    ...(maxOutput !== undefined && !(maxOutput >= WHOLE * (context ?? Number.POSITIVE_INFINITY)) && { maxOutput }),
    ...modalitiesOf(rows),
    ...(reasoning !== undefined && { reasoning }),
    ...(tools !== undefined && { tools }),
    ...pricesOf(entries),
  }
}

/** The prices that other sources lack, each from the first row that states it. */
function pricesOf(entries: readonly Entry[]): Partial<ListedModel> {
  const tiers =
    firstOf(entries, ([, row]) => (isMakers(row) ? tiersOf(row) : undefined)) ??
    highest(entries.map(([, row]) => tiersOf(row)).filter(tiers => tiers !== undefined))
  const search = firstOf(entries, searchOf)
  const second = firstOf(entries, ([, { mode, input_cost_per_second: price }]) =>
    mode === 'audio_transcription' ? amount(price) : undefined,
  )
  return {
    ...(tiers !== undefined && { tiers }),
    ...search,
    ...(second !== undefined && { second }),
    ...unitPricesOf(entries),
    ...tokensOf(entries),
  }
}

/** Fields with prices of tokens, by kind of token. */
const TOKEN_FIELDS: { readonly [K in TokenKind]: string } = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cacheRead: 'cache_read_input_token_cost',
  cacheReadAudio: 'cache_read_input_audio_token_cost',
  cacheReadImage: 'cache_read_input_image_token_cost',
  inputAudio: 'input_cost_per_audio_token',
  outputAudio: 'output_cost_per_audio_token',
  inputImage: 'input_cost_per_image_token',
  inputVideo: 'input_cost_per_video_token',
  outputImage: 'output_cost_per_image_token',
}
/** Kinds of tokens other than text. The price package lacks them for many models, and new models altogether. */
const MEDIA_KINDS = ['inputAudio', 'outputAudio', 'inputImage', 'inputVideo', 'outputImage'] as const

/** Modes of models that the price package knows few of, and that count tokens of their prompts only. */
const PROMPT_MODES: ReadonlySet<string> = new Set(['embedding', 'rerank'])
/** Maximum price of a million tokens to embed or to rank, in US dollars. A higher one is a mistake of the row. */
const MAX_PROMPT_PRICE = 10

/**
 * The prices of tokens of the first row that states one of sound, images or videos, or of a prompt without an answer.
 * Another row of the same provider adds those that the first one lacks.
 */
function tokensOf(entries: readonly Entry[]): Partial<ListedModel> {
  const priced = entries.flatMap(([, row]) => {
    const prices = tokenPricesOf(row)
    return prices === undefined ? [] : [{ provider: row.litellm_provider, prices }]
  })
  const ofProvider = priced.filter(({ provider }) => provider === priced[0]!.provider).reverse()
  return priced.length === 0 ? {} : { tokens: Object.assign({}, ...ofProvider.map(({ prices }) => prices)) }
}

/** The prices of tokens in a row that `tokensOf` reads. */
function tokenPricesOf(row: TableRow): ListedModel['tokens'] {
  const prices = Object.entries(TOKEN_FIELDS).flatMap(([kind, field]) => {
    const price = amount(row[field])
    return price === undefined ? [] : [[kind, Math.round(price * 1e12) / 1e6] as const]
  })
  const read: NonNullable<ListedModel['tokens']> = Object.fromEntries(prices)
  if (PROMPT_MODES.has(row.mode!)) return promptPricesOf(read)
  if (MEDIA_KINDS.every(kind => read[kind] === undefined)) return undefined
  const output = read.output ?? read.outputImage ?? read.outputAudio
  return output === undefined ? read : { ...read, output }
}

/** The prices of a model that counts tokens of its prompts only, or undefined if there are none. */
function promptPricesOf({ output: _, ...prices }: NonNullable<ListedModel['tokens']>): ListedModel['tokens'] {
  return prices.input === undefined || prices.input > MAX_PROMPT_PRICE ? undefined : prices
}

/** Fields with the price of a second of a video, the usual one first. Others are those of a resolution. */
const VIDEO_PRICES = [
  ...['output_cost_per_video_per_second', 'output_cost_per_second'],
  ...['output_cost_per_second_720p', 'output_cost_per_second_1080p', 'output_cost_per_second_480p'],
]
const IMAGE_MODES: ReadonlySet<string> = new Set(['image_generation', 'image_edit'])

/**
 * The prices of images, characters to speak, seconds of videos and of voice sessions, each from the first row that states
 * it.
 */
function unitPricesOf(entries: readonly Entry[]): Partial<ListedModel> {
  const image = firstOf(entries, imagePriceOf)
  const character = firstOf(entries, ([, { mode, input_cost_per_character: price }]) =>
    mode === 'audio_speech' ? amount(price) : undefined,
  )
  const videoSecond = firstOf(entries, ([, row]) =>
    row.mode === 'video_generation' ? firstOf(VIDEO_PRICES, field => amount(row[field])) : undefined,
  )
  const sessionSecond = firstOf(entries, ([, { mode, input_cost_per_second: price, input_cost_per_token: token }]) =>
    mode === 'realtime' && amount(token) === undefined ? amount(price) : undefined,
  )
  return {
    ...(image !== undefined && { image }),
    ...(character !== undefined && { character }),
    ...(videoSecond !== undefined && { videoSecond }),
    ...(sessionSecond !== undefined && { sessionSecond }),
  }
}

/** The price of an image. Rows that state the price of a pixel have the size in their name. */
function imagePriceOf([id, row]: Entry): number | undefined {
  const {
    mode = '',
    output_cost_per_image: ofAnswer,
    input_cost_per_image: ofRequest,
    input_cost_per_pixel: pixel,
  } = row
  if (!IMAGE_MODES.has(mode)) return undefined
  const [, width, height] = /(\d+)-x-(\d+)/.exec(id) ?? []
  const ofPixels = amount(pixel)
  const price = width === undefined || ofPixels === undefined ? undefined : ofPixels * Number(width) * Number(height)
  return amount(ofAnswer) ?? amount(ofRequest) ?? (price === undefined ? undefined : Math.round(price * 1e6) / 1e6)
}

/** The highest factor of each tier, because hosts of a model differ, or undefined if there is none. */
function highest(all: readonly NonNullable<ListedModel['tiers']>[]): ListedModel['tiers'] {
  const most: { [tier: string]: number } = {}
  for (const tiers of all)
    for (const [tier, factor] of Object.entries(tiers)) most[tier] = Math.max(most[tier] ?? 0, factor)
  return all.length === 0 ? undefined : most
}

/** Suffixes of fields with prices of a service tier, and the name of the tier in answers. */
const TIERS: { readonly [suffix: string]: string } = {
  priority: 'priority',
  flex: 'flex',
  batches: 'batch',
  ultrafast: 'ultrafast',
}
/** Fields with prices of tokens, the most important first. The others differ from it by a few percent at most hosts. */
const TOKEN_PRICES = ['output_cost_per_token', 'input_cost_per_token']
/** Factors of Anthropic: fast mode, and a guaranteed location. */
const FACTORS = ['fast', 'us']

/** The factors on the prices of tokens by service tier, or undefined if a row has none. */
function tiersOf(row: TableRow): ListedModel['tiers'] {
  const { provider_specific_entry: factors } = row
  const ofTiers = Object.entries(TIERS).flatMap(([suffix, tier]) => {
    const factor = firstOf(TOKEN_PRICES, field => ratioOf(row[`${field}_${suffix}`], row[field]))
    return factor === undefined || factor === 1 ? [] : [[tier, factor] as const]
  })
  const others = FACTORS.flatMap(name => {
    const factor = isRow(factors) ? amount(factors[name]) : undefined
    return factor === undefined ? [] : [[name, factor] as const]
  })
  const all = [...ofTiers, ...others]
  return all.length === 0 ? undefined : Object.fromEntries(all)
}

const ratioOf = (one: unknown, other: unknown): number | undefined => {
  const [above, below] = [amount(one), amount(other)]
  return above === undefined || below === undefined ? undefined : Math.round((above / below) * 100) / 100
}

/** Models that search for every request, so that they are billed by request. */
const ALWAYS_SEARCHES = /-search-(?:preview|api)/

/** The price of a search: of a query, of a ranking, or of a request to a model that always searches. */
function searchOf([id, row]: Entry): Partial<ListedModel> | undefined {
  const {
    mode,
    input_cost_per_query: ranking,
    search_context_cost_per_query: sizes,
    web_search_billing_unit: unit,
  } = row
  if (mode === 'rerank') return amount(ranking) === undefined ? undefined : { search: amount(ranking)! }
  const price = isRow(sizes) ? amount(sizes['search_context_size_medium']) : undefined
  if (price === undefined) return undefined
  if (ALWAYS_SEARCHES.test(id)) return { request: price }
  return { search: price, ...(unit === 'per_query' && { perQuery: true }) }
}

const isRow = (value: unknown): value is { readonly [field: string]: unknown } =>
  typeof value === 'object' && value !== null

/** A price in US dollars. Zero means that the row does not state it. */
const amount = (value: unknown): number | undefined => (typeof value === 'number' && value > 0 ? value : undefined)

/**
 * The limit from the first row of a maker that has one. Otherwise the limit most hosts state, and the larger one if two
 * are equally frequent.
 */
function limitOf(rows: readonly TableRow[], read: (row: TableRow) => number | undefined): number | undefined {
  const made = firstOf(rows.filter(isMakers), read)
  if (made !== undefined) return made
  const values = rows.flatMap(row => read(row) ?? [])
  const often = (value: number): number => values.filter(one => one === value).length
  return values.sort((one, other) => often(other) - often(one) || other - one)[0]
}

/**
 * The ability from the first row that states it. False if a maker states other abilities but not this one. Otherwise
 * unknown.
 */
function abilityOf(rows: readonly TableRow[], flag: string): boolean | undefined {
  const stated = firstOf(rows, row => (typeof row[flag] === 'boolean' ? (row[flag] as boolean) : undefined))
  if (stated !== undefined) return stated
  const isDescribed = rows.some(row => isMakers(row) && ABILITIES.some(one => row[one] === true))
  return isDescribed ? false : undefined
}

/** Modalities from the lists and flags of the first row that has them, or else from its mode. */
function modalitiesOf([first, ...others]: readonly TableRow[]): Pick<ListedModel, 'input' | 'output'> {
  const row = [first!, ...others].find(one => describes(one)) ?? first!
  const { mode = '', supported_modalities, supported_output_modalities, supports_audio_output } = row
  const usual = MODES[mode]!
  const flagged = Object.keys(INPUTS).flatMap(flag => (row[flag] === true ? INPUTS[flag]! : []))
  const output = supported_output_modalities?.filter(one => one !== 'image' || draws(row))
  const spoken = supports_audio_output === true ? ['audio'] : []
  return {
    input: known([...(supported_modalities ?? usual.input), ...flagged]),
    output: known(output ?? [...usual.output, ...spoken]),
  }
}

const describes = (row: TableRow): boolean =>
  row.supported_modalities !== undefined || Object.keys(INPUTS).some(flag => row[flag] === true)

/**
 * For a chat model, image output counts only if it has a price, because some rows list it for models that draw with a
 * tool.
 */
const draws = (row: TableRow): boolean =>
  !CONVERSES.has(row.mode!) || Object.keys(row).some(field => /^output_cost_per_image/.test(field))

const known = (modalities: readonly string[]): readonly string[] =>
  MODALITIES.filter(modality => modalities.includes(modality))

/** A limit in tokens. Some rows contain a string or zero. */
const count = (value: number | string | undefined): number | undefined =>
  value !== undefined && Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined

function firstOf<R, T>(rows: readonly R[], read: (row: R) => T | undefined): T | undefined {
  for (const row of rows) {
    const value = read(row)
    if (value !== undefined) return value
  }
  return undefined
}

type Entry = readonly [id: string, row: TableRow]

const rankOf = ({ litellm_provider = '' }: TableRow): number => {
  const rank = MAKERS.indexOf(litellm_provider)
  return rank === -1 ? MAKERS.length : rank
}
const isMakers = (row: TableRow): boolean => rankOf(row) < MAKERS.length
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
const byMaker = ([id, row]: Entry, [other, its]: Entry): number => rankOf(row) - rankOf(its) || compare(id, other)
const byLength = (one: string, other: string): number => one.length - other.length || compare(one, other)
const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => compare(one, other)
