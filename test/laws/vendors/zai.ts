import { hi, type StrictVendor } from './vendor.ts'

export const zaiChat: StrictVendor = {
  preset: 'zai',
  format: 'chat',
  models: ['glm-4.7', 'glm-5.2', 'glm-5.3'],
  refusals: [
    {
      error: 'temperature is from 0 to 1, top_p from 0.01 to 1 (code 1210)',
      source: 'zai-sdk 0.2.3 (PyPI), docs.z.ai "Chat completion", read on 2026-12-01',
      refuses: ({ temperature, top_p }) => temperature > 1 || temperature < 0 || top_p < 0.01 || top_p > 1,
      example: { ...hi, temperature: 1.5, top_p: 0 },
      native: true,
    },
    {
      error: 'thinking.type disabled is refused: please use low, high, or max',
      source: 'pydantic-ai 2.68 (profiles/zai.py), LiteLLM 1.110.2 (llms/bigmodel), read on 2026-12-01',
      refuses: ({ thinking }, model) => model === 'glm-5.3' && thinking?.type === 'disabled',
      example: { ...hi, thinking: { type: 'disabled' } },
    },
    {
      error: 'role developer is refused',
      source: '@oh-my-pi/pi-catalog 18.2.11 (npm), read on 2026-12-01',
      refuses: body => body.messages.some(({ role }: { role: string }) => role === 'developer'),
      example: {
        messages: [
          { role: 'developer', content: 'a' },
          { role: 'user', content: 'hi' },
        ],
      },
      native: true,
    },
  ],
}
