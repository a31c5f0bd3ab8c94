import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, record, schema, word } from '../arbitrary.ts'
import { RESPONSES_COUNTS, usageIn } from '../counts.ts'
import { list, unknown } from '../loose.ts'

/* Valid wire values of the responses format, with random unknown fields and nulls in every object. */

type Generators = { readonly [field: string]: fc.Arbitrary<unknown> }
/** An object whose optional fields are present, null or missing, with additional unknown fields. */
const loose = (needed: Generators, optional: Generators = {}): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(record<JsonObject>(needed, mapped(optional, maybe)), unknown)
    .map(([known, others]) => ({ ...others, ...known }))

const maybe = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })

const mapped = (fields: Generators, change: (value: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>): Generators =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]))

const type = (name: string) => fc.constant(name)
const breakpoint = { prompt_cache_breakpoint: record({ mode: type('explicit') }, { ttl: type('12h') }) }
const annotation = fc.oneof(
  loose(
    { type: type('url_citation'), url: fc.webUrl() },
    { title: word, start_index: fc.nat(9), end_index: fc.nat(9) },
  ),
  loose({ type: type('file_citation'), file_id: word, index: fc.nat(3) }),
)
const inputPart = fc.oneof(
  loose({ type: type('input_text'), text: word }, breakpoint),
  loose({ type: type('text'), text: word }),
  loose({ type: type('refusal'), refusal: word }),
  loose(
    { type: type('input_image') },
    {
      image_url: fc.oneof(
        fc.webUrl(),
        bytes.map(data => `data:image/png;base64,${data}`),
      ),
      file_id: word,
      detail: type('high'),
      ...breakpoint,
    },
  ),
  loose(
    { type: type('input_file') },
    {
      file_data: fc.oneof(
        bytes,
        bytes.map(data => `data:application/pdf;base64,${data}`),
        type('data:text/plain,hi'),
      ),
      file_url: fc.webUrl(),
      file_id: word,
      filename: word,
      detail: type('low'),
    },
  ),
  loose({ type: type('input_audio'), input_audio: unknown }),
  loose({ type: fc.constantFrom('x_part', 'constructor'), message: word }),
)
const spokenPart = fc.oneof(
  loose({ type: type('output_text'), text: word }, { annotations: list(annotation, 2), ...breakpoint }),
  loose({ type: type('output_text'), text: word, message: word, logprobs: list(unknown, 1) }),
  inputPart,
)
const ids = { id: filled, status: fc.constantFrom('completed', 'in_progress', 'incomplete') }
const content = (part: fc.Arbitrary<unknown>) => fc.oneof(word, list(part))

const thoughts = (name: string) =>
  list(fc.oneof(record({ type: type(name), text: word }), loose({ type: type(name), text: word }), unknown))
const proof = fc.oneof(filled, fc.constant(''))
const callFields = { call_id: filled, namespace: fc.oneof(filled, fc.constantFrom('functions', 'a')), ...ids }
const assistantItem = fc.oneof(
  loose(
    { type: type('reasoning'), summary: thoughts('summary_text') },
    { content: thoughts('reasoning_text'), encrypted_content: proof, ...ids },
  ),
  loose({ type: type('reasoning') }, { content: thoughts('reasoning_text'), ...ids }),
  loose(
    { type: type('function_call'), name: word },
    { arguments: fc.oneof(word, type('{"a":1}'), unknown), role: type('assistant'), ...callFields },
  ),
  loose({ type: type('custom_tool_call'), name: word }, { input: word, ...callFields }),
  loose(
    { type: type('web_search_call') },
    {
      action: loose(
        { type: fc.constantFrom('search', 'search', 'open_page') },
        { query: word, queries: list(word), sources: list(loose({ type: type('url') }, { url: fc.webUrl() })) },
      ),
      ...ids,
      status: unknown,
    },
  ),
  loose(
    { type: fc.constantFrom('web_search_call', 'mcp_call', 'item_reference', 'compaction', 'toString') },
    { ...ids, status: unknown },
  ),
)
const spokenItem = loose(
  { role: type('assistant') },
  { type: type('message'), content: content(spokenPart), phase: fc.constantFrom('commentary', 'final_answer'), ...ids },
)
const functionTool = loose(
  { type: type('function'), name: word },
  { description: word, parameters: schema, strict: fc.boolean(), defer_loading: fc.boolean() },
)
const customTool = loose(
  { type: type('custom'), name: word },
  {
    description: word,
    format: fc.oneof(
      record({ type: type('text') }),
      record({ type: type('grammar'), syntax: type('lark'), definition: word }),
      unknown,
    ),
  },
)
const searchTool = loose(
  { type: fc.constantFrom('web_search', 'web_search_preview', 'web_search_2025_08_26') },
  {
    filters: fc.oneof(record({ allowed_domains: list(word, 2) }), unknown),
    search_context_size: type('low'),
    user_location: fc.oneof(record({ type: type('approximate') }, { city: word, country: word }), unknown),
    external_web_access: fc.boolean(),
  },
)
const tool = fc.oneof(
  functionTool,
  customTool,
  searchTool,
  loose({ type: type('code_interpreter') }, { container: fc.oneof(record({ type: type('auto') }), word, unknown) }),
  loose(
    { type: type('namespace'), name: fc.oneof(word, type('functions'), type('a')) },
    { description: word, tools: list(fc.oneof(functionTool, customTool, unknown)) },
  ),
  loose({ type: fc.constantFrom('mcp', 'tool_search', 'file_search', 'constructor') }),
)
const item = fc.oneof(
  loose(
    { role: fc.constantFrom('user', 'system', 'developer') },
    { type: type('message'), content: content(inputPart), ...ids },
  ),
  spokenItem,
  assistantItem,
  loose(
    { type: fc.constantFrom('function_call_output', 'custom_tool_call_output') },
    { call_id: filled, output: fc.oneof(word, list(inputPart), unknown), name: word, ...ids },
  ),
  loose({ id: filled }),
  loose({ type: type('additional_tools'), role: type('developer') }, { tools: list(tool), id: filled }),
  loose({ type: type('tool_search_output') }, { tools: list(tool), call_id: filled, ...ids }),
)

const chosen = record({ type: fc.constantFrom('function', 'custom', 'mcp'), name: word })
const toolChoice = fc.oneof(
  fc.constantFrom('auto', 'none', 'required', 'sometimes'),
  chosen,
  record({
    type: type('allowed_tools'),
    mode: fc.constantFrom('auto', 'required', 'none'),
    tools: list(fc.oneof(chosen, unknown)),
  }),
  record({ type: fc.constantFrom('web_search_preview', 'code_interpreter', 'computer', 'constructor') }),
  unknown,
)

const format = fc.oneof(
  loose({ type: fc.constantFrom('text', 'json_object', 'x_shape') }),
  loose({ type: type('json_schema'), name: word, schema }, { description: word, strict: fc.boolean() }),
  loose({ type: type('json_schema') }, { name: fc.oneof(word, fc.nat()) }),
)

const body = loose(
  { model: filled },
  {
    input: fc.oneof(word, fc.array(item, { maxLength: 6 }), item),
    instructions: word,
    tools: list(tool),
    tool_choice: toolChoice,
    parallel_tool_calls: fc.boolean(),
    text: loose({}, { format, verbosity: type('low') }),
    reasoning: loose(
      {},
      {
        effort: fc.constantFrom('none', 'max', 'strange', 3),
        summary: fc.constantFrom('auto', 'detailed', 3),
        generate_summary: type('concise'),
        context: type('all_turns'),
      },
    ),
    max_output_tokens: fc.nat(),
    temperature: fc.constantFrom(0, 0.5),
    top_p: fc.constantFrom(0.1, 1),
    frequency_penalty: fc.constantFrom(0, 1),
    presence_penalty: fc.constantFrom(0, 1),
    top_logprobs: fc.nat(3),
    include: list(
      fc.constantFrom('reasoning.encrypted_content', 'message.output_text.logprobs', 'web_search_call.action.sources'),
    ),
    store: fc.boolean(),
    previous_response_id: word,
    conversation: fc.oneof(word, record({ id: word }), unknown),
    background: fc.boolean(),
    stream: fc.boolean(),
    stream_options: fc.oneof(record({ include_obfuscation: fc.boolean() }), unknown),
    metadata: unknown,
    user: word,
    safety_identifier: word,
    service_tier: word,
    prompt_cache_key: word,
    truncation: fc.constantFrom('auto', 'disabled', 3),
  },
)

/** Requests for an image alone, or nearly so. */
const drawing = fc
  .tuple(
    body,
    loose(
      { type: type('image_generation') },
      {
        model: word,
        size: fc.constantFrom('1024x1024', 'auto', '16:9'),
        quality: type('low'),
        background: type('opaque'),
        output_format: fc.constantFrom('png', 'webp'),
        output_compression: fc.nat(100),
        partial_images: fc.nat(3),
        input_fidelity: type('high'),
        input_image_mask: fc.oneof(record({ image_url: fc.webUrl() }), record({ file_id: word }), unknown),
      },
    ),
    list(tool, 1),
  )
  .map(([body, draw, others]) => ({
    ...body,
    ...({ tools: [draw, ...others], tool_choice: { type: 'image_generation' } } as JsonObject),
  }))

export const request: fc.Arbitrary<WireRequest> = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: body }, { weight: 1, arbitrary: drawing }),
    fc.constantFrom('/v1/responses', '/responses', '/v1/responses/compact', '/v1/responses/input_tokens'),
    fc.constantFrom<WireRequest['query']>({}, { beta: 'true' }),
    fc.constantFrom<WireRequest['headers']>({}, { 'openai-beta': 'responses_websockets=2026-02-06' }),
  )
  .map(([body, path, query, headers]) => ({ path, query, headers, body }))

const counted = loose({ object: fc.constantFrom('response.input_tokens', 'x_count'), input_tokens: fc.nat() })
export const answers = { count: counted }

const tokens = list(
  loose(
    { token: word, logprob: fc.constantFrom(-1, -0.5) },
    {
      bytes: list(fc.nat(255), 2),
      top_logprobs: list(loose({ token: word, logprob: fc.constant(-2) }, { bytes: list(fc.nat(255), 2) }), 2),
    },
  ),
  2,
)
const answerPart = fc.oneof(
  loose({ type: type('output_text'), text: word }, { annotations: list(annotation, 2), logprobs: tokens }),
  loose({ type: type('refusal'), refusal: word }),
  loose({ type: fc.constantFrom('x_part', 'toString') }),
)
const outputItem = fc.oneof(
  loose(
    { type: type('message'), role: type('assistant'), content: list(answerPart) },
    { phase: fc.constantFrom('commentary', 'final_answer'), ...ids },
  ),
  assistantItem,
  loose({ type: type('message'), role: type('user'), content: list(inputPart) }, ids),
  loose(
    { type: type('image_generation_call') },
    {
      result: fc.oneof(bytes, fc.nat()),
      output_format: fc.oneof(type('png'), type('jpeg'), fc.nat()),
      ...ids,
      size: word,
      quality: fc.oneof(word, fc.nat()),
      background: word,
      revised_prompt: fc.oneof(word, fc.constant(null)),
    },
  ),
)
const usage = fc.oneof(
  usageIn(RESPONSES_COUNTS),
  loose(
    {},
    {
      input_tokens: fc.nat(99),
      input_tokens_details: fc.oneof(
        loose({}, { cached_tokens: fc.nat(9), cache_write_tokens: fc.nat(9) }),
        fc.constant(3),
      ),
      output_tokens: fc.nat(99),
      output_tokens_details: loose({}, { reasoning_tokens: fc.nat(9) }),
      total_tokens: fc.nat(200),
    },
  ),
)

export const result: fc.Arbitrary<JsonObject> = loose(
  { output: list(outputItem, 4) },
  {
    id: filled,
    object: fc.constantFrom('response', 'response.compaction'),
    created_at: fc.nat(),
    completed_at: fc.nat(),
    status: fc.constantFrom('completed', 'incomplete', 'failed', 'queued', 'in_progress', 'cancelled', 'strange'),
    incomplete_details: loose(
      {},
      { reason: fc.constantFrom('max_output_tokens', 'content_filter', 'steered', 'toString') },
    ),
    error: loose({ message: word }, { code: fc.constantFrom('server_error', 'rate_limit_exceeded') }),
    model: word,
    usage,
    service_tier: word,
    instructions: fc.oneof(word, list(item)),
    tools: list(tool),
    tool_choice: toolChoice,
    reasoning: unknown,
    text: unknown,
    metadata: unknown,
    temperature: fc.nat(2),
    store: fc.boolean(),
    conversation: unknown,
    tool_usage: unknown,
    moderation: unknown,
  },
)
