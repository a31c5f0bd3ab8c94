import * as v from 'valibot'
import { fields, free, list, oneOf, positive, said, some, text, whole, yes } from './strict.ts'

/* All fields of a messages request and their types. Any other field is refused. */

const id = v.pipe(text, v.regex(/^[a-zA-Z0-9_-]+$/, 'is no id of a call'))
const name = v.pipe(text, v.regex(/^[a-zA-Z0-9_-]{1,128}$/, 'is no name of a tool'))
const mark = fields({ type: v.literal('ephemeral') }, { ttl: oneOf('5m', '1h') })
const marked = { cache_control: v.nullable(mark) }

/** A text with content. White space alone is refused. */
const words = v.pipe(text, v.regex(/\S/, 'text content blocks must contain non-whitespace text'))

const textBlock = fields({ type: v.literal('text'), text: words }, { ...marked, citations: v.nullable(list(free)) })
const image = fields({ type: v.literal('image'), source: free }, marked)
const document = fields(
  { type: v.literal('document'), source: free },
  { ...marked, title: v.nullable(text), context: v.nullable(text), citations: free },
)
const toolReference = fields({ type: v.literal('tool_reference'), tool_name: said }, marked)
const result = fields(
  { type: v.literal('tool_result'), tool_use_id: id },
  {
    ...marked,
    content: v.union([text, list(v.variant('type', [textBlock, image, document, toolReference]))]),
    is_error: yes,
  },
)
const call = fields(
  { type: v.literal('tool_use'), id, name, input: free },
  { ...marked, caller: fields({ type: v.literal('direct') }, {}) },
)
const thinking = fields({ type: v.literal('thinking'), thinking: text, signature: said }, {})
const redacted = fields({ type: v.literal('redacted_thinking'), data: said }, {})

const asked = v.union([words, some(v.variant('type', [textBlock, image, document, result]))])
const answered = v.union([words, some(v.variant('type', [textBlock, thinking, redacted, call]))])

const message = v.variant('role', [
  fields({ role: v.literal('user'), content: asked }, {}),
  fields({ role: v.literal('assistant'), content: answered }, {}),
  fields({ role: v.literal('system'), content: v.union([words, some(textBlock)]) }, {}),
])

const tool = fields(
  { name, input_schema: v.looseObject({ type: v.literal('object') }) },
  {
    ...marked,
    ...{ description: text, type: v.literal('custom'), strict: yes, defer_loading: yes, eager_input_streaming: yes },
    ...{ allowed_callers: list(text), input_examples: list(free) },
  },
)

/** Tools that Anthropic itself defines. */
const ownTool = v.looseObject({ type: v.pipe(text, v.regex(/^(web_search|web_fetch|code_execution)_\d{8}$/)), name })

const alone = { disable_parallel_tool_use: yes }
const choice = v.variant('type', [
  fields({ type: v.literal('auto') }, alone),
  fields({ type: v.literal('any') }, alone),
  fields({ type: v.literal('tool'), name }, alone),
  fields({ type: v.literal('none') }, {}),
])

const display = { display: v.nullable(oneOf('summarized', 'omitted')) }
const thought = v.variant('type', [
  fields({ type: v.literal('adaptive') }, display),
  fields({ type: v.literal('enabled'), budget_tokens: v.pipe(whole, v.minValue(1024)) }, display),
  fields({ type: v.literal('disabled') }, {}),
])

export const requestTable = fields(
  { model: said, max_tokens: positive, messages: some(message) },
  {
    ...marked,
    ...{ system: v.union([text, list(textBlock)]), stream: yes, stop_sequences: list(said) },
    ...{ temperature: v.pipe(v.number(), v.minValue(0), v.maxValue(1)), top_p: v.number(), top_k: whole },
    ...{ tools: list(v.union([tool, ownTool])), tool_choice: choice, thinking: thought },
    ...{ metadata: fields({}, { user_id: v.nullable(text) }), service_tier: oneOf('auto', 'standard_only') },
    output_config: fields(
      {},
      { effort: v.nullable(oneOf('low', 'medium', 'high', 'xhigh', 'max')), format: v.nullable(free) },
    ),
    // Accepted if `anthropic-beta` requests it, as Claude Code does.
    context_management: free,
  },
)
