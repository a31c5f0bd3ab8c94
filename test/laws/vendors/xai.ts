import type { Loose, StrictVendor } from './vendor.ts'

const hi = { input: [{ role: 'user', content: 'hi' }] }
const models = ['grok-4.6', 'grok-4.5', 'grok-4.3', 'grok-4.20-0309-non-reasoning']

/** Returns true if a schema, or one within it, has a keyword that xAI refuses. */
const hasRefusedKeyword = (schema: Loose): boolean => {
  if (typeof schema !== 'object' || schema === null) return false
  if (Array.isArray(schema)) return schema.some(hasRefusedKeyword)
  const { properties = {}, pattern, format, enum: values, ...others } = schema
  if (typeof pattern === 'string' || typeof format === 'string') return true
  if (Array.isArray(values) && values.some(one => typeof one === 'string' && one.includes('/'))) return true
  const { default: _, const: __, examples: ___, required: ____, ...within } = others
  return [...Object.values(properties ?? {}), ...Object.values(within)].some(hasRefusedKeyword)
}

const toolWith = (property: Loose): Loose => ({
  type: 'function',
  name: 'f',
  parameters: { type: 'object', properties: { a: property } },
})

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
      error: 'Argument not supported: service_tier',
      source: 'NousResearch/hermes-agent#32443, read on 2026-12-01',
      refuses: body => body.service_tier !== undefined,
      example: { ...hi, service_tier: 'priority' },
      native: true,
    },
    {
      error: 'Invalid arguments passed to the model: pattern and format',
      source: 'NousResearch/hermes-agent#27197 and #27575, read on 2026-12-01',
      refuses: body => body.tools?.some(({ parameters }: Loose) => hasRefusedKeyword(parameters)),
      example: { ...hi, tools: [toolWith({ type: 'string', format: 'date-time' })] },
      native: true,
    },
    {
      error: 'Invalid arguments passed to the model: a slash in an enum',
      source: 'NousResearch/hermes-agent#32443, read on 2026-12-01',
      refuses: body => body.tools?.some(({ parameters }: Loose) => hasRefusedKeyword(parameters)),
      example: { ...hi, tools: [toolWith({ type: 'string', enum: ['openai/gpt-oss-20b'] })] },
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
