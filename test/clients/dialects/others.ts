import type { Loose } from '../scene.ts'
import type { Said } from './said.ts'

/* Forms of answers seen at upstreams of the other formats. */

const SPOKEN = { text: 'Hi', finish: 'stop', input: 21, output: 13 }
const A = { name: 'a', arguments: { x: 1 } }
const untyped = (events: readonly Loose[]): string =>
  events.map(({ type, ...event }) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const START = {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 21 } },
}
const block = (index: number, content_block: Loose, ...deltas: Loose[]): readonly Loose[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const HELLO = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hi' })
const stop = (stop_reason: string | null): Loose => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens: 13 },
})
const STOPPED = { type: 'message_stop' }
const input = (partial_json: string): Loose => ({ type: 'input_json_delta', partial_json })

export const MESSAGES: readonly Said[] = [
  {
    name: 'events without types in their data',
    events: untyped([START, ...HELLO, stop('end_turn'), STOPPED]),
    want: SPOKEN,
  },
  {
    name: 'the end of another format, and events of nothing',
    events: [START, ...HELLO, '', stop('end_turn'), '[DONE] '],
    want: SPOKEN,
  },
  { name: 'no reason to end', events: [START, ...HELLO, stop(null), STOPPED], want: SPOKEN, not: ['messages'] },
  {
    name: 'arguments that are there when the call begins',
    events: [START, ...block(0, { type: 'tool_use', id: 't', name: 'a', input: { x: 1 } }), stop('tool_use'), STOPPED],
    want: { calls: [A], finish: 'calls' },
  },
  {
    name: 'a call at the place of the text before it',
    events: [
      START,
      ...HELLO,
      ...block(0, { type: 'tool_use', id: 't', name: 'a', input: {} }, input('{"x":1}')),
      stop('end_turn'),
      STOPPED,
    ],
    want: { text: 'Hi', calls: [A], finish: 'calls' },
  },
]

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  error: null,
  incomplete_details: null,
}
const USAGE = { input_tokens: 21, output_tokens: 13, total_tokens: 34 }
const THOUGHT = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
}
const item = (output_index: number, item: Loose): readonly Loose[] => [
  { type: 'response.output_item.added', output_index, item },
  { type: 'response.output_item.done', output_index, item },
]
const CREATED = { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } }
const COMPLETED = { type: 'response.completed', response: { ...RESPONSE, output: [THOUGHT, MESSAGE], usage: USAGE } }
const ANSWER = [CREATED, ...item(0, THOUGHT), ...item(1, MESSAGE), COMPLETED]

export const RESPONSES: readonly Said[] = [
  { name: 'items that are whole when they begin', events: ANSWER, want: { ...SPOKEN, thought: 'Hm.' } },
  { name: 'events without types in their data', events: untyped(ANSWER), want: { ...SPOKEN, thought: 'Hm.' } },
  {
    name: 'events of nothing',
    events: [CREATED, ' ', ...ANSWER.slice(1), '[DONE] '],
    want: { ...SPOKEN, thought: 'Hm.' },
  },
]

const content = (parts: readonly Loose[], more: Loose = {}): Loose => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
})
const ENDED = {
  candidates: [{ finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 21, candidatesTokenCount: 13, totalTokenCount: 34 },
}
const call = (x: number): Loose => ({ functionCall: { id: 'r', name: 'a', args: { x } } })

export const CONTENTS: readonly Said[] = [
  {
    name: 'an end in an event of its own, and one that says nothing',
    events: [content([{ text: 'Hi' }]), ENDED, '[DONE] '],
    want: SPOKEN,
  },
  {
    name: 'calls under one id',
    events: [content([call(1)]), content([call(2)]), ENDED],
    want: { calls: [A, { name: 'a', arguments: { x: 2 } }], finish: 'calls' },
  },
]
