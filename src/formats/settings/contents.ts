import { settingsOf } from '../../canonical/settings.ts'

/** Settings in `generationConfig` (docs/wire/contents.md#generation-config). */
export const SETTINGS = settingsOf(
  {
    maxTokens: 'maxOutputTokens',
    temperature: 'temperature',
    topP: 'topP',
    topK: 'topK',
    seed: 'seed',
    presencePenalty: 'presencePenalty',
    frequencyPenalty: 'frequencyPenalty',
    candidates: 'candidateCount',
  },
  ['parallelToolCalls', 'metadata', 'serviceTier'],
)
