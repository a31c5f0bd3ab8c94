import * as v from 'valibot'
import type { Loose } from '../../clients/scene.ts'
import { cohereChat as format } from '../../clients/upstreams/cohere-chat.ts'
import { callFaults, declaredIn, toolFaults } from './chat.ts'
import {
  argumentsText,
  fields,
  free,
  list,
  oneOf,
  parameters,
  positive,
  type StrictUpstream,
  said,
  some,
  text,
  whole,
  yes,
} from './strict.ts'

/* Cohere's chat with a model that thinks unless it is told not to. */

const between = (least: number, most: number) => v.pipe(v.number(), v.minValue(least), v.maxValue(most))

const textPart = fields({ type: v.literal('text'), text: said }, {})
const image = fields(
  { type: v.literal('image_url'), image_url: fields({ url: said }, { detail: oneOf('auto', 'low', 'high') }) },
  {},
)
const thinking = fields({ type: v.literal('thinking'), thinking: said }, {})
const document = fields(
  { type: v.literal('document'), document: fields({ data: v.union([said, free]) }, { id: said }) },
  {},
)

const call = fields(
  { id: said, type: v.literal('function'), function: fields({ name: said, arguments: argumentsText }, {}) },
  {},
)
const content = (...parts: [v.GenericSchema, ...v.GenericSchema[]]) => v.union([said, some(v.union(parts))])

const message = v.variant('role', [
  fields({ role: v.literal('system'), content: content(textPart) }, {}),
  fields({ role: v.literal('user'), content: content(textPart, image) }, {}),
  fields(
    { role: v.literal('assistant') },
    { content: content(textPart, thinking), tool_plan: said, tool_calls: some(call), citations: list(free) },
  ),
  fields({ role: v.literal('tool'), tool_call_id: said, content: content(textPart, document) }, {}),
])

const tool = fields(
  { type: v.literal('function'), function: fields({ name: said, parameters }, { description: text }) },
  {},
)

const table = fields(
  { model: said, messages: some(message) },
  {
    ...{ stream: yes, documents: list(v.union([said, free])), citation_options: free, safety_mode: text },
    ...{ tools: some(tool), tool_choice: oneOf('REQUIRED', 'NONE'), strict_tools: yes, response_format: free },
    ...{ max_tokens: positive, stop_sequences: v.pipe(list(text), v.maxLength(5)), logprobs: yes, priority: whole },
    ...{ temperature: between(0, 1), p: between(0.01, 0.99), k: between(0, 500), seed: whole },
    ...{ frequency_penalty: between(0, 1), presence_penalty: between(0, 1) },
    thinking: fields({ type: oneOf('enabled', 'disabled') }, { token_budget: positive }),
  },
)

function* faults(body: Loose): Generator<string> {
  yield* callFaults(body.messages)
  yield* toolFaults(body)
  if (body.response_format !== undefined && (body.tools ?? body.documents) !== undefined)
    yield `'response_format' is not supported with 'tools' or 'documents'`
  if (body.strict_tools === true)
    for (const { function: declared } of body.tools ?? [])
      if (!((declared.parameters.required ?? []).length > 0)) yield `${declared.name} has no required parameter`
}

const thoughtsIn = ({ messages }: Loose): string[] =>
  messages.flatMap(({ content }: Loose) =>
    Array.isArray(content) ? content.flatMap(({ thinking }: Loose) => thinking ?? []) : [],
  )

export const cohereChat: StrictUpstream = {
  ...{ name: 'cohere', formatName: 'cohere-chat', format, provider: 'cohere', basePath: '' },
  model: 'command-a-plus-05-2026',
  path: /^\/v2\/chat$/,
  table,
  faults,
  tools: declaredIn,
  parallel: () => true,
  thought: (body, thought) => (body.thinking?.type === 'disabled' ? undefined : thought),
  proofs: thoughtsIn,
  callId: n => `a_tool_${String(n).padStart(12, 'c')}`,
  remembers: false,
}
