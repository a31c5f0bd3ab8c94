import type { Loose, StrictVendor } from './vendor.ts'

const hi = { input: [{ role: 'user', content: 'hi' }] }
const models = ['grok-4.6', 'grok-4.5', 'grok-4.3', 'grok-4.20-0309-non-reasoning']

export const xaiResponses: StrictVendor = {
  preset: 'xai',
  format: 'responses',
  models,
  refusals: [
    {
      error: 'Argument not supported: metadata',
      source: 'rbb-dev/Open-WebUI-OpenRouter-pipe#62, esengine/DeepSeek-Reasonix#9822, read on 2026-12-01',
      refuses: body => body.metadata !== undefined,
      example: { ...hi, metadata: { session: 'x' } },
      native: true,
    },
    {
      error: 'Argument not supported: instructions and previous_response_id together',
      source: '10-X-eng/vibecad#4, read on 2026-12-01',
      refuses: body => body.instructions != null && body.previous_response_id != null,
      example: { ...hi, instructions: 'Be brief.', previous_response_id: 'resp_1' },
      native: true,
    },
    {
      error: 'container of a code interpreter',
      source: 'LiteLLM 1.110.2 (PyPI), llms/xai/responses/transformation.py',
      refuses: body => body.tools?.some(({ container }: Loose) => container?.type === 'auto'),
      example: { ...hi, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      native: true,
    },
  ],
}

const PENALTIES = ['presence_penalty', 'frequency_penalty'] as const
const chat = { messages: hi.input }

export const xaiChat: StrictVendor = {
  preset: 'xai',
  format: 'chat',
  models,
  refusals: [
    {
      error: 'Model grok-4.20-0309-non-reasoning does not support parameter presencePenalty',
      source: 'miaoxworld/NativeTavern#83, QuantumNous/new-api#6081, read on 2026-12-01',
      refuses: body => PENALTIES.some(field => body[field] !== undefined),
      example: { ...chat, presence_penalty: 0 },
    },
    {
      error: 'xhigh is an effort of Grok 4.6 alone',
      source: 'mnfst/modelparams.dev#330, read on 2026-12-01',
      refuses: ({ reasoning_effort: effort }, model) =>
        effort !== undefined &&
        (model.includes('non-reasoning') || (model === 'grok-4.5' && !['low', 'medium', 'high'].includes(effort))),
      example: { ...chat, reasoning_effort: 'xhigh' },
    },
  ],
}
