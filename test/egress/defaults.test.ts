import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { shownLosses } from '../../src/egress/losses.ts'
import { prepare } from '../../src/gateway/prepare.ts'
import { READERS } from '../../src/ingress/index.ts'
import { PATHS } from '../builders/paths.ts'

/* Default values that real clients send are no loss. Any other value of the same field is one. */
const channel = { models: { named: new Map(), patterns: [] } }

function lost(from: string, to: string, body: JsonObject): string[] {
  const request = READERS[from]!.request!({ path: PATHS[from]!, query: {}, headers: {}, body })
  const target = { channel, format: { format: to, dialect: {} }, native: from === to, upstreamModel: request.model }
  return shownLosses(prepare(request, target as never).losses).map(({ path }) => path.join('/'))
}

const parameters = { type: 'object', properties: {} }
const SPELT: { readonly [format: string]: JsonObject } = {
  chat: {
    model: 'm',
    messages: [
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters, strict: false } }],
    ...{ n: 1, temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0, logit_bias: {}, stop: [] },
    ...{ response_format: { type: 'text' }, modalities: ['text'], service_tier: 'auto', store: false },
    ...{ logprobs: false, top_logprobs: 0, tool_choice: 'auto', parallel_tool_calls: true, metadata: {} },
    ...{ stream: true, stream_options: { include_usage: true, include_obfuscation: false }, verbosity: 'medium' },
    prompt_cache_retention: 'in_memory',
  },
  // As Codex 0.169 sends them, with the defaults of OpenAI's SDK.
  responses: {
    model: 'm',
    input: [
      { type: 'message', role: 'developer', content: 'Be kind.', id: 'msg_1', status: 'completed' },
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    ],
    tools: [{ type: 'function', name: 'f', parameters, strict: false, defer_loading: false, output_schema: null }],
    ...{ temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0, service_tier: 'auto', store: false },
    ...{ text: { format: { type: 'text' }, verbosity: 'medium' }, top_logprobs: 0, metadata: {}, background: false },
    ...{ include: ['reasoning.encrypted_content'], tool_choice: 'auto', parallel_tool_calls: true },
    ...{ stream: true, stream_options: { include_obfuscation: false }, truncation: 'disabled', max_tool_calls: null },
    ...{ reasoning: { effort: 'medium', summary: null, context: 'all_turns' }, client_metadata: { turn: '1' } },
  },
  // As Claude Code sends them.
  messages: {
    model: 'claude-sonnet-4-5',
    max_tokens: 1000,
    system: [{ type: 'text', text: 'You are.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [{ name: 'f', input_schema: parameters, type: 'custom', eager_input_streaming: true }],
    ...{ temperature: 1, stop_sequences: [], service_tier: 'auto', tool_choice: { type: 'auto' }, stream: true },
    ...{ mcp_servers: [], container: null, inference_geo: 'global', speed: 'standard' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  },
  contents: {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    systemInstruction: { role: 'user', parts: [{ text: 'You are.' }] },
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters, behavior: 'BLOCKING' }] }],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    safetySettings: [],
    generationConfig: {
      ...{ candidateCount: 1, temperature: 1, topP: 1, stopSequences: [], responseMimeType: 'text/plain' },
      ...{ presencePenalty: 0, frequencyPenalty: 0, responseLogprobs: false, responseModalities: ['TEXT'] },
      ...{ maxOutputTokens: 100, mediaResolution: 'MEDIA_RESOLUTION_UNSPECIFIED' },
    },
  },
}

/** Anthropic requires an output limit, so the added limit is reported. */
const ADDED = new Set(['sampling/maxTokens'])

const pairs = Object.keys(SPELT).flatMap(from => Object.keys(SPELT).map(to => [from, to] as const))

describe('spelt out defaults', () => {
  test.each(pairs)('%s to %s loses nothing', (from, to) => {
    expect(lost(from, to, SPELT[from]!).filter(path => !ADDED.has(path))).toEqual([])
  })

  test('other values of the same fields are losses', () => {
    const said = {
      ...SPELT['chat'],
      ...{ frequency_penalty: 1, logit_bias: { 5: 1 }, service_tier: 'priority', metadata: { a: 'b' } },
      ...{ parallel_tool_calls: false, verbosity: 'low' },
    }
    expect(lost('chat', 'contents', said)).toEqual([
      'extras/chat/logit_bias',
      'parallelToolCalls',
      'output/verbosity',
      'metadata',
    ])
    const config = { ...SPELT['contents'], safetySettings: [{ category: 'A', threshold: 'BLOCK_NONE' }] }
    expect(lost('contents', 'chat', config)).toEqual(['extras/contents/safetySettings'])
    const edits = { ...SPELT['messages'], context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }
    expect(lost('messages', 'chat', edits)).toEqual(['extras/messages/context_management'])
  })
})
