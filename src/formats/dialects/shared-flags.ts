import type { DialectOf, Flags } from './flag.ts'

/** Flags for a channel's voices. */
export const VOICE_FLAGS = {
  voices: {
    values: 'string-map',
    meaning: "the upstream's voice for each name that callers use; if set, no other voice is available",
  },
  default_voice: { values: 'string', meaning: "the upstream's voice for requests that name none" },
} as const satisfies Flags

export type VoiceDialect = DialectOf<typeof VOICE_FLAGS>

/**
 * Returns the upstream's voice for a caller's name, or undefined if it has none. Case matters only between voices of one
 * name, because Google lists its own in lower case ("Allowed voice names are: achernar, …", read on 2026-12-01).
 */
export function voiceNamed(voices: { readonly [name: string]: string }, name: string): string | undefined {
  if (Object.hasOwn(voices, name)) return voices[name]
  if (Object.values(voices).includes(name)) return name
  const lowerName = name.toLowerCase()
  const similar = Object.keys(voices).find(other => other.toLowerCase() === lowerName)
  return similar === undefined ? undefined : voices[similar]
}

/** Meaning of `sampling`, whose values differ between formats. */
export const SAMPLING_MEANING =
  "the sampling parameters that are taken; messages and converse: all, either temperature or top_p (`one`), or none; chat and responses: temperature, top_p and logprobs in every request (`all`), unless an effort is requested (`unless_thinking`), only with the effort `none` (`while_off`), or never (`none`); by default as the model's family does (Claude, GPT-5 and later, o-series), or `all`"

/** Meaning of `thinking`, whose values differ between formats. */
export const THINKING_MEANING =
  "how thinking is requested; messages and converse: left to the model (`adaptive`), by a budget (`budget`), either (`both`, default), or not at all (`none`); contents: by a level, by a budget, either (`both`, default), or not at all; by default as the model's family does"

/** Meaning of `thinking_off`, whose values differ between formats. */
export const THINKING_OFF_MEANING =
  'how thinking is turned off: `disabled` by default; `never`: thinking cannot be turned off, so the lowest effort, or the lowest budget of contents, is requested instead; `refused` (messages): like `never`, and `disabled` of native callers is left out; the default for Kimi K2.7 Code, K3 and GLM 5.3'

/** Other flags shared by several formats. */
export const SHARED_FLAGS = {
  system_turns: {
    values: 'boolean',
    default: true,
    meaning:
      'takes turns of the role `system` among the messages; default: true; if false, their role becomes `user`; chat: system messages at the start become one, and the default is false for Qwen 3.5 and later',
  },
  result_media: {
    values: 'boolean',
    default: true,
    meaning:
      'takes media in results of tools; without them, they follow the results in a turn of the user; default: true, and false for Gemini 2.5 and earlier and for other models at Converse than Claude, Nova and Llama; chat: requests of other formats never have any there, and false, as at OpenAI and Azure OpenAI, moves those of native callers, too',
  },
  images: {
    values: 'boolean',
    default: true,
    meaning:
      'takes images in turns of users and results of tools; without them, words stand in their place; default: true; false for models that are known to take text only (DeepSeek V4 Pro and before V4, GLM to 5.2, MiniMax M2, Kimi K2 before K2.5, gpt-oss)',
  },
  files: {
    values: 'boolean',
    default: true,
    meaning:
      'takes files, such as PDFs, from callers of other formats; without them, words stand in their place, and texts in the place of text files; default: true; false for DeepSeek and Alibaba Cloud',
  },
  hosted_tools: {
    values: ['all', 'search', 'none'],
    default: 'all',
    meaning:
      'the hosted tools that the upstream runs for callers of other formats (responses: for native callers, too): `all` (web search, web fetch, code execution), web search alone (`search`), or none; others are left out; default: `all`, `search` for Claude on Google Cloud, and `none` on Bedrock and for Claude in Foundry',
  },
  fetch_urls: {
    values: 'boolean',
    default: false,
    meaning:
      'takes no URLs of images and files at other hosts: the gateway fetches them (chat, responses and messages: for native callers, too); default: false, and true for Ollama, for Bedrock and for Claude on Google Cloud',
  },
  json_schema: {
    values: 'boolean',
    default: true,
    meaning:
      'takes `response_format` with a schema, `output_config.format` or `textFormat`; default: true, and false for Claude in Foundry and for models on Bedrock that refuse it (Claude other than 4.5 and 4.6, Nova, Llama, GPT, Grok, older Mistral); if false, JSON is requested with the schema in words',
  },
  strict_tools: {
    values: 'boolean',
    meaning:
      'takes `strict` of tools; chat and messages: true by default, and false for Claude in Foundry; converse: false by default, and on Bedrock true for Claude 4.5 and 4.6, because all other models there refuse the field',
  },
  forced_while_thinking: {
    values: 'boolean',
    default: true,
    meaning:
      'takes a tool choice that forces a call while the model thinks; default: true; if false, thinking is turned off for such requests, or the call is not forced if the caller asks for thinking or the model always thinks',
  },
  reasoning_demanded: {
    values: 'boolean',
    default: false,
    meaning:
      'refuses assistant turns without reasoning, in chat from the first tool call on and in messages if they have calls: where none is known, a space (chat) or the words `tool call` are sent; default: false',
  },
  odd_arguments: {
    values: 'boolean',
    default: true,
    meaning:
      'takes calls whose arguments are no JSON object, as those of answers that were cut; default: true, and false for MiniMax and servers on own machines; if false, they are wrapped in one',
  },
  schemas: {
    values: ['any', 'current', 'grammar', 'groq', 'kimi', 'xai'],
    default: 'any',
    meaning:
      '`current`: schemas of tools keep to the draft of 2020-12; `grammar`: schemas of tools and answers have no bounds of 1,000 and more, and no patterns and references that llama.cpp cannot compile; `groq`: objects that require names have properties; `kimi`: schemas of tools and answers are written in the subset that Kimi takes, and names of tools begin with a letter; `xai`: schemas have no `pattern`, no `format` and no slash in an `enum`; `any` by default',
  },
  argument_names: {
    values: ['any', 'plain'],
    default: 'any',
    meaning:
      '`plain`: names of the arguments of tools have at most 64 letters, digits, `_`, `.` and `-`; others are described in words, and their tool is not strict; `any` by default, and `plain` for Claude',
  },
  custom_tools: {
    values: 'boolean',
    default: true,
    meaning: 'takes tools of type `custom`; default: true; if false, they are written as functions',
  },
  include_usage: {
    values: 'boolean',
    default: false,
    meaning: 'the gateway requests usage in every stream, so that tokens count against limits',
  },
  count: {
    values: 'boolean',
    default: true,
    meaning: 'false: there is no token counting call, so the gateway estimates tokens',
  },
  version: {
    values: 'string',
    meaning:
      'messages: the `anthropic-version` header: a date, or `caller` for the version of each caller of messages; `2023-06-01` by default. From `2026-10-21` on, temperature, top_p, top_k, documents in assistant turns and citations in user turns are not sent. live: the API version in the path; `v1beta` by default, `v1beta1` with `vertex`',
  },
  efforts: {
    values: 'efforts',
    meaning:
      "the supported efforts, weakest first; messages: `[low, medium, high, xhigh, max]` by default, none if `thinking` is `budget`; chat and responses: another effort and a thinking budget become the nearest one, by default of the model's family (OpenAI, gpt-oss, Grok, Gemini, Kimi), and are dropped if there are no efforts; a budget is also dropped if the efforts are unknown; contents: the thinking levels, by default of the model's family",
  },
  sampling: {
    values: ['all', 'unless_thinking', 'while_off', 'none'],
    default: 'all',
    meaning: SAMPLING_MEANING,
  },
  penalties: {
    values: 'boolean',
    default: true,
    meaning:
      'takes penalties and `logit_bias`; default: true; false for models of OpenAI and Grok that reason, and of Gemini from 2.5 on',
  },
  stop: {
    values: 'boolean',
    default: true,
    meaning: 'takes stop sequences; default: true; false for models of OpenAI and Grok that reason',
  },
  max_output: {
    values: 'number',
    meaning: 'tokens; the maximum output of the model; higher limits in requests are lowered to it',
  },
  prefill: {
    values: 'boolean',
    default: true,
    meaning: 'continues a final assistant turn; default: true; if false, a user turn "Continue." is added',
  },
  verbosity: {
    values: 'boolean',
    default: true,
    meaning: 'takes a verbosity; default: true; false for models of OpenAI before GPT-5',
  },
  vertex: {
    values: 'boolean',
    default: false,
    meaning:
      "Google's cloud API: takes labels, file names and excluded domains, but no call ids, and embeds one input per request; live: the path and the model names are those of the cloud",
  },
  batch: {
    values: 'number',
    meaning: 'the most inputs per request; larger requests are split, and their answers merged',
  },
  batch_tokens: {
    values: 'number',
    meaning:
      'the most tokens of all inputs of one request, which the gateway estimates on the high side; larger requests are split, and their answers merged',
  },
} as const satisfies Flags

/** Meaning of `request_fields`, whose values differ between formats. */
export const REQUEST_FIELDS_MEANING =
  '`mistral`: fields that Mistral does not know are left out, because it refuses them, and `seed` is sent as `random_seed`; `groq`, `cerebras`, `xai`, `fireworks`, `nvidia`, `azure` (models of other makers) and `ark` (Volcengine): fields of OpenAI that these vendors refuse are left out, such as `verbosity` and `metadata`; `any` by default'

/** Meaning of `cache`, whose values differ between formats. */
export const CACHE_MEANING =
  'the cache markers that the upstream obeys; messages and converse: `auto` has Claude cache the requests of callers that cannot set markers (tools, system text, the conversation so far); `auto` is the default for models of Anthropic, else `off`'
