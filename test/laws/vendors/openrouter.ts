import type { Loose, StrictVendor } from './vendor.ts'

const hi = { input: [{ role: 'user', content: 'hi' }] }
const FUNCTION = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }
/** Types of tools that only OpenAI has. */
const OPENAI_ONLY = /^(?:tool_search|namespace|additional_tools)$/

export const openrouterResponses: StrictVendor = {
  preset: 'openrouter',
  format: 'responses',
  models: ['z-ai/glm-5.3', 'openai/gpt-5.6-sol'],
  refusals: [
    {
      error: 'Invalid Responses API request: no matching discriminator of a tool',
      source: 'openai/codex#18307, openai/codex#18228, awsl-project/maxx#537, read on 2026-12-01',
      refuses: ({ tools = [] }) => tools.some(({ type }: Loose) => OPENAI_ONLY.test(type)),
      example: { ...hi, tools: [FUNCTION, { type: 'tool_search', execution: 'client', parameters: {} }] },
      native: true,
    },
    {
      error: 'Invalid Responses API request: tools of a namespace',
      source: 'openai/codex#18307, awsl-project/maxx#537, read on 2026-12-01',
      refuses: ({ tools = [] }) => tools.some(({ tools: inner }: Loose) => inner !== undefined),
      example: { ...hi, tools: [{ type: 'namespace', name: 'mail', description: 'Mail.', tools: [FUNCTION] }] },
      native: true,
    },
  ],
}
