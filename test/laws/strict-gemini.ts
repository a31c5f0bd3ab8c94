import type { JsonObject } from '../../src/canonical/node.ts'

/*
 * Hand-written checks of what Google's models accept, as strict as the real APIs. They use no code of the gateway. The
 * facts are those that probes in pydantic-ai, modelparams.dev and LibreChat state, of Google's pages, and of errors in
 * public issues, read on 2026-12-01.
 */

interface Takes {
  /** Levels of thinking, the limits of a budget, or nothing for models that take no thinking settings. */
  readonly levels?: string
  readonly budgets?: readonly [lowest: number, highest: number]
  /** True if a budget of 0 turns thinking off. */
  readonly off?: true
  readonly penalties?: true
  readonly candidates?: true
  readonly logprobs?: true
  /** When JSON is taken. By default always. */
  readonly json?: 'without tools' | 'never'
  readonly system?: false
  readonly prefill?: false
  readonly highestOutput?: number
}

const TWO_FIVE: Takes = { candidates: true, json: 'without tools' }
const CLOUD = { candidates: true, highestOutput: 65_536 } as const
const NEWEST: Takes = { levels: 'LOW MEDIUM HIGH', prefill: false }
const GEMMA_3: Takes = { json: 'never', system: false, candidates: true, logprobs: true }

/** Models of the Gemini API, and of Google Cloud with `vertex/` before the name. */
export const MODELS: { readonly [model: string]: Takes } = {
  'gemini-2.0-flash-001': { ...TWO_FIVE, penalties: true, logprobs: true },
  'gemini-2.5-flash': { ...TWO_FIVE, budgets: [0, 24_576], off: true },
  'models/gemini-2.5-flash-lite-preview-09-2025': { ...TWO_FIVE, budgets: [512, 24_576], off: true },
  'gemini-2.5-pro': { ...TWO_FIVE, budgets: [128, 32_768] },
  'gemini-2.5-flash-image': { json: 'never' },
  'gemini-3-pro-preview': { levels: 'LOW HIGH' },
  'gemini-3-flash-preview': { levels: 'MINIMAL LOW MEDIUM HIGH' },
  'google/gemini-3.1-pro-preview-customtools': { levels: 'LOW MEDIUM HIGH' },
  'gemini-3.1-flash-lite': { levels: 'MINIMAL LOW MEDIUM HIGH' },
  'gemini-3.1-flash-image': { levels: 'MINIMAL HIGH' },
  'gemini-3.1-flash-lite-image': { levels: 'MINIMAL HIGH' },
  'gemini-3-pro-image': { levels: '' },
  'gemini-3.5-flash': { levels: 'MINIMAL LOW MEDIUM HIGH' },
  'gemini-3.5-flash-lite': { levels: 'MINIMAL LOW MEDIUM HIGH', prefill: false },
  'gemini-3.6-flash': { levels: 'MINIMAL LOW MEDIUM HIGH', prefill: false },
  'gemini-3.7-flash': NEWEST,
  'gemini-3.8-flash': NEWEST,
  'gemini-4-argon': NEWEST,
  'gemini-4-hydrogen': { ...NEWEST, levels: 'LOW MEDIUM HIGH XHIGH' },
  'gemini-flash-latest': NEWEST,
  'gemini-pro-latest': { levels: 'LOW MEDIUM HIGH' },
  'gemma-3-27b-it': GEMMA_3,
  'gemma-3n-e4b-it': GEMMA_3,
  'gemma-4-31b-it': { levels: 'MINIMAL HIGH', candidates: true, logprobs: true },
  'vertex/gemini-2.0-flash': { ...TWO_FIVE, ...CLOUD, penalties: true, logprobs: true, highestOutput: 8192 },
  'vertex/gemini-2.5-pro': { ...TWO_FIVE, ...CLOUD, budgets: [128, 32_768], penalties: true, logprobs: true },
  'vertex/gemini-3.1-pro-preview': { ...CLOUD, levels: 'LOW MEDIUM HIGH', penalties: true },
  'vertex/gemini-3.7-flash': { ...CLOUD, ...NEWEST },
}

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = { readonly [field: string]: any }

/** Returns the reasons why the model refuses a request. An empty list if it accepts the request. */
export function refusals(model: string, body: JsonObject): string[] {
  const takes = MODELS[model]!
  const { generationConfig: config = {}, contents = [], tools, systemInstruction } = body as Loose
  const { thinkingConfig, thinking = thinkingConfig ?? {} } = config
  const { thinkingLevel: level, thinkingBudget: budget } = thinking
  const first = contents[0]
  const faults: { readonly [fault: string]: boolean } = {
    [`level ${level}`]: level != null && !(takes.levels ?? '').split(' ').includes(level),
    [`budget ${budget}`]: budget != null && !takesBudget(takes, budget),
    'level and budget': level != null && budget != null,
    thinking: Object.keys(thinking).length > 0 && takes.levels === undefined && takes.budgets === undefined,
    penalties: (config.frequencyPenalty != null || config.presencePenalty != null) && takes.penalties !== true,
    candidates: (config.candidateCount ?? 1) > 1 && takes.candidates !== true,
    logprobs: config.responseLogprobs != null && takes.logprobs !== true,
    json: config.responseMimeType === 'application/json' && !takesJson(takes, tools),
    system: systemInstruction != null && takes.system === false,
    'a call before any turn of the user': first?.role === 'model' && hasCall(first),
    'the turn of the model at the end': contents.at(-1)?.role === 'model' && takes.prefill === false,
    'stop sequences': (config.stopSequences ?? []).length > 5,
    output: config.maxOutputTokens > (takes.highestOutput ?? Number.POSITIVE_INFINITY),
    seed: Math.abs(config.seed ?? 0) > 2_147_483_647,
    'no contents': contents.length === 0 && systemInstruction != null,
  }
  return Object.keys(faults).filter(fault => faults[fault])
}

const hasCall = ({ parts }: Loose): boolean => parts.some((part: Loose) => part['functionCall'] != null)

const takesBudget = ({ budgets, off }: Takes, budget: number): boolean =>
  budgets !== undefined &&
  (budget === -1 || (budget === 0 ? off === true : budget >= budgets[0] && budget <= budgets[1]))

const takesJson = ({ json }: Takes, tools: unknown): boolean =>
  json === undefined || (json === 'without tools' && tools == null)
