import { hi, noField, type StrictVendor } from './vendor.ts'

const PI = 'earendil-works/pi#9645 (DeepSeek at Foundry), read on 2026-12-01'

/** Models of other makers than OpenAI at Azure's `/openai/v1`. */
export const azureChat: StrictVendor = {
  preset: 'azure-openai',
  format: 'chat',
  models: ['DeepSeek-V4-Pro', 'Kimi-K2.5'],
  refusals: [
    noField('prompt_cache_key', 'a', `zed-industries/zed#52000 (Kimi K2.5 at Foundry), ${PI}`),
    noField('prompt_cache_retention', '24h', PI),
    {
      error: 'unrecognized_request_argument: thinking',
      source: `${PI}; esengine/DeepSeek-Reasonix#1299`,
      refuses: body => body.thinking !== undefined,
      example: { ...hi, thinking: { type: 'enabled' } },
    },
    {
      error: 'reasoning_effort of DeepSeek is low, medium or high',
      source: PI,
      refuses: ({ reasoning_effort: effort }, model) =>
        /deepseek/i.test(model) && effort !== undefined && !['low', 'medium', 'high'].includes(effort),
      example: { ...hi, reasoning_effort: 'xhigh' },
    },
  ],
}
