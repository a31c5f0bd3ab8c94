import type { JsonObject } from '../canonical/node.ts'

/** Flags of the models that match a name, and those that only one of Google's two APIs has. */
interface Family {
  readonly name: RegExp
  readonly dialect?: JsonObject
  /** Flags at the Gemini API only. */
  readonly api?: JsonObject
  /** Flags at Google Cloud (Vertex AI) only. */
  readonly cloud?: JsonObject
}

const levels = (...efforts: readonly string[]) => ({ thinking: 'level', efforts }) as const
const FROM_LOW = levels('low', 'medium', 'high')
const FROM_MINIMAL = levels('minimal', 'low', 'medium', 'high')
const LOWEST_OR_HIGHEST = levels('minimal', 'high')
const budgets = (min_budget: number, max_budget: number) => ({ thinking: 'budget', min_budget, max_budget }) as const
const NO_THINKING = { thinking: 'none', efforts: [] } as const
const ALWAYS_THINKS = { thinking_off: 'never' } as const
const ONE_ANSWER = { candidates: false } as const
const NO_LOGPROBS = { logprobs: false } as const
const NO_PENALTIES = { penalties: false } as const

/** Models from Gemini 3 on, and names that stand for the newest one. */
const SINCE_3 = /gemini-(?:[3-9]|\d\d|(?:pro|flash|flash-lite)-latest|omni|robotics-er-[2-9])|nano-banana-(?:pro|2)/
/** Models that continue no turn of the model (prefill): Gemini 3.5 Flash-Lite, and all from 3.6 on. */
const SINCE_3_6 = /gemini-(?:3\.5-flash-lite|3\.[6-9]|[4-9]|\d\d|flash-(?:lite-)?latest)/
/** Models since Gemini 3 that draw. They demand a signature of each image in the history. */
const DRAWING = /gemini-(?:[3-9]|\d\d)(?:\.\d+)?-.{0,60}image|nano-banana-(?:pro|2)/

/**
 * Dialect flags of Google's models in `contents`, by model name. All matching rows apply, later ones before earlier
 * ones.
 *
 * Sources, read on 2026-12-01: the tables of models in pydantic-ai 2.68 and modelparams.dev, which cite probes of both
 * APIs, in LiteLLM 1.110 and in the AI SDK 3.0; Google's pages "Thinking" of both APIs and the guides of Gemini 4;
 * the errors in google-gemini/cookbook#1290 (penalties), js-genai#1609 (candidates), python-genai#1921 and
 * GoogleCloudPlatform/generative-ai#2947 (log probabilities), symfony/ai#803 and gemini-balance#264 (JSON beside tools),
 * adk-python#3900 (Gemma's instructions), js-genai#681, Roo-Code#4399, docker-agent#2051 and python-genai#2936
 * (thinking), pipecat#5821 and LibreChat-AI/agents#323 (prefill), gemini-cli#19436 (media in results),
 * langchain-google#1431 and js-genai#1116 (signatures of images).
 */
const FAMILIES: readonly Family[] = [
  {
    name: /gemini-[12](?:\.\d+)?-/,
    dialect: { ...NO_THINKING, json: 'without_tools', result_media: false },
    cloud: { max_output: 8192 },
  },
  { name: /gemini-2\.[5-9]/, api: { ...NO_PENALTIES, ...NO_LOGPROBS }, cloud: { max_output: 65_535 } },
  { name: /gemini-2\.5-flash|gemini-robotics-er-1/, dialect: budgets(1, 24_576) },
  { name: /gemini-2\.5-flash-lite/, dialect: budgets(512, 24_576) },
  { name: /gemini-2\.5-(?:pro|computer-use)/, dialect: { ...budgets(128, 32_768), ...ALWAYS_THINKS } },
  // The computer-use model takes screenshots in results.
  { name: /gemini-2\.5-computer-use/, dialect: { result_media: true } },
  { name: /gemini-[12].{0,60}(?:image|tts)/, dialect: { ...NO_THINKING, ...ONE_ANSWER, json: 'never' } },
  { name: /gemini-2\.0-.{0,60}image/, dialect: { system: false } },
  {
    name: SINCE_3,
    dialect: { ...FROM_LOW, ...NO_LOGPROBS },
    api: { ...NO_PENALTIES, ...ONE_ANSWER },
  },
  { name: /gemini-3(?:\.\d+)?-/, cloud: { max_output: 65_535 } },
  { name: SINCE_3_6, dialect: { prefill: false }, cloud: NO_PENALTIES },
  { name: /gemini-3-pro/, dialect: levels('low', 'high') },
  { name: /gemini-(?:3-flash|3\.[156]-flash|flash-lite-latest)/, dialect: FROM_MINIMAL },
  { name: /gemini-4-hydrogen/, dialect: levels('low', 'medium', 'high', 'xhigh') },
  { name: DRAWING, dialect: { ...levels(), ...ONE_ANSWER, signed_turns: true } },
  { name: /gemini-3\.1-flash-(?:lite-)?image|nano-banana-2(?!\.)/, dialect: LOWEST_OR_HIGHEST },
  { name: /gemini-(?:[3-9]|\d\d).{0,60}tts/, dialect: NO_THINKING },
  { name: /gemma-(?:[1-3]|3n)(?!\d)/, dialect: { ...NO_THINKING, ...NO_PENALTIES, json: 'never', system: false } },
  { name: /gemma-(?:[4-9]|\d\d)/, dialect: { ...LOWEST_OR_HIGHEST, ...NO_PENALTIES } },
]

/**
 * Returns the dialect flags of one of Google's models in `contents`, by its name in lower case, or undefined for an
 * unknown family.
 *
 * @param isCloud true for Google Cloud, whose API takes some settings that the Gemini API refuses.
 */
export function geminiDialect(model: string, isCloud: boolean): JsonObject | undefined {
  const families = FAMILIES.filter(({ name }) => name.test(model))
  if (families.length === 0) return undefined
  return Object.assign({}, ...families.map(({ dialect, api, cloud }) => ({ ...dialect, ...(isCloud ? cloud : api) })))
}
