import { schemasOfTools } from './asked.ts'
import { schemasIn } from './schemas.ts'
import { hi, type Loose, noField, noReasoningContent, type StrictVendor } from './vendor.ts'

const SDK = 'no field of groq 1.7.0 (PyPI); CherryHQ/cherry-studio#11435, read on 2026-12-01'

const PAGE = '"OpenAI Compatibility", console.groq.com/docs/openai, read on 2026-12-01'

const isWithoutProperties = ({ required, properties }: Loose): boolean =>
  required !== undefined && properties === undefined

export const groqChat: StrictVendor = {
  preset: 'groq',
  format: 'chat',
  models: ['openai/gpt-oss-120b', 'llama-3.3-70b-versatile', 'qwen/qwen3-32b'],
  refusals: [
    {
      error: "invalid JSON schema for tool: 'required' present but 'properties' is missing",
      source: 'usestrix/strix#1088 and #1204, eigent-ai/eigent#1908, read on 2026-12-01',
      refuses: body => schemasOfTools(body).some(root => schemasIn(root).some(isWithoutProperties)),
      example: {
        ...hi,
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', required: [] } } }],
      },
      native: true,
    },
    noField('verbosity', 'low', SDK),
    noField('prompt_cache_key', 'a', SDK),
    noField('prompt_cache_retention', '24h', SDK),
    noField('safety_identifier', 'a', SDK),
    noField('logprobs', true, PAGE),
    noField('logit_bias', { 50256: -100 }, PAGE),
    {
      error: 'top_logprobs is not supported',
      source: PAGE,
      refuses: body => body.top_logprobs !== undefined,
      example: { ...hi, logprobs: true, top_logprobs: 2 },
      native: true,
    },
    {
      error: 'n must be equal to 1',
      source: PAGE,
      refuses: ({ n }) => n != null && n !== 1,
      example: { ...hi, n: 2 },
      native: true,
    },
    {
      error: 'messages[].name is not supported',
      source: PAGE,
      refuses: body => body.messages.some(({ name }: Loose) => name !== undefined),
      example: { messages: [{ role: 'user', name: 'ann', content: 'hi' }] },
      native: true,
    },
    {
      error: 'json mode cannot be combined with tool/function calling',
      source: 'agno-agi/agno#1065, vercel/ai#16540, read on 2026-12-01',
      refuses: ({ tools, response_format: shape }) => tools?.length > 0 && shape && shape.type !== 'text',
      example: {
        ...hi,
        tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }],
        response_format: { type: 'json_object' },
      },
      native: true,
    },
    {
      error: '`reasoning_effort` must be one of `none` or `default`, or is not supported with this model',
      source: 'groq 1.7.0 (PyPI), earendil-works/pi#1745, iamsrikanthnani/pluely#219, read on 2026-12-01',
      refuses: ({ reasoning_effort: effort }, model) =>
        effort !== undefined &&
        (/llama/.test(model) || (/qwen3-32b/.test(model) && !['none', 'default'].includes(effort))),
      example: { ...hi, reasoning_effort: 'high' },
    },
    {
      error: 'This model does not support response format `json_schema`',
      source: 'plune-ai/cairn#36, ItzCrazyKns/Vane#980, groq/groq-changelog#11, read on 2026-12-01',
      refuses: ({ response_format: shape }, model) => shape?.type === 'json_schema' && /llama-3|qwen3-32b/.test(model),
      example: {
        ...hi,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { type: 'object', properties: {} } },
        },
      },
    },
    noReasoningContent("property 'reasoning_content' is unsupported", 'docs/wire/chat.md#fields-that-vendors-refuse'),
    {
      error: "role 'developer' is not supported",
      source: 'groq 1.7.0 (PyPI), the roles of messages',
      refuses: body => body.messages.some(({ role }: { role: string }) => role === 'developer'),
      example: { messages: [{ role: 'developer', content: 'a' }, ...(hi['messages'] as [])] },
    },
  ],
}
