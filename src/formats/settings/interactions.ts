import { settingsOf } from '../../canonical/settings.ts'

/** Settings in `generation_config` (docs/wire/interactions.md#generation-config). */
export const SETTINGS = settingsOf(
  { maxTokens: 'max_output_tokens', temperature: 'temperature', topP: 'top_p', topK: 'top_k', seed: 'seed' },
  ['candidates', 'parallelToolCalls', 'metadata', 'serviceTier'],
)
