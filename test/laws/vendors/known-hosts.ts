import { hi, type Loose, type StrictVendor } from './vendor.ts'

/* Vendors without a preset, at channels with `provider: custom`. */

const user = { role: 'user', content: 'a' }
const assistant = { role: 'assistant', content: 'a' }
const isSystem = ({ role }: Loose): boolean => role === 'system' || role === 'developer'
const call = { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } }
const called = [user, { role: 'assistant', content: null, tool_calls: [call] }]

/** Returns true for a list that could be one string. */
const isListOfTexts = (content: Loose): boolean =>
  Array.isArray(content) && content.every(part => Object.keys(part).every(key => ['type', 'text'].includes(key)))

export const perplexityChat: StrictVendor = {
  preset: 'custom',
  baseUrl: 'https://api.perplexity.ai',
  format: 'chat',
  models: ['sonar-pro'],
  refusals: [
    {
      error:
        'After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s)',
      source:
        'anomalyco/opencode#9416, perplexityai/api-discussion#265, obsidian-smart-composer#305, read on 2026-12-01',
      refuses: ({ messages }) =>
        messages.some((one: Loose, at: number) => one.role === 'user' && messages[at - 1]?.role === 'user') ||
        messages.some((one: Loose, at: number) => isSystem(one) && at > 0 && !isSystem(messages[at - 1])),
      example: { messages: [{ role: 'system', content: 'a' }, user, user] },
      native: true,
    },
  ],
}

export const sambanovaChat: StrictVendor = {
  preset: 'custom',
  baseUrl: 'https://api.sambanova.ai/v1',
  format: 'chat',
  models: ['DeepSeek-V3.1', 'gpt-oss-120b'],
  refusals: [
    {
      error: "Invalid 'content' type. Expected one of: ['str'], got list.",
      source: 'musistudio/claude-code-router#965; LiteLLM 1.110.2, llms/sambanova, read on 2026-12-01',
      refuses: body => body.messages.some(({ content }: Loose) => isListOfTexts(content)),
      example: { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] },
      native: true,
    },
    {
      error: "role 'developer' is not one of system, user, assistant, tool",
      source: 'sambanova 1.13.0 (PyPI), the messages, read on 2026-12-01',
      refuses: body => body.messages.some(({ role }: Loose) => role === 'developer'),
      example: { messages: [{ role: 'developer', content: 'a' }, user] },
      native: true,
    },
  ],
}

export const mimoChat: StrictVendor = {
  preset: 'custom',
  baseUrl: 'https://token-plan-ams.xiaomimimo.com/v1',
  format: 'chat',
  models: ['mimo-v2.5-pro', 'mimo-v2.6-flash'],
  refusals: [
    {
      error: 'The reasoning_content in the thinking mode must be passed back to the API.',
      source: 'earendil-works/pi#4602, decolua/9router#1210, hermes-agent#25484, read on 2026-12-01',
      refuses: body =>
        body.thinking?.type !== 'disabled' &&
        body.messages.some(({ tool_calls: calls, reasoning_content: text }: Loose) => calls?.length > 0 && !text),
      example: { messages: [...called, { role: 'tool', tool_call_id: 'call_1', content: 'b' }] },
      native: true,
    },
    {
      error: 'Param Incorrect: `text` is not set',
      source: 'XiaomiMiMo/MiMo#44, NousResearch/hermes-agent#35972 (lists in results), read on 2026-12-01',
      refuses: body => body.messages.some(({ role, content }: Loose) => role === 'tool' && isListOfTexts(content)),
      example: {
        messages: [...called, { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'b' }] }],
      },
      native: true,
    },
  ],
}

export const qianfanChat: StrictVendor = {
  preset: 'custom',
  baseUrl: 'https://qianfan.baidubce.com/v2',
  format: 'chat',
  models: ['ernie-5.0'],
  refusals: [
    {
      error: 'the system message has to be the first one',
      source: 'langchain4j/langchain4j-community#80, read on 2026-12-01',
      refuses: body => body.messages.slice(1).some(isSystem),
      example: { messages: [user, assistant, { role: 'system', content: 'b' }, user] },
      native: true,
    },
  ],
}

const ARK = 'https://ark.cn-beijing.volces.com/api/v3'
const ARK_FIELDS = [
  ...['model', 'input', 'instructions', 'max_output_tokens', 'previous_response_id', 'store', 'reasoning', 'stream'],
  ...['temperature', 'top_p', 'text', 'tools', 'tool_choice', 'max_tool_calls', 'thinking', 'caching', 'expire_at'],
  'context_management',
]

export const arkChat: StrictVendor = {
  preset: 'custom',
  baseUrl: ARK,
  format: 'chat',
  models: ['doubao-seed-2-1-pro-260628', 'glm-5.2'],
  refusals: [
    {
      error: 'Invalid combination of reasoning_effort and thinking type: medium + disabled',
      source: 'RooCodeInc/Roo-Code#11001, read on 2026-12-01',
      refuses: body => body.thinking?.type === 'disabled' && body.reasoning_effort !== undefined,
      example: { ...hi, thinking: { type: 'disabled' }, reasoning_effort: 'medium' },
    },
  ],
}

export const arkResponses: StrictVendor = {
  preset: 'custom',
  baseUrl: ARK,
  format: 'responses',
  models: ['doubao-seed-2-1-pro-260628', 'glm-5.2'],
  refusals: [
    {
      error: 'json: unknown field "prompt_cache_key"',
      source: 'ding113/claude-code-hub#1023; fields: LiteLLM 1.110.2, llms/volcengine/responses, read on 2026-12-01',
      refuses: body => Object.keys(body).some(field => !ARK_FIELDS.includes(field)),
      example: { input: 'hi', prompt_cache_key: 'a', parallel_tool_calls: true, include: [] },
      native: true,
    },
    {
      error: 'json: unknown field "summary"',
      source: 'can1357/oh-my-pi#8521, read on 2026-12-01',
      refuses: body => body.reasoning?.summary !== undefined,
      example: { input: 'hi', reasoning: { effort: 'high', summary: 'auto' } },
      native: true,
    },
    {
      error: 'json: unknown field "encrypted_content"',
      source: '0xPlaygrounds/rig#1515, read on 2026-12-01',
      refuses: body => Array.isArray(body.input) && body.input.some((item: Loose) => 'encrypted_content' in item),
      example: {
        input: [
          { type: 'message', role: 'user', content: 'hi' },
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'a' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: [] }] },
          { type: 'message', role: 'user', content: 'hi' },
        ],
      },
      native: true,
    },
  ],
}
