import type { JsonObject } from '../../../src/canonical/node.ts'
import { hi, type Loose, noImageUrls, type Refusal, type StrictVendor } from './vendor.ts'

/* Clouds that host Claude behind Messages. */

const MODELS = ['anthropic.claude-opus-5-5', 'anthropic.claude-sonnet-5', 'claude-haiku-4-5@20251001']

const example = (fields: JsonObject): JsonObject => ({ max_tokens: 100, ...hi, ...fields })

const typesOf = (body: Loose): string[] => (body.tools ?? []).map(({ type = '' }: Loose) => type)

const noTools = (types: RegExp, source: string, named: JsonObject): Refusal => ({
  error: `tool type ${types.source} is not supported for this model`,
  source,
  refuses: body => typesOf(body).some(type => types.test(type)),
  example: example({ tools: [named] }),
})

const BEDROCK = 'pydantic/pydantic-ai#11481 and #11513, pydantic-ai 2.68 (PyPI), read on 2026-12-01'
const SEARCH = { type: 'web_search_20250305', name: 'web_search' }
const FETCH = { type: 'web_fetch_20250910', name: 'web_fetch' }
const CODE = { type: 'code_execution_20250825', name: 'code_execution' }

/** Claude Opus 4.5 takes an effort behind a beta alone, which InvokeModel has in the body. */
const effortOfOpus: Refusal = {
  error: 'output_config.effort: Extra inputs are not permitted',
  source: 'coder/coder#25356, anthropics/claude-code-action#1005, read on 2026-12-01',
  refuses: ({ output_config, anthropic_beta = [] }, model) =>
    /opus-4-5/.test(model) && output_config?.effort !== undefined && !anthropic_beta.includes('effort-2025-11-24'),
  example: example({ output_config: { effort: 'low' } }),
}

const bytesOnly = noImageUrls(
  'URL sources are not supported',
  'LiteLLM 1.110.2 (PyPI), llms/anthropic and llms/bedrock, which fetch them, read on 2026-12-01',
  example({
    messages: [
      { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }] },
    ],
  }),
)

const bedrock = (preset: string): StrictVendor => ({
  preset,
  format: 'messages',
  models: MODELS,
  refusals: [
    noTools(/^web_search_/, BEDROCK, SEARCH),
    noTools(/^web_fetch_/, BEDROCK, FETCH),
    noTools(/^code_execution_/, BEDROCK, CODE),
    bytesOnly,
  ],
})

const invoked = bedrock('bedrock-invoke')

export const bedrockMessages: readonly StrictVendor[] = [
  ...[bedrock('bedrock'), bedrock('bedrock-mantle')],
  {
    ...invoked,
    models: [...MODELS, 'us.anthropic.claude-opus-4-5-20251101-v1:0'],
    refusals: [...invoked.refusals, effortOfOpus],
  },
]

export const bedrockResponses: StrictVendor = {
  preset: 'bedrock',
  format: 'responses',
  models: ['us.openai.gpt-5.6-sol', 'openai.gpt-oss-120b-1:0'],
  refusals: [
    {
      error: 'web search is not supported for this request',
      source: 'LiteLLM 1.110.2 (PyPI), llms/bedrock/responses/transformation.py, read on 2026-12-01',
      refuses: body => typesOf(body).some(type => /^(?:web_search|code_interpreter)/.test(type)),
      example: { input: 'hi', tools: [{ type: 'web_search' }] },
      native: true,
    },
  ],
}

export const vertexMessages: StrictVendor = {
  preset: 'vertex-claude',
  format: 'messages',
  models: MODELS,
  refusals: [noTools(/^web_fetch_/, 'pydantic-ai 2.68 (PyPI), read on 2026-12-01', FETCH), bytesOnly],
}

const FOUNDRY = 'can1357/oh-my-pi#4679, read on 2026-12-01'

export const foundryMessages: StrictVendor = {
  preset: 'azure-foundry',
  format: 'messages',
  models: ['claude-opus-5-5', 'claude-sonnet-5'],
  refusals: [
    {
      error: 'structured_outputs not supported in your workspace: strict tools',
      source: FOUNDRY,
      refuses: body => (body.tools ?? []).some(({ strict }: Loose) => strict !== undefined),
      example: example({ tools: [{ name: 'a', input_schema: { type: 'object' }, strict: true }] }),
    },
    {
      error: 'structured_outputs not supported in your workspace: schemas of answers',
      source: FOUNDRY,
      refuses: body => body.output_config?.format !== undefined,
      example: example({ output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }),
    },
    noTools(/^web_search_/, 'Claude Code 2.1.282, its errors of Foundry, read on 2026-12-01', SEARCH),
    {
      error: 'messages: role system',
      source: 'pydantic-ai 2.68 (PyPI), read on 2026-12-01',
      refuses: body => body.messages.some(({ role }: Loose) => role === 'system'),
      example: example({
        messages: [...(hi['messages'] as []), { role: 'system', content: 'a' }, { role: 'assistant', content: 'b' }],
      }),
    },
  ],
}
