import { hi, type Loose, type StrictVendor } from './vendor.ts'

const isForced = ({ tool_choice }: Loose): boolean => tool_choice?.type === 'any' || tool_choice?.type === 'tool'
const thinks = ({ thinking }: Loose): boolean => thinking?.type !== 'disabled'
const tools = [{ name: 'f', input_schema: { type: 'object' } }]
const called = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'a' }] },
]

export const deepseekMessages: StrictVendor = {
  preset: 'deepseek',
  format: 'messages',
  models: ['deepseek-v4-pro', 'deepseek-flash'],
  refusals: [
    {
      error: 'The `content[].thinking` in the thinking mode must be passed back to the API',
      source: 'obsidian-yolo#326, OEvortex/aether#31, "Messages API" (api-docs.deepseek.com), read on 2026-12-01',
      refuses: body =>
        thinks(body) &&
        body.messages.some(
          ({ role, content }: Loose) =>
            role === 'assistant' &&
            Array.isArray(content) &&
            content.some(({ type }) => type === 'tool_use') &&
            !content.some(({ type, thinking }) => type === 'thinking' && thinking.trim() !== ''),
        ),
      example: { max_tokens: 100, messages: called, tools },
      native: true,
    },
    {
      error: "Invalid 'user_id': string does not match pattern '^[a-zA-Z0-9_-]+$'",
      source: 'deepseek-ai/DeepSeek-V3#1277, "Rate Limit & Isolation" (api-docs.deepseek.com), read on 2026-12-01',
      refuses: ({ metadata }) => metadata?.user_id !== undefined && !/^[a-zA-Z0-9_-]+$/.test(metadata.user_id),
      example: { ...hi, max_tokens: 100, metadata: { user_id: '{"device_id":"a","session_id":"b"}' } },
      native: true,
    },
    {
      error: 'tools of the type custom are refused',
      source: 'decolua/9router#3905, LiteLLM 1.110.2 (deepseek/messages), read on 2026-12-01',
      refuses: body => (body.tools ?? []).some(({ type }: Loose) => type === 'custom'),
      example: { ...hi, max_tokens: 100, tools: [{ type: 'custom', ...tools[0] }] },
      native: true,
    },
    {
      error: 'Thinking mode does not support this tool_choice',
      source: 'awesome-deepseek-integration#598 and #606, read on 2026-12-01',
      refuses: body => thinks(body) && isForced(body),
      example: { ...hi, max_tokens: 100, tools, tool_choice: { type: 'tool', name: 'f' } },
      native: true,
    },
    {
      error: 'thinking options type cannot be disabled when reasoning_effort is set',
      source: 'anthropics/claude-code#65863, deepseek-ai/DeepSeek-V3#1397, read on 2026-12-01',
      refuses: body => !thinks(body) && body.output_config?.effort !== undefined,
      example: { ...hi, max_tokens: 100, thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
      native: true,
    },
  ],
}

export const deepseekChat: StrictVendor = {
  preset: 'deepseek',
  format: 'chat',
  models: ['deepseek-v4-pro', 'deepseek-flash'],
  refusals: [
    {
      error: 'tool_choice is none, auto, required or a function: a choice of allowed_tools is refused',
      source: 'api-docs.deepseek.com, "Create Chat Completion", read on 2026-12-01',
      refuses: ({ tool_choice }) => tool_choice?.type === 'allowed_tools',
      example: {
        ...hi,
        tools: ['a', 'b', 'c'].map(name => ({ type: 'function', function: { name } })),
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: ['a', 'b'].map(name => ({ type: 'function', function: { name } })) },
        },
      },
    },
  ],
}
