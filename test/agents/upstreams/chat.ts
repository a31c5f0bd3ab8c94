import * as v from 'valibot'
import type { Loose } from '../../clients/scene.ts'
import { chat as format } from '../../clients/upstreams/chat.ts'
import {
  argumentsText,
  type Declared,
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
  twice,
  whole,
  yes,
} from './strict.ts'

/* OpenAI's chat completions. The model reasons, but neither shows its reasoning nor accepts any. */

const name = v.pipe(text, v.regex(/^[a-zA-Z0-9_-]{1,64}$/, 'is no name of a function'))
const cached = { prompt_cache_breakpoint: free }

const textPart = fields({ type: v.literal('text'), text: said }, cached)
const texts = v.union([said, some(textPart)])
const userPart = v.variant('type', [
  textPart,
  fields({ type: v.literal('image_url'), image_url: fields({ url: said }, { detail: text }) }, cached),
  fields({ type: v.literal('file'), file: free }, cached),
  fields({ type: v.literal('input_audio'), input_audio: free }, cached),
])

/** Many clients return the index of a streamed call, which OpenAI ignores. */
const indexed = { index: whole }
const call = v.variant('type', [
  fields({ id: said, type: v.literal('function'), function: fields({ name, arguments: argumentsText }, {}) }, indexed),
  fields({ id: said, type: v.literal('custom'), custom: fields({ name, input: text }, {}) }, indexed),
])

export const ASSISTANT = {
  content: v.nullable(v.union([text, some(textPart)])),
  refusal: v.nullable(text),
  tool_calls: some(call),
  name: text,
}

const message = v.variant('role', [
  fields({ role: v.literal('system'), content: texts }, { name: text }),
  fields({ role: v.literal('developer'), content: texts }, { name: text }),
  fields({ role: v.literal('user'), content: v.union([said, some(userPart)]) }, { name: text }),
  fields({ role: v.literal('assistant') }, ASSISTANT),
  fields({ role: v.literal('tool'), tool_call_id: said, content: v.union([text, some(textPart)]) }, { name: text }),
])

const declared = fields({ name }, { description: text, parameters, strict: v.nullable(yes) })
const tool = v.variant('type', [
  fields({ type: v.literal('function'), function: declared }, {}),
  fields({ type: v.literal('custom'), custom: fields({ name }, { description: text, format: free }) }, {}),
])

export const choice = v.union([oneOf('none', 'auto', 'required'), free])

const table = fields(
  { model: said, messages: some(message) },
  {
    ...{ stream: yes, stream_options: fields({}, { include_usage: yes, include_obfuscation: yes }), store: yes },
    ...{ max_completion_tokens: positive, max_tokens: positive, n: positive, seed: whole },
    ...{ temperature: v.number(), top_p: v.number(), stop: v.union([text, list(text)]), logprobs: yes },
    ...{ tools: some(tool), tool_choice: choice, parallel_tool_calls: yes },
    ...{ reasoning_effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max') },
    ...{ response_format: free, verbosity: oneOf('low', 'medium', 'high'), metadata: v.record(text, text) },
    modalities: list(oneOf('text', 'audio')),
    ...{ user: v.pipe(text, v.maxLength(64)), safety_identifier: v.pipe(text, v.maxLength(64)) },
    ...{ prompt_cache_key: text, prompt_cache_options: free, prompt_cache_retention: text, service_tier: text },
  },
)

export const declaredIn = ({ tools = [] }: Loose): Declared[] =>
  tools.map((one: Loose) => ({ name: one[one.type].name, custom: one.type === 'custom' }))

/** Reports calls without a result right after their turn, and results without a call. */
export function* callFaults(messages: readonly Loose[]): Generator<string> {
  let waiting: string[] = []
  for (const [index, { role, tool_calls = [], tool_call_id, content }] of messages.entries()) {
    const at = `messages[${index}]`
    if (role === 'tool') {
      if (!waiting.includes(tool_call_id)) yield `${at}: 'tool' must follow the 'tool_calls' that has ${tool_call_id}`
      waiting = waiting.filter(id => id !== tool_call_id)
      continue
    }
    if (waiting.length > 0) yield `${at}: 'tool_calls' must be followed by the results of ${waiting}`
    if (role === 'assistant' && content == null && tool_calls.length === 0) yield `${at}: neither content nor calls`
    waiting = tool_calls.map(({ id }: Loose) => id)
    if (twice(waiting) !== undefined) yield `${at}: two calls of the id ${twice(waiting)}`
  }
  if (waiting.length > 0) yield `messages: no results of ${waiting}`
}

/** Checks the tools against the rest of the request. */
export function* toolFaults(body: Loose): Generator<string> {
  const names = declaredIn(body).map(one => one.name)
  if (twice(names) !== undefined) yield `tools: two tools are named ${twice(names)}`
  if (names.length === 0 && body.tool_choice !== undefined) yield `'tool_choice' is only allowed when 'tools' are`
  if (names.length === 0 && body.parallel_tool_calls !== undefined) yield `'parallel_tool_calls' without 'tools'`
  for (const { tool_calls = [] } of body.messages)
    for (const one of tool_calls) {
      const called = one[one.type].name
      if (!names.includes(called)) yield `messages: a call of ${called}, which is no tool of the request`
    }
}

export function* chatFaults(body: Loose): Generator<string> {
  yield* callFaults(body.messages)
  yield* toolFaults(body)
}

export const chat: StrictUpstream = {
  ...{ name: 'chat', formatName: 'chat', format, provider: 'openai', model: 'gpt-5.6', basePath: '/v1' },
  path: /^\/v1\/chat\/completions$/,
  table,
  faults: chatFaults,
  tools: declaredIn,
  parallel: body => body.parallel_tool_calls !== false,
  thought: () => undefined,
  proofs: () => [],
  callId: n => `call_${String(n).padStart(24, 'c')}`,
  remembers: false,
}
