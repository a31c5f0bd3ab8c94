import type { JsonObject } from '../canonical/node.ts'

const EFFORTS = ['low', 'medium', 'high'] as const
/** Models that think with an effort in a field of their own. */
const thinks = (effortField: string, efforts: readonly string[]) =>
  ({ thinking: 'adaptive', effort_field: effortField, efforts }) as const
const ALWAYS_THINKS = { thinking_off: 'never' } as const
/** Models whose sampling is fixed. */
const FIXED = { sampling: 'none', stop: false } as const
const NOVA = { cache_points: true, tool_cache_points: false, cache_times: false, plain_schemas: true } as const
const WHOLE_CALLS = { streamed_tools: false } as const
const TEXT_ONLY = { images: false } as const
const NO_SCHEMAS = { json_schema: false } as const
const LONE_RESULTS = { after_tools: 'assistant' } as const
const UNNAMED_TOOLS = { named_tools: false } as const

/**
 * Dialect flags of models of other vendors than Anthropic that Bedrock hosts behind Converse, by the model's name. The
 * first matching row applies. Models without a row have the flags of the format.
 *
 * Sources, read on 2026-11-30: the errors in pi#3739 and n8n#14206 (streams with tools), strands-agents#1241 and
 * langchain-aws#620 (tool choices), LibreChat#13838 (cache points of tools), zed#28521 and pydantic-ai#1623 (keywords
 * of schemas), crewAI#3317 (stop sequences),
 * inspect_ai#3767 and #5301 (Nova's efforts); the tables of models in langchain-aws 1.9.1, pydantic-ai 2.68 and LiteLLM
 * 1.110, which cite checks at Bedrock.
 */
const HOSTED_FAMILIES: readonly (readonly [name: RegExp, dialect: JsonObject])[] = [
  [/gpt-oss/, { ...thinks('reasoning_effort', EFFORTS), ...ALWAYS_THINKS, stop: false }],
  [/gpt-(?:6-astra|6\.1)/, { ...thinks('reasoning', [...EFFORTS, 'xhigh']), ...ALWAYS_THINKS, ...FIXED }],
  [/gpt-\d/, { ...thinks('reasoning', [...EFFORTS, 'xhigh']), ...FIXED }],
  [/grok-/, { ...thinks('reasoning', [...EFFORTS, 'xhigh']), ...ALWAYS_THINKS, ...FIXED }],
  [/nova-2/, { ...NOVA, ...thinks('reasoningConfig', EFFORTS) }],
  [/nova/, NOVA],
  [/llama/, { ...WHOLE_CALLS, ...LONE_RESULTS }],
  [/mistral-(?:large|small)-24|pixtral-large/, { ...WHOLE_CALLS, ...LONE_RESULTS, ...UNNAMED_TOOLS }],
  [/palmyra/, { ...WHOLE_CALLS, ...LONE_RESULTS }],
  [/jamba-instruct/, WHOLE_CALLS],
  // Only the effort `high` makes these models think.
  [/deepseek\.v3\.2/, { ...UNNAMED_TOOLS, ...thinks('reasoning_effort', ['high']) }],
  [/deepseek\.v3/, UNNAMED_TOOLS],
  [/glm-5\.3/, { ...thinks('reasoning_effort', [...EFFORTS, 'xhigh', 'max']), ...ALWAYS_THINKS }],
  [/glm-/, { ...UNNAMED_TOOLS, ...thinks('reasoning_effort', ['high']) }],
  [/qwen3(?!-coder)/, thinks('reasoning_config', EFFORTS)],
]

/**
 * Dialect flags of settings that models of several vendors share. All matching rows apply.
 *
 * Sources, read on 2026-12-01: opencode#49443 and #48069, pi#8643 (images in results, tried with models of eight
 * vendors), pydantic-ai 2.68 (Kimi, Qwen and Pixtral refuse media in results; models that take schemas of answers), the
 * list of LiteLLM 1.110, OpenHands (Kimi refuses `temperature`), pi#686 (signatures),
 * langchain-aws 1.9.1 and LiteLLM 1.110 (tool choices, and models that see
 * no images).
 */
const SHARED_LIMITS: readonly (readonly [name: RegExp, dialect: JsonObject])[] = [
  [
    /gpt-|grok-|kimi|qwen|mistral|magistral|pixtral|devstral|voxtral|gemma|glm-|deepseek|minimax|nemotron|palmyra|jamba|command-/,
    { result_media: false },
  ],
  [/nova|llama|gpt-|grok-|palmyra|jamba|command-|pixtral|mistral-(?:large|small)-24|mixtral|titan|r1-v1/, NO_SCHEMAS],
  [/kimi/, { sampling: 'none' }],
  [
    /gpt-|grok-|nova|llama|kimi|qwen|mistral|magistral|pixtral|gemma|glm-|deepseek|minimax|nemotron|palmyra|jamba|command-/,
    { signatures: 'none' },
  ],
  [/gpt-\d|grok-/, { signatures: 'hidden' }],
  [/pixtral|palmyra|jamba|command-|llama/, { forced_tools: false }],
  [
    /nova-micro|llama3-[13]-|mistral-(?:large|small)-24|mixtral|devstral|palmyra-x|jamba|command-|nemotron-(?:super|nano-[39])/,
    TEXT_ONLY,
  ],
  [/qwen3-(?!vl)|glm-(?:4\.7|5)|minimax-m2|kimi-k2-thinking/, TEXT_ONLY],
]

/**
 * Matches the Claude models whose strict tools and answers Bedrock compiles. The others refuse `strict` and `textFormat`
 * as extra inputs. Sources: litellm#31582, #33193, #35688 and #31943, vercel/ai#18199, presenton#939, models.dev#1765,
 * anthropic-sdk-python#1759, read on 2026-12-01.
 */
const STRICT_CLAUDES = /claude-(?:opus|sonnet|haiku)-4[-.][56]/

/**
 * Matches the Claude model that takes an effort at Bedrock behind a beta alone, `effort-2025-11-24`: "output_config:
 * Extra inputs are not permitted". It thinks by a budget instead. Sources: coder/coder#25356, claude-code-action#1005,
 * LiteLLM 1.110.2, read on 2026-12-01.
 */
const EFFORT_BEHIND_BETA = /claude-opus-4[-.]5/

/** Returns the dialect flags that only Bedrock has of a Claude model, by its name in lower case. */
export const hostedClaude = (name: string): JsonObject => ({
  ...(STRICT_CLAUDES.test(name) ? { strict_tools: true } : { ...NO_SCHEMAS, strict_tools: false }),
  ...(EFFORT_BEHIND_BETA.test(name) ? { efforts: [] } : {}),
})

/**
 * Matches the Claude models that refuse cache points at Bedrock, and those that refuse the duration of one. Sources:
 * docs.aws.amazon.com/bedrock, "Prompt caching", as pydantic-ai 2.68 and LiteLLM 1.110 list it, read on 2026-12-01.
 */
const UNCACHED_CLAUDES = /claude-(?:v?[12]\b|instant|3-(?:haiku|sonnet|opus)|3[-.]5-sonnet-20240620)/
const BRIEFLY_CACHED_CLAUDES = /claude-(?:3[-.]|(?:opus|sonnet)-4(?:[-.]1)?(?:[-@]20\d{6}|$))/

/**
 * Returns the dialect flags of a Claude model that only Converse has, by its name in lower case. Claude refuses documents
 * and videos beside results there (pydantic-ai#6081).
 */
export const converseClaude = (name: string): JsonObject => ({
  after_tools: 'no_files',
  cache_points: !UNCACHED_CLAUDES.test(name),
  cache_times: !BRIEFLY_CACHED_CLAUDES.test(name),
})

/** Returns the dialect flags of a model that Bedrock hosts, by its name in lower case, or undefined without a row. */
export function hostedFamily(name: string): JsonObject | undefined {
  const limits = SHARED_LIMITS.filter(([family]) => family.test(name)).map(([, dialect]) => dialect)
  const family = HOSTED_FAMILIES.find(([row]) => row.test(name))?.[1]
  return limits.length === 0 ? family : Object.assign({}, ...limits, family)
}
