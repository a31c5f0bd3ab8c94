import { hi, noField, type StrictVendor } from './vendor.ts'

const CLOSED = 'closed schemas (can1357/oh-my-pi#2299), fields of LiteLLM 1.110.2, llms/nvidia_nim, read on 2026-12-01'

export const nvidiaChat: StrictVendor = {
  preset: 'nvidia',
  format: 'chat',
  models: [
    'deepseek-ai/deepseek-v4-pro',
    'qwen/qwen3.5-122b-a10b',
    'mistralai/mistral-small-4-119b-2603',
    'z-ai/glm4.7',
  ],
  refusals: [
    noField('prompt_cache_key', 'a', 'diegosouzapw/OmniRoute#848, sipeed/picoclaw#1019, read on 2026-12-01'),
    noField('prompt_cache_retention', '24h', CLOSED),
    noField('verbosity', 'low', CLOSED),
    noField('safety_identifier', 'a', CLOSED),
    noField('metadata', { a: 'b' }, CLOSED),
    noField('service_tier', 'auto', CLOSED),
    noField('store', false, CLOSED),
    {
      error: 'Unsupported parameter(s): `thinking`, `enable_thinking`, `reasoning_budget`',
      source: 'can1357/oh-my-pi#2299, Alishahryar1/free-claude-code#127, OmniRoute#2268, read on 2026-12-01',
      refuses: body => ['thinking', 'enable_thinking', 'reasoning', 'reasoning_budget'].some(field => field in body),
      example: { ...hi, thinking: { type: 'enabled' } },
    },
    {
      error: 'chat_template is not supported for Mistral tokenizers',
      source: 'Alishahryar1/free-claude-code#89, read on 2026-12-01',
      refuses: (body, model) => /mistral/.test(model) && body.chat_template_kwargs !== undefined,
      example: { ...hi, chat_template_kwargs: { enable_thinking: true } },
    },
  ],
}
