import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import { isOddFunction, isOpen, isUnsound } from './schemas.ts'
import { hi, type Loose, type Refusal, type StrictVendor } from './vendor.ts'

const READ = 'read on 2026-12-01'
const SPEC = "OpenAI's OpenAPI description, read on 2026-12-01"
const TOOLS = 'docs/wire/chat.md#tools'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

const PARAMETERS: JsonObject = { type: 'object', properties: {} }

const user: JsonObject = { role: 'user', content: 'hi' }

const functionsOf = (body: Loose): Loose[] =>
  (body.tools ?? []).flatMap((tool: Loose) => (tool.type === 'function' ? [tool.function ?? tool] : []))

const isTooLong = (body: Loose): boolean =>
  ['user', 'prompt_cache_key'].some(field => body[field] !== undefined && body[field].length > 64)

/** Rules of functions, which Chat Completions and Responses share. */
const functionRules = (written: (fields: JsonObject) => JsonObject): readonly Refusal[] => [
  {
    error: "Invalid 'tools[0].name': string does not match pattern",
    source: SPEC,
    refuses: body => functionsOf(body).some(({ name }) => !NAME.test(name)),
    example: written({ name: 'mail.send' }),
  },
  {
    error: 'Invalid schema for function: the root is no object or a union, or a list has no items',
    source: TOOLS,
    refuses: body => functionsOf(body).some(({ parameters }) => parameters && isOddFunction(parameters)),
    example: written({ parameters: { ...PARAMETERS, anyOf: [{ required: ['a'] }, { required: ['b'] }] } }),
  },
  {
    error: 'Invalid schema for function: In context=(), array schema missing items',
    source: TOOLS,
    refuses: body => functionsOf(body).some(({ parameters }) => parameters && isOddFunction(parameters)),
    example: written({ parameters: { type: 'object', properties: { a: { type: 'array' } } } }),
  },
  {
    error: "Invalid schema for function: 'object' is not of type 'object', 'boolean'",
    source: `smallmain/vscode-unify-chat-provider#162, ${READ}`,
    refuses: body => functionsOf(body).some(({ parameters }) => parameters && isUnsound(parameters)),
    example: written({ parameters: { type: 'object', properties: { a: { type: 'string' }, type: 'object' } } }),
  },
  {
    error: "'additionalProperties' is required to be supplied and to be false; 'required' to include every key",
    source: `bytedance/trae-agent#173, vercel/ai#6484, docker/docker-agent#2168, ${READ}`,
    refuses: body => functionsOf(body).some(({ strict, parameters }) => strict && parameters && isOpen(parameters)),
    example: written({ strict: true, parameters: { type: 'object', properties: { a: { type: 'string' } } } }),
  },
]

const call = (id: string): JsonObject => ({ id, type: 'function', function: { name: 'now', arguments: '{}' } })

const withCall = (id: string): JsonObject => ({
  messages: [
    user,
    { role: 'assistant', content: null, tool_calls: [call(id)] },
    { role: 'tool', tool_call_id: id, content: 'a' },
  ],
})

/** Returns true if a result has no call in the messages of the assistant before it. */
function areUnpaired(messages: readonly Loose[]): boolean {
  let open = new Set<string>()
  return messages.some(({ role, tool_call_id, tool_calls = [] }) => {
    if (role === 'tool') return !open.delete(tool_call_id)
    if (role !== 'assistant') open = new Set()
    for (const { id } of tool_calls) open.add(id)
    return false
  })
}

/** Highest output limits of models that are often asked for more. */
const LIMITS: readonly (readonly [model: RegExp, limit: number])[] = [
  [/gpt-3\.5|gpt-4-turbo/, 4096],
  [/gpt-4o|chat-latest/, 16_384],
  [/gpt-4\.1/, 32_768],
  [/^o\d/, 100_000],
]

const limitOf = (model: string): number => LIMITS.find(([name]) => name.test(model))?.[1] ?? Number.POSITIVE_INFINITY

const DICE = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty']

export const openaiChat: StrictVendor = {
  preset: 'openai',
  format: 'chat',
  models: [
    ...['gpt-4o', 'gpt-4.1', 'gpt-3.5-turbo', 'gpt-4-turbo', 'gpt-5', 'gpt-5-chat-latest', 'gpt-5.2-chat-latest'],
    ...['gpt-5.6-sol', 'o3', 'o4-mini', 'gpt-4o-search-preview'],
  ],
  refusals: [
    ...functionRules(fields => ({
      ...hi,
      tools: [{ type: 'function', function: { name: 'now', parameters: PARAMETERS, ...fields } }],
    })),
    {
      error: "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40",
      source: `camel-ai/camel#2215, langmanus/langmanus#119, ${READ}`,
      refuses: ({ messages }) =>
        messages.some(({ tool_calls = [] }: Loose) => tool_calls.some(({ id }: Loose) => id.length > 40)),
      example: withCall('x'.repeat(41)),
    },
    {
      error: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
      source: `smarter-sh/smarter#264, run-llama/llama_index#10493, ${READ}`,
      refuses: ({ messages }) => areUnpaired(messages),
      example: { messages: [user, { role: 'tool', tool_call_id: 'a', content: 'a' }, user] },
    },
    {
      error: "Invalid 'tools', 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
      source: `vllm-project/vllm#39780, openai/openai-node#1341, ${READ}`,
      refuses: ({ tools, messages }) =>
        tools?.length === 0 || messages.some(({ tool_calls }: Loose) => tool_calls?.length === 0),
      example: { ...hi, tools: [] },
    },
    {
      error: "'tool_choice' is only allowed when 'tools' are specified",
      source: `writer/writer-framework#1013, ${READ}`,
      refuses: ({ tools, tool_choice, parallel_tool_calls }) =>
        tools === undefined && (tool_choice !== undefined || parallel_tool_calls !== undefined),
      example: { ...hi, tool_choice: 'auto' },
    },
    {
      error: "Unsupported parameter: 'parallel_tool_calls' is not supported with this model",
      source: `run-llama/llama_index#20865, tensorzero/tensorzero#2805, evalstate/fast-agent#279, ${READ}`,
      refuses: ({ parallel_tool_calls }, model) => /^o\d/.test(model) && parallel_tool_calls !== undefined,
      example: {
        ...hi,
        tools: [{ type: 'function', function: { name: 'now', parameters: PARAMETERS } }],
        parallel_tool_calls: false,
      },
    },
    {
      error: 'max_tokens is too large: 32000. This model supports at most 16384 completion tokens',
      source: `enoch3712/ExtractThinker#346, charmbracelet/catwalk#41, ChatGPTNextWeb/NextChat#3195, ${READ}`,
      refuses: ({ max_tokens, max_completion_tokens = max_tokens }, model) => max_completion_tokens > limitOf(model),
      example: { ...hi, max_completion_tokens: 128_000 },
    },
    {
      error: 'Model incompatible request arguments supplied: frequency_penalty, presence_penalty, temperature, top_p',
      source: `ChatGPTNextWeb/NextChat#6569, crmne/ruby_llm#155, charmbracelet/mods#480, ${READ}`,
      refuses: (body, model) => /search/.test(model) && DICE.some(field => body[field] !== undefined),
      example: { ...hi, temperature: 0, presence_penalty: 0.5 },
    },
    {
      error: "'response_format' of type 'json_schema' is not supported with this model",
      source: `"Structured model outputs", as cited in juspay/neurolink#1691 and crewAIInc/crewAI#6357, ${READ}`,
      refuses: ({ response_format }, model) =>
        /gpt-3\.5|gpt-4-turbo/.test(model) && response_format?.type === 'json_schema',
      example: {
        ...hi,
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema: PARAMETERS } },
      },
    },
    {
      error: "'messages' must contain the word 'json' in some form",
      source: 'docs/wire/chat.md#request',
      refuses: ({ response_format, messages }) =>
        response_format?.type === 'json_object' && messages.length > 0 && !/json/i.test(JSON.stringify(messages)),
      example: { ...hi, response_format: { type: 'json_object' } },
    },
    {
      error: "Unsupported value: 'verbosity' does not support 'low' with this model",
      source: `google-deepmind/concordia#164, enricoros/big-AGI#930, ${READ}`,
      refuses: ({ verbosity = 'medium' }, model) => /gpt-[34]|gpt-5-chat/.test(model) && verbosity !== 'medium',
      example: { ...hi, verbosity: 'low' },
    },
    {
      error: "Invalid 'stop': array too long. Expected an array with maximum length 4",
      source: SPEC,
      refuses: ({ stop }) => Array.isArray(stop) && stop.length > 4,
      example: { ...hi, stop: ['a', 'b', 'c', 'd', 'e'] },
    },
    {
      error: "Invalid 'user', 'prompt_cache_key': string too long. Expected a string with maximum length 64",
      source: `maximhq/bifrost#1000, theopenco/llmgateway#3110, ${READ}`,
      refuses: isTooLong,
      example: { ...hi, user: 'x'.repeat(65), prompt_cache_key: 'y'.repeat(65) },
    },
  ],
}

const itemsOf = ({ input }: Loose): Loose[] => (Array.isArray(input) ? input : [])

const ask: JsonObject = { input: 'hi' }

const withOutput = (call_id: string): JsonObject => ({
  input: [
    user,
    { type: 'function_call', call_id, name: 'now', arguments: '{}' },
    { type: 'function_call_output', call_id, output: 'a' },
  ],
})

/** How the ids of items begin. */
const PREFIXES: { readonly [type: string]: RegExp } = { function_call: /^fc/, message: /^msg/, reasoning: /^rs/ }

const isOddId = ({ type = 'message', id }: Loose): boolean =>
  id !== undefined && PREFIXES[type] !== undefined && !PREFIXES[type].test(id)

/** Returns true if an output has no call. */
function areItemsUnpaired(body: Loose): boolean {
  if (body.previous_response_id !== undefined || body.conversation !== undefined) return false
  const items = itemsOf(body).filter(({ type }) => /^(?:function|custom_tool)_call/.test(type))
  const calls = new Set(items.filter(({ output }) => output === undefined).map(({ call_id }) => call_id))
  return items.some(({ output, call_id }) => output !== undefined && !calls.has(call_id))
}

const hasUser = (body: Loose): boolean =>
  body.input === 'hi' || itemsOf(body).some(({ role, content }) => role === 'user' && content.length > 0)

const SEARCH: Json = { type: 'web_search' }

export const openaiResponses: StrictVendor = {
  preset: 'openai',
  format: 'responses',
  models: [...['gpt-4o', 'gpt-4.1', 'gpt-5', 'gpt-5.2-chat-latest', 'gpt-5.6-sol', 'gpt-6.1-sol', 'o3', 'gpt-5-codex']],
  refusals: [
    ...functionRules(fields => ({
      ...ask,
      tools: [{ type: 'function', name: 'now', parameters: PARAMETERS, strict: false, ...fields }],
    })),
    {
      error: "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64",
      source: `orchidfiles/ungate#26, AnswerDotAI/fastllm#45, HKUDS/nanobot#1623, ${READ}`,
      refuses: body => itemsOf(body).some(({ call_id = '' }) => call_id.length > 64),
      example: withOutput('x'.repeat(65)),
    },
    {
      error: "Invalid 'input[1].id': 'item_1'. Expected an ID that begins with 'msg'",
      source: `openai/codex#33176, Wei-Shaw/sub2api#3981, ${READ}`,
      refuses: body => itemsOf(body).some(isOddId),
      example: {
        input: [
          user,
          { type: 'message', id: 'item_1', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
          user,
        ],
      },
    },
    {
      error: 'No tool call found for function call output with call_id a',
      source: `jrkropp/open-webui-developer-toolkit#715, tjardoo/openai-client#124, ${READ}`,
      refuses: areItemsUnpaired,
      example: { input: [user, { type: 'function_call_output', call_id: 'a', output: 'a' }, user] },
    },
    {
      error: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16",
      source: SPEC,
      refuses: ({ max_output_tokens }) => max_output_tokens < 16,
      example: { ...ask, max_output_tokens: 1 },
    },
    {
      error: "Response input messages must contain the word 'json' in some form",
      source: 'docs/wire/responses.md#request',
      refuses: body =>
        body.text?.format?.type === 'json_object' && hasUser(body) && !/json/i.test(JSON.stringify(body.input)),
      example: { ...ask, instructions: 'Answer in JSON.', text: { format: { type: 'json_object' } } },
    },
    {
      error: "The following tools cannot be used with reasoning.effort 'minimal': web_search",
      source: `openai/codex#3559, ${READ}`,
      refuses: ({ reasoning, tools = [] }) =>
        reasoning?.effort === 'minimal' && tools.some(({ type }: Loose) => /^web_search/.test(type)),
      example: { ...ask, reasoning: { effort: 'minimal' }, tools: [SEARCH] },
    },
    {
      error: "Tool choice 'web_search_preview' not found in 'tools' parameter",
      source: `raine/claude-code-proxy#26, @ai-sdk/openai 4.0.118 (npm), ${READ}`,
      refuses: ({ tool_choice, tools = [] }) =>
        /^web_search/.test(tool_choice?.type) &&
        tools.some(({ type }: Loose) => /^web_search/.test(type) && type !== tool_choice.type),
      example: { ...ask, tools: [SEARCH], tool_choice: { type: 'web_search_preview' } },
    },
    {
      error: "Invalid 'user', 'prompt_cache_key': string too long. Expected a string with maximum length 64",
      source: `maximhq/bifrost#1000, vybestack/llxprt-code#2135, ${READ}`,
      refuses: isTooLong,
      example: { ...ask, user: 'x'.repeat(65), prompt_cache_key: 'y'.repeat(65) },
    },
  ],
}
