import * as v from 'valibot'
import type { Loose } from '../../clients/scene.ts'
import { chat as format } from '../../clients/upstreams/chat.ts'
import { THOUGHTS } from '../scenarios.ts'
import { ASSISTANT, chat, chatFaults, choice } from './chat.ts'
import {
  fields,
  free,
  type Issued,
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

/*
 * DeepSeek's chat completions: plain functions, no developer role, and the reasoning of every turn with calls must be
 * returned (api-docs.deepseek.com/guides/thinking_mode#tool-calls; `Missing reasoning_content field`, seen 2026-05).
 */

const message = v.variant('role', [
  fields({ role: v.literal('system'), content: said }, { name: text }),
  fields({ role: v.literal('user'), content: said }, { name: text }),
  fields({ role: v.literal('assistant') }, { ...ASSISTANT, content: v.nullable(text), reasoning_content: text }),
  fields({ role: v.literal('tool'), tool_call_id: said, content: text }, { name: text }),
])

const declared = fields({ name: said }, { description: text, parameters, strict: v.nullable(yes) })

const table = fields(
  { model: said, messages: some(message) },
  {
    ...{ stream: yes, stream_options: fields({}, { include_usage: yes }), max_tokens: positive, seed: whole },
    ...{ temperature: v.number(), top_p: v.number(), frequency_penalty: v.number(), presence_penalty: v.number() },
    ...{ stop: v.union([text, list(text)]), logprobs: yes, top_logprobs: whole, response_format: free },
    ...{ tools: some(fields({ type: v.literal('function'), function: declared }, {})), tool_choice: choice },
    ...{ thinking: fields({ type: oneOf('enabled', 'disabled') }, {}), reasoning_effort: text },
    // These fields are undocumented, but not refused.
    ...{
      parallel_tool_calls: yes,
      user: text,
      prompt_cache_key: text,
      verbosity: text,
      n: whole,
      modalities: list(text),
    },
  },
)

function* thoughtFaults({ messages, thinking }: Loose, issued: readonly Issued[]): Generator<string> {
  if (thinking?.type === 'disabled') return
  let hasCalled = false
  for (const [index, { role, tool_calls = [], reasoning_content }] of messages.entries()) {
    hasCalled ||= tool_calls.length > 0
    if (role !== 'assistant' || !hasCalled) continue
    if ((reasoning_content ?? '') === '')
      yield `Missing \`reasoning_content\` field in the assistant message at message index ${index}`
    // The model did not make these calls.
    if (!tool_calls.some(({ id }: Loose) => issued.some(one => one.id === id))) continue
    // After an answer that broke off, there may be two reasoning parts before a call.
    if (!issued.some(({ thought }) => thought !== undefined && reasoning_content.endsWith(thought)))
      yield `messages[${index}]: nothing like ${JSON.stringify(reasoning_content)} was thought`
  }
}

export const deepseek: StrictUpstream = {
  ...chat,
  ...{ name: 'deepseek', format, provider: 'deepseek', model: 'deepseek-reasoner', basePath: '' },
  path: /^\/chat\/completions$/,
  table,
  *faults(body, issued) {
    yield* chatFaults(body)
    yield* thoughtFaults(body, issued)
  },
  thought: ({ thinking }, thought) => (thinking?.type === 'disabled' ? undefined : thought),
  proofs: ({ messages }) =>
    messages.flatMap(({ reasoning_content: said }: Loose) => THOUGHTS.filter(thought => said?.endsWith(thought))),
  callId: n => `call_00_${String(n).padStart(20, 'd')}`,
  remembers: true,
}
