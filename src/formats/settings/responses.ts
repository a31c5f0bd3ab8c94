import { settingsOf } from '../../canonical/settings.ts'

/** Settings of a responses request (docs/wire/responses.md#request). Only some dialects have penalties. */
export const SETTINGS = settingsOf(
  {
    maxTokens: 'max_output_tokens',
    temperature: 'temperature',
    topP: 'top_p',
    frequencyPenalty: 'frequency_penalty',
    presencePenalty: 'presence_penalty',
    parallelToolCalls: 'parallel_tool_calls',
    metadata: 'metadata',
    serviceTier: 'service_tier',
    cacheKey: 'prompt_cache_key',
  },
  [
    ...(['maxTokens', 'frequencyPenalty', 'presencePenalty', 'candidates', 'verbosity'] as const),
    ...(['parallelToolCalls', 'serviceTier', 'endUser'] as const),
  ],
)
