import * as v from 'valibot'
import { argumentsText, fields, free, list, oneOf, positive, said, some, text, whole, yes } from './strict.ts'

/* All fields of a responses request and their types. Any other field is refused. */

const id = (prefix: string) =>
  v.pipe(text, v.startsWith(prefix, `expected an ID that begins with '${prefix}'`), v.maxLength(64))
const name = v.pipe(text, v.regex(/^[a-zA-Z0-9_-]{1,128}$/, 'is no name of a tool'))
const callId = v.pipe(said, v.maxLength(64))
const status = oneOf('in_progress', 'completed', 'incomplete')

const marked = { prompt_cache_breakpoint: free }
const inputText = fields({ type: v.literal('input_text'), text }, marked)
const inputImage = fields(
  { type: v.literal('input_image') },
  { ...marked, image_url: said, file_id: said, detail: oneOf('low', 'high', 'auto', 'original') },
)
const inputFile = fields(
  { type: v.literal('input_file') },
  { ...marked, file_data: said, file_url: said, file_id: said, filename: said, detail: text },
)
const outputText = fields({ type: v.literal('output_text'), text }, { annotations: list(free), logprobs: list(free) })
const refusal = fields({ type: v.literal('refusal'), refusal: text }, {})

const input = v.union([text, some(v.variant('type', [inputText, inputImage, inputFile]))])
const output = v.union([text, some(v.variant('type', [outputText, refusal]))])

const message = v.variant('role', [
  ...(['user', 'system', 'developer'] as const).map(role =>
    fields({ role: v.literal(role), content: input }, { type: v.literal('message'), id: id('msg'), status }),
  ),
  fields(
    { role: v.literal('assistant'), content: output },
    { type: v.literal('message'), id: id('msg'), status, phase: v.nullable(oneOf('commentary', 'final_answer')) },
  ),
])

const functionTool = fields(
  { type: v.literal('function'), name },
  {
    description: v.nullable(text),
    parameters: v.nullable(v.looseObject({ type: v.literal('object') })),
    ...{ strict: v.nullable(yes), defer_loading: yes, async: yes, output_schema: v.nullable(free) },
  },
)
const customTool = fields({ type: v.literal('custom'), name }, { description: text, format: free, defer_loading: yes })
const namespace = fields(
  { type: v.literal('namespace'), name, description: text, tools: some(v.variant('type', [functionTool, customTool])) },
  {},
)
const webSearch = v.looseObject({ type: v.literal('web_search') })
const toolSearch = v.looseObject({ type: v.literal('tool_search') })
const tool = v.variant('type', [functionTool, customTool, namespace, webSearch, toolSearch])

const item = v.variant('type', [
  fields(
    { type: v.literal('function_call'), call_id: callId, name, arguments: argumentsText },
    { id: id('fc'), status, namespace: name },
  ),
  fields(
    { type: v.literal('custom_tool_call'), call_id: callId, name, input: text },
    { id: id('ctc'), status, namespace: name },
  ),
  ...(['function_call_output', 'custom_tool_call_output'] as const).map(type =>
    fields({ type: v.literal(type), call_id: callId, output: input }, { id: text, status, name, namespace: name }),
  ),
  fields(
    { type: v.literal('reasoning'), summary: list(fields({ type: v.literal('summary_text'), text }, {})) },
    { id: id('rs'), encrypted_content: v.nullable(said), content: v.nullable(list(free)), status },
  ),
  fields(
    { type: v.literal('additional_tools'), role: v.literal('developer'), tools: some(tool) },
    { id: v.pipe(text, v.maxLength(64)) },
  ),
])

/** Any item. A message may omit its type. */
const anyItem = v.lazy(one => (((one as { type?: string }).type ?? 'message') === 'message' ? message : item))

export const requestTable = fields(
  { model: said, input: v.union([said, some(anyItem)]) },
  {
    ...{
      instructions: v.nullable(text),
      stream: yes,
      store: yes,
      include: list(text),
      type: v.literal('response.create'),
    },
    ...{ max_output_tokens: v.pipe(positive, v.minValue(16)), temperature: v.number(), top_p: v.number() },
    ...{ tools: list(tool), tool_choice: v.union([oneOf('none', 'auto', 'required'), free]), parallel_tool_calls: yes },
    reasoning: fields(
      {},
      {
        effort: v.nullable(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
        summary: v.nullable(oneOf('auto', 'concise', 'detailed')),
        context: oneOf('auto', 'current_turn', 'all_turns'),
      },
    ),
    text: fields({}, { format: free, verbosity: v.nullable(oneOf('low', 'medium', 'high')) }),
    ...{ prompt_cache_key: text, prompt_cache_options: free, prompt_cache_retention: text, service_tier: text },
    ...{ metadata: v.record(text, text), truncation: oneOf('auto', 'disabled'), top_logprobs: whole },
    ...{ user: v.pipe(text, v.maxLength(64)), safety_identifier: v.pipe(text, v.maxLength(64)) },
    // Codex sends this field, and OpenAI accepts it.
    client_metadata: free,
  },
)
