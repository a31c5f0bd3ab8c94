import { hi, noField, type StrictVendor } from './vendor.ts'

const SDK = 'no field of groq 1.7.0 (PyPI); CherryHQ/cherry-studio#11435, read on 2026-12-01'

export const groqChat: StrictVendor = {
  preset: 'groq',
  format: 'chat',
  models: ['openai/gpt-oss-120b', 'llama-3.3-70b-versatile', 'qwen/qwen3-32b'],
  refusals: [
    noField('verbosity', 'low', SDK),
    noField('prompt_cache_key', 'a', SDK),
    noField('prompt_cache_retention', '24h', SDK),
    noField('safety_identifier', 'a', SDK),
    {
      error: "property 'reasoning_content' is unsupported",
      source: 'docs/wire/chat.md#fields-that-vendors-refuse',
      refuses: body => body.messages.some((message: object) => 'reasoning_content' in message),
      example: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'hi', reasoning_content: 'a' },
          { role: 'user', content: 'hi' },
        ],
      },
      native: true,
    },
    {
      error: "role 'developer' is not supported",
      source: 'groq 1.7.0 (PyPI), the roles of messages',
      refuses: body => body.messages.some(({ role }: { role: string }) => role === 'developer'),
      example: { messages: [{ role: 'developer', content: 'a' }, ...(hi['messages'] as [])] },
    },
  ],
}
