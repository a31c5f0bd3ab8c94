import { settingsOf } from '../../canonical/settings.ts'

/** Settings of a chat completions request (docs/wire/chat.md#request). */
export const SETTINGS = settingsOf(
  {
    temperature: 'temperature',
    topP: 'top_p',
    seed: 'seed',
    frequencyPenalty: 'frequency_penalty',
    presencePenalty: 'presence_penalty',
    candidates: 'n',
    verbosity: 'verbosity',
    parallelToolCalls: 'parallel_tool_calls',
    metadata: 'metadata',
    serviceTier: 'service_tier',
    cacheKey: 'prompt_cache_key',
  },
  ['maxTokens', 'parallelToolCalls', 'serviceTier', 'endUser'],
)

/** Settings that Mistral takes, whose seed has another name (docs/wire/chat.md#fields-that-mistral-takes). */
export const MISTRAL_SETTINGS = settingsOf(
  {
    temperature: 'temperature',
    topP: 'top_p',
    seed: 'random_seed',
    frequencyPenalty: 'frequency_penalty',
    presencePenalty: 'presence_penalty',
    candidates: 'n',
    parallelToolCalls: 'parallel_tool_calls',
    metadata: 'metadata',
  },
  ['maxTokens', 'parallelToolCalls', 'serviceTier', 'endUser'],
)
