import type { JsonObject } from '../canonical/node.ts'
import type { Effort } from '../canonical/request.ts'

const EFFORTS_UP_TO_HIGH = ['low', 'medium', 'high'] as const

const EFFORTS_FROM_LOW = [...EFFORTS_UP_TO_HIGH, 'xhigh', 'max'] as const

/** Models that refuse to be forced to call a tool while they think (egress/chat/forced-tools.ts). */
const FREE_CALLS = { forced_while_thinking: false } as const

/**
 * Models whose chat template refuses a system message after the first: "System message must be at the beginning."
 * (llama.cpp#20733, coder#27176, litellm#39852, read on 2026-12-01).
 */
const ONE_INSTRUCTION = { system_turns: false } as const

const ALWAYS_THINKING = { thinking_off: 'never' } as const

/** Models that do not reason and refuse a verbosity other than the default one. */
const PLAIN = { reasons: false, verbosity: false } as const

/**
 * Models that refuse a higher output limit: "max_tokens is too large: 32000. This model supports at most 16384 completion
 * tokens" (enoch3712/ExtractThinker#346, charmbracelet/catwalk#41, ChatGPTNextWeb/NextChat#3195; LiteLLM's table of
 * models of 2026-11-23; read on 2026-12-01). Agents send the limit of a Claude model or 32,000.
 */
const plainUpTo = (max_output: number) => ({ ...PLAIN, max_output }) as const

/**
 * Models of Chat Completions that search: "Model incompatible request arguments supplied: frequency_penalty,
 * presence_penalty, temperature, top_p" (ChatGPTNextWeb/NextChat#6569, crmne/ruby_llm#155, read on 2026-12-01).
 */
const SEARCHING = { ...plainUpTo(16_384), sampling: 'none', penalties: false } as const

/**
 * Models before `gpt-4o-2024-08-06`: "'response_format' of type 'json_schema' is not supported with this model" ("Structured
 * model outputs", developers.openai.com, as cited in juspay/neurolink#1691; web-infra-dev/midscene#259; read on
 * 2026-12-01).
 */
const NO_SCHEMAS = { json_schema: false } as const

/** Settings that OpenAI's reasoning models refuse in every request. */
const REASONING = { sampling: 'none', penalties: false, stop: false, old_limit: false } as const

/**
 * Models that also refuse the switch for parallel calls in Chat Completions: "Unsupported parameter: 'parallel_tool_calls'
 * is not supported with this model" (run-llama/llama_index#20865, tensorzero/tensorzero#2805, read on 2026-12-01).
 */
const O_SERIES = { ...REASONING, verbosity: false, max_output: 100_000, parallel_switch: false } as const

/** Models that take sampling parameters if no effort is requested, because their default effort is `none`. */
const REASONING_ON_REQUEST = { ...REASONING, sampling: 'unless_thinking' } as const

/** Models that take sampling parameters only if the effort `none` is requested. */
const REASONING_BY_DEFAULT = { ...REASONING, sampling: 'while_off' } as const

/**
 * Settings that Grok's reasoning models refuse ("Reasoning", docs.x.ai). Those that do not reason refuse them, too,
 * and Grok 4.5 the effort `xhigh` (miaoxworld/NativeTavern#83, LiteLLM 1.110.2, modelparams.dev#330, 2026-12-01).
 */
const GROK = { penalties: false, stop: false } as const

type EffortFamily = readonly [name: RegExp, efforts: readonly Effort[] | undefined, dialect?: JsonObject]

/**
 * Efforts that models support in `chat` and `responses`, weakest first, if known, and their other flags, by model name.
 * The first matching row applies. Newer versions are assumed to support the same as the latest known version.
 *
 * Sources, read on 2026-11-23: OpenAI's guide "Reasoning" and its model pages (developers.openai.com/api/docs), the
 * error that `gpt-5.1` answers to `minimal` (openai/openai-agents-python#2089), the model card of gpt-oss, and Google's
 * "OpenAI compatibility" (ai.google.dev); "Use thinking effort" (platform.kimi.ai/docs), read on 2026-11-28. What
 * OpenAI's models refuse: the AI SDK's and LiteLLM's tables of models (vercel/ai, `openai-language-model-capabilities`;
 * BerriAI/litellm, `default_reasoning_effort`), read on 2026-11-30. GLM: the tables of pydantic-ai 2.68, which cite the
 * error of GLM-5.3 ("please use low, high, or max"), and of modelparams.dev, and Mistral: "Reasoning"
 * (docs.mistral.ai), the tables of LiteLLM 1.110.2 and models.dev#1986, and the error "reasoning_effort='medium' is not
 * supported for this model" (architects-toolkit/SmartHopper#647), read on 2026-12-01.
 */
const EFFORT_FAMILIES: readonly EffortFamily[] = [
  [/gpt-4o(?:-mini)?-search/, [], SEARCHING],
  [/gpt-3\.?5-turbo|gpt-4-(?:turbo|1106|0125|vision)/, [], { ...plainUpTo(4096), ...NO_SCHEMAS }],
  [/gpt-4o-2024-05-13/, [], { ...plainUpTo(4096), ...NO_SCHEMAS }],
  [/gpt-4o|gpt-5-chat/, [], plainUpTo(16_384)],
  [/gpt-4\.1/, [], plainUpTo(32_768)],
  [/gpt-4(?:-(?:0314|0613|32k))?(?![-.\w])/, [], { ...PLAIN, ...NO_SCHEMAS }],
  [/gpt-(?:3\.5|4)/, [], PLAIN],
  [/gpt-5\.\d+-chat/, [], { ...REASONING, max_output: 16_384 }],
  [/gpt-5-pro/, ['high'], REASONING],
  [/gpt-5\.\d+-pro/, ['medium', 'high', 'xhigh'], REASONING],
  [/gpt-5(?:\.1)?-codex(?!-max)/, EFFORTS_UP_TO_HIGH, REASONING],
  [/gpt-5\.\d+-codex/, [...EFFORTS_UP_TO_HIGH, 'xhigh'], REASONING],
  [/gpt-5(?![.\d])/, ['minimal', ...EFFORTS_UP_TO_HIGH], REASONING],
  [/gpt-5\.1(?!\d)/, ['none', ...EFFORTS_UP_TO_HIGH], REASONING_ON_REQUEST],
  [/gpt-5\.[2-4](?!\d)/, ['none', ...EFFORTS_UP_TO_HIGH, 'xhigh'], REASONING_ON_REQUEST],
  [/gpt-5\.\d/, ['none', ...EFFORTS_UP_TO_HIGH, 'xhigh'], REASONING_BY_DEFAULT],
  [/gpt-6(?:-(?:sol|luna)|\.1-terra)/, ['none', ...EFFORTS_FROM_LOW], REASONING],
  [/gpt-[6-9](?!\d)/, EFFORTS_FROM_LOW, REASONING],
  [/gpt-oss/, EFFORTS_UP_TO_HIGH],
  [/(?<![a-z0-9])o1-(?:mini|preview)/, [], REASONING],
  [/(?<![a-z0-9])o[1-9](?:-mini)?-deep-research/, ['medium'], REASONING],
  [/(?<![a-z0-9])o[1-9](?![a-z0-9])/, EFFORTS_UP_TO_HIGH, O_SERIES],
  [/grok-3-mini/, ['low', 'high'], GROK],
  [/grok-4\.3(?!\d)/, ['none', ...EFFORTS_UP_TO_HIGH, 'xhigh'], GROK],
  [/grok-4\.[45](?!\d)/, EFFORTS_UP_TO_HIGH, GROK],
  [/grok-(?:4\.[6-9]|[5-9])(?!\d)/, [...EFFORTS_UP_TO_HIGH, 'xhigh'], GROK],
  [/grok-[23](?!\d)/, [], { reasons: false }],
  [/grok-[\w.-]{0,40}non-reasoning/, [], { ...GROK, reasons: false }],
  [/grok-(?:4|code|build)/, [], GROK],
  [/gemini-(?:2\.5|[3-9])/, EFFORTS_UP_TO_HIGH],
  [/kimi-k2\.[56](?!\d)/, undefined, FREE_CALLS],
  [/kimi-k2\.7-code/, [], { ...ALWAYS_THINKING, ...FREE_CALLS }],
  [/kimi-k[3-9]/, ['low', 'high', 'max'], ALWAYS_THINKING],
  [
    /mistral-(?:small(?!-(?:24|250|3))|medium(?!-250)|large-4|vibe)|(?:devstral|mistral-code)\b.*-latest/,
    ['none', 'high'],
  ],
  [/(?:code|dev|magi|mini?|pix|vox)stral|mixtral|mathstral|nemo-?mistral/, []],
  [/qwen-?3(?:\.|p)[5-9]/, undefined, ONE_INSTRUCTION],
  [/qwq|qvq|qwen[\w.]*-omni|qwen3-(?!.*(?:instruct|coder|max|vl))(?:\d|next)/, undefined, { thinks_by_default: true }],
  [/glm-5\.2(?!\d)/, ['none', 'minimal', ...EFFORTS_FROM_LOW]],
  [/glm-(?:5\.[3-9]|[6-9])/, ['low', 'high', 'max'], ALWAYS_THINKING],
]

/** Dots of versions as Fireworks writes them, such as `kimi-k2p7-code`. */
const VERSION_DOT = /(?<=\d)p(?=\d)/g

/** Returns a model's dialect flags in `chat` and `responses`, by its name, or undefined for an unknown family. */
export function effortDialect(model: string): JsonObject | undefined {
  const dotted = model.replace(VERSION_DOT, '.')
  const family = EFFORT_FAMILIES.find(([name]) => name.test(dotted))
  return family && { ...(family[1] && { efforts: family[1] }), ...family[2] }
}
