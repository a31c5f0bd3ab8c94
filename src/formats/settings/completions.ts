import { settingsOf } from '../../canonical/settings.ts'

/** Settings of a text completions request (docs/wire/completions.md#request). */
export const SETTINGS = settingsOf({
  maxTokens: 'max_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  candidates: 'n',
  endUser: 'user',
})
