import { hi, isJsonObject, type Loose, noOddArguments, type StrictVendor } from './vendor.ts'

const SERVER = 'vllm 0.33.0 (PyPI), read on 2026-12-01'
const MISTRAL = 'mistralai/Mistral-Small-3.2-24B-Instruct-2506'
const isMistral = (model: string): boolean => /mistral/i.test(model)

const user = { role: 'user', content: 'a' }
const isUser = ({ role }: Loose): boolean => role === 'user'
const isSystem = ({ role }: Loose): boolean => role === 'system' || role === 'developer'

const call = { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } }
const called = [user, { role: 'assistant', content: null, tool_calls: [call] }]
const result = { role: 'tool', tool_call_id: 'call_1', content: 'b' }

const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }

export const vllmChat: StrictVendor = {
  preset: 'vllm',
  format: 'chat',
  models: ['Qwen/Qwen3.5-27B', MISTRAL, 'openai/gpt-oss-20b'],
  refusals: [
    {
      error: 'conversation roles must alternate user and assistant roles: turns of the user in a row',
      source: 'mini-swe-agent#759, crush#279, vllm-project/vllm#6862, read on 2026-12-01',
      refuses: (body, model) =>
        isMistral(model) &&
        body.messages.some((one: Loose, at: number) => isUser(one) && isUser(body.messages[at - 1] ?? {})),
      example: { messages: [user, user] },
      native: true,
    },
    {
      error: 'conversation roles must alternate user and assistant roles: a user after a tool',
      source: 'templates of Mistral Small 3.2 and Ministral 3 in llama-cpp-python 0.3.36, run on 2026-12-01',
      refuses: (body, model) =>
        isMistral(model) &&
        body.messages.some((one: Loose, at: number) => isUser(one) && body.messages[at - 1]?.role === 'tool'),
      example: { messages: [...called, result, user] },
      native: true,
    },
    {
      error: 'Tool call IDs should be alphanumeric strings with length 9!',
      source: 'template of Mistral Small 3.2 in llama-cpp-python 0.3.36, run on 2026-12-01',
      refuses: (body, model) =>
        isMistral(model) &&
        body.messages.some(({ tool_calls: calls }: Loose) =>
          (calls ?? []).some(({ id }: Loose) => !/^[a-zA-Z0-9]{9}$/.test(id)),
        ),
      example: { messages: [...called, result] },
      native: true,
    },
    {
      error: 'System message must be at the beginning.',
      source: 'ggml-org/llama.cpp#20733 and #27367 (templates of Qwen 3.5 and Mistral), read on 2026-12-01',
      refuses: (body, model) => /qwen3\.5|mistral/i.test(model) && body.messages.slice(1).some(isSystem),
      example: { messages: [user, { role: 'system', content: 'b' }, user] },
      native: true,
    },
    {
      error: "Unsupported chat content part type: 'file'",
      source: SERVER,
      refuses: body =>
        body.messages.some(
          ({ content }: Loose) => Array.isArray(content) && content.some(({ type }: Loose) => type === 'file'),
        ),
      example: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'file', file },
            ],
          },
        ],
      },
    },
    noOddArguments(
      "Expecting ',' delimiter; Unterminated string: arguments of earlier calls are parsed",
      'vllm-project/vllm#43995 and #48922 (0.24.0 and 0.25.1), mistral-vibe#615, read on 2026-12-01',
    ),
    {
      error: '`tools` must not be an empty array; when using `tool_choice`, `tools` must be set',
      source: SERVER,
      refuses: ({ tools, tool_choice }) =>
        tools?.length === 0 || (tools === undefined && tool_choice !== undefined && tool_choice !== 'none'),
      example: { ...hi, tool_choice: 'auto' },
    },
    {
      error: 'Stream options can only be defined when `stream=True`.',
      source: SERVER,
      refuses: ({ stream, stream_options }) => stream_options !== undefined && stream !== true,
      example: { ...hi, stream_options: { include_usage: true } },
    },
  ],
}

const inputOf = (body: Loose): Loose[] => (Array.isArray(body.input) ? body.input : [])

export const vllmResponses: StrictVendor = {
  preset: 'vllm',
  format: 'responses',
  models: ['Qwen/Qwen3.5-27B', 'openai/gpt-oss-20b'],
  refusals: [
    {
      error: "Unsupported chat content part type: 'input_file'",
      source: SERVER,
      refuses: body =>
        inputOf(body).some(
          ({ content }: Loose) => Array.isArray(content) && content.some(({ type }: Loose) => type === 'input_file'),
        ),
      example: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_file', ...file }] }] },
    },
    {
      error: 'JSON decode error: arguments of earlier calls are parsed',
      source: 'local-inference-lab/vllm#684 (Codex), vllm-project/vllm#47761, read on 2026-12-01',
      refuses: body =>
        inputOf(body).some(({ type, arguments: text }: Loose) => type === 'function_call' && !isJsonObject(text)),
      example: {
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
          { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a": "b' },
          { type: 'function_call_output', call_id: 'call_1', output: 'cut' },
        ],
      },
      native: true,
    },
    {
      error: 'Tool choice must be specified with `tools` parameter.',
      source: 'vllm-project/vllm#40399, read on 2026-12-01',
      refuses: ({ tools, tool_choice }) =>
        (tools ?? []).length === 0 && tool_choice !== undefined && !['auto', 'none'].includes(tool_choice),
      example: { input: 'hi', tool_choice: 'required' },
    },
  ],
}
