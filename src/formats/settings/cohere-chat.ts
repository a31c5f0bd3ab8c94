import { settingsOf } from '../../canonical/settings.ts'

/**
 * Settings in the body (docs/wire/cohere-chat.md#request). The format's own code writes settings with a limited range.
 */
export const SETTINGS = settingsOf(
  {
    ...{ maxTokens: 'max_tokens', temperature: 'temperature', topP: 'p', topK: 'k', seed: 'seed' },
    ...{ frequencyPenalty: 'frequency_penalty', presencePenalty: 'presence_penalty' },
  },
  ['temperature', 'topP', 'topK', 'seed', 'frequencyPenalty', 'presencePenalty', 'parallelToolCalls'],
)
