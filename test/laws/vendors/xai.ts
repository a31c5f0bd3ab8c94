import type { Loose, StrictVendor } from './vendor.ts'

const hi = { input: [{ role: 'user', content: 'hi' }] }
const models = ['grok-4.6', 'grok-4.3', 'grok-4.20-0309-non-reasoning']

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
