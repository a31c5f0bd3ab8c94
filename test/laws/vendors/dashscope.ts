import { hi, type Loose, type StrictVendor } from './vendor.ts'

/** Models that think unless told otherwise, and in streams only. */
const thinksByDefault = (model: string): boolean => /^(?:qwq|qwen3-\d+b)/.test(model)

export const dashscopeChat: StrictVendor = {
  preset: 'dashscope',
  format: 'chat',
  models: ['qwen3-32b', 'qwq-plus', 'qwen-plus', 'qwen3.7-plus'],
  refusals: [
    {
      error: 'parameter.enable_thinking must be set to false for non-streaming calls',
      source: 'langchain4j#3974, spring-ai-alibaba#867, new-api#1109, UltraRAG#287, read on 2026-12-01',
      refuses: (body, model) =>
        body.stream !== true &&
        (body.enable_thinking === true || (thinksByDefault(model) && body.enable_thinking !== false)),
      example: { ...hi, reasoning_effort: 'high' },
    },
    {
      error: 'content parts of the type file are refused',
      source: 'pydantic-ai 2.68 (providers/alibaba.py), read on 2026-12-01',
      refuses: body =>
        body.messages.some(
          ({ content }: Loose) => Array.isArray(content) && content.some(({ type }: Loose) => type === 'file'),
        ),
      example: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,YQ==' } }],
          },
        ],
      },
    },
    {
      error: 'tool_choice does not support being set to required or object in thinking mode',
      source: 'QwenLM/qwen-code#7659, read on 2026-12-01',
      refuses: body =>
        body.enable_thinking === true && (body.tool_choice === 'required' || typeof body.tool_choice === 'object'),
      example: {
        ...hi,
        enable_thinking: true,
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
        tool_choice: 'required',
      },
    },
  ],
}
