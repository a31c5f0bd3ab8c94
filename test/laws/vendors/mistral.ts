import { schemasOfTools } from './asked.ts'
import { schemasIn } from './schemas.ts'
import { hi, type Loose, type StrictVendor } from './vendor.ts'

const messages = hi['messages'] as Loose[]
const SYSTEM = /^(?:system|developer)$/

export const mistralChat: StrictVendor = {
  preset: 'mistral',
  format: 'chat',
  models: ['mistral-small-latest', 'mistral-medium-3-5', 'mistral-large-4', 'codestral-latest', 'ministral-8b-latest'],
  refusals: [
    {
      error: 'Invalid tool schema: exclusiveMinimum is a boolean',
      source: 'SylphxAI/pdf-reader-mcp#63, read on 2026-12-01',
      refuses: body =>
        schemasOfTools(body)
          .flatMap(schemasIn)
          .some(one => [one.exclusiveMinimum, one.exclusiveMaximum].some(bound => typeof bound === 'boolean')),
      example: {
        ...hi,
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              parameters: {
                type: 'object',
                properties: { a: { type: 'integer', exclusiveMinimum: true, minimum: 0 } },
              },
            },
          },
        ],
      },
      native: true,
    },
    {
      error: "reasoning_effort='medium' is not supported for this model. Must be one of none and high",
      source: 'architects-toolkit/SmartHopper#647, docs.mistral.ai "Adjustable", models.dev#1986, read on 2026-12-01',
      refuses: ({ reasoning_effort: effort }) => effort !== undefined && !['none', 'high'].includes(effort),
      example: { ...hi, reasoning_effort: 'medium' },
    },
    {
      error: 'reasoning_effort is not enabled for this model',
      source: 'NousResearch/hermes-agent#11243; LiteLLM 1.110.2, the table of models; read on 2026-12-01',
      refuses: ({ reasoning_effort: effort }, model) => effort !== undefined && /codestral|ministral/.test(model),
      example: { ...hi, reasoning_effort: 'high' },
    },
    {
      error: 'top_p must be 1 when using greedy sampling',
      source: 'devoxx/DevoxxGenieIDEAPlugin#338, read on 2026-12-01',
      refuses: ({ temperature, top_p }) => temperature === 0 && top_p !== undefined && top_p !== 1,
      example: { ...hi, temperature: 0, top_p: 0.9 },
      native: true,
    },
    {
      error: 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
      source: 'NEKOparapa/AiNiee#641, agno-agi/agno#2285, read on 2026-12-01',
      refuses: body => {
        const { role, content, tool_calls: calls, prefix } = body.messages.at(-1) ?? {}
        return role === 'assistant' && typeof content === 'string' && content !== '' && !calls && prefix !== true
      },
      example: { messages: [...messages, { role: 'assistant', content: '{"a":' }] },
      native: true,
    },
    {
      error: "Unexpected role 'system' after role 'assistant'",
      source: 'swarmauri/swarmauri-sdk#162, MODSetter/SurfSense#287, read on 2026-12-01',
      refuses: ({ messages: all }) =>
        all.some(({ role }: Loose, at: number) => SYSTEM.test(role) && /assistant|tool/.test(all[at - 1]?.role ?? '')),
      example: {
        messages: [...messages, { role: 'assistant', content: 'a' }, { role: 'system', content: 'b' }, ...messages],
      },
      native: true,
    },
  ],
}
