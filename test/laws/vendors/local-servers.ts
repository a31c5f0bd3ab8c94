import type { JsonObject } from '../../../src/canonical/node.ts'
import { schemasOfTools } from './asked.ts'
import { GRAMMAR } from './grammar.ts'
import { hi, type Loose, noOddArguments, type Refusal, type StrictVendor } from './vendor.ts'

/* Servers of the user's own machine. */

const LLAMA = 'tools/server/server-common.cpp in llama-cpp-python 0.3.36 (PyPI), read on 2026-12-01'

const user = { role: 'user', content: 'a' }
const named = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
})
const namedChoice: JsonObject = {
  ...hi,
  tools: [named('a'), named('b')],
  tool_choice: { type: 'function', function: { name: 'a' } },
}

const isNamed = ({ tool_choice }: Loose): boolean => typeof tool_choice === 'object'

const partsOf = (body: Loose): Loose[] =>
  body.messages.flatMap(({ content }: Loose) => (Array.isArray(content) ? content : []))

const files: Refusal = {
  error: 'unsupported content[].type',
  source: LLAMA,
  refuses: body => partsOf(body).some(({ type }) => ['file', 'document_url'].includes(type)),
  example: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        ],
      },
    ],
  },
}

const oneSystem: Refusal = {
  error: 'System message must be at the beginning.',
  source: 'ggml-org/llama.cpp#20733 and #27367, read on 2026-12-01',
  refuses: (body, model) =>
    /qwen3\.5/.test(model) &&
    body.messages.slice(1).some(({ role }: Loose) => role === 'system' || role === 'developer'),
  example: { messages: [user, { role: 'system', content: 'b' }, user] },
  native: true,
}

export const llamaCppChat: StrictVendor = {
  preset: 'llama-cpp',
  format: 'chat',
  models: ['qwen3.5-27b', 'gpt-oss-20b'],
  refusals: [
    ...GRAMMAR,
    files,
    oneSystem,
    noOddArguments(
      'Failed to parse tool call arguments as JSON',
      'OpenHands/software-agent-sdk#2887 (llama-server), read on 2026-12-01',
    ),
    {
      error: 'a choice that names a tool is taken for auto, with a warning in the log alone',
      source: 'json_value in tools/server/server-common.h, llama-cpp-python 0.3.36, read on 2026-12-01',
      refuses: isNamed,
      example: namedChoice,
      native: true,
    },
    {
      error: "Assistant message must contain either 'content' or 'tool_calls'!",
      source: LLAMA,
      refuses: body =>
        body.messages.some(
          ({ role, content, tool_calls }: Loose) =>
            role === 'assistant' && content === undefined && tool_calls === undefined,
        ),
      example: { messages: [user, { role: 'assistant', reasoning_content: 'a' }, user] },
    },
    {
      error: "All non-assistant messages must contain 'content'",
      source: LLAMA,
      refuses: body => body.messages.some(({ role, content }: Loose) => role !== 'assistant' && content === undefined),
      example: { messages: [{ role: 'user' }] },
    },
  ],
}

export const lmStudioChat: StrictVendor = {
  preset: 'lm-studio',
  format: 'chat',
  models: ['qwen3.5-27b', 'openai/gpt-oss-20b'],
  refusals: [
    ...GRAMMAR,
    {
      error: 'function.parameters.properties: Required',
      source: 'unclecode/crawl4ai#2207, read on 2026-12-01',
      refuses: body => schemasOfTools(body).some(({ type, properties }) => type === 'object' && !properties),
      example: { ...hi, tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] },
      native: true,
    },
    oneSystem,
    {
      error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
      source: 'lmstudio-ai/lmstudio-bug-tracker#670, oh-my-pi#6925, read on 2026-12-01',
      refuses: isNamed,
      example: namedChoice,
      native: true,
    },
    {
      error: "'response_format.type' must be 'json_schema' or 'text'",
      source: 'LoadShine/tada#16, read on 2026-12-01',
      refuses: body => body.response_format?.type === 'json_object',
      example: { ...hi, response_format: { type: 'json_object' } },
      native: true,
    },
    { ...files, source: 'the server is built on llama.cpp, read on 2026-12-01' },
  ],
}
