import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import type { Loose } from '../scene.ts'
import type { Said } from './said.ts'

/* Forms of answers seen at chat upstreams. */

const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm' }
const USAGE = { prompt_tokens: 21, completion_tokens: 13, total_tokens: 34 }
const COUNTED = { input: 21, output: 13 }
const DONE = '[DONE]'

const whole = (message: JsonObject, finish_reason: Json = 'stop', more: JsonObject = {}): Loose => ({
  ...HEAD,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
  usage: USAGE,
  ...more,
})
const chunk = (delta: Json, finish_reason: Json = null, more: JsonObject = {}): Loose => ({
  ...HEAD,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const calls = (...tool_calls: JsonObject[]): Loose => chunk({ tool_calls })
const call = (name: string, args: Json, more: JsonObject = {}): JsonObject => ({
  type: 'function',
  function: { name, arguments: args },
  ...more,
})
const more = (args: Json, others: JsonObject = {}): JsonObject => ({ function: { arguments: args }, ...others })
const end = (word: Json = 'stop'): readonly Loose[] => [chunk({}, word, { usage: USAGE }), DONE]

const A = { name: 'a', arguments: { x: 1 } }
const B = { name: 'b', arguments: { y: 2 } }
const CALLED = { text: '', calls: [A, B], finish: 'calls', ...COUNTED }
const SPOKEN = { text: 'Hi there', thought: '', calls: [], finish: 'stop', ...COUNTED }
const THOUGHT = { text: 'Hi', thought: 'Hm.', ...COUNTED }

const CALLS: readonly Said[] = [
  {
    name: 'calls without index and id',
    whole: whole({ tool_calls: [call('a', '{"x":1}'), call('b', '{"y":2}')] }, 'tool_calls'),
    events: [calls(call('a', '{"x":1}'), call('b', '{"y":2}')), ...end('tool_calls')],
    want: CALLED,
  },
  {
    name: 'calls that all have the first index and an empty id',
    whole: whole({ tool_calls: [call('a', '{"x":1}', { id: '' }), call('b', '{"y":2}', { id: '' })] }),
    events: [
      calls(call('a', '{"x":1}', { index: 0, id: '' })),
      calls(call('b', '{"y":2}', { index: 0, id: '' })),
      ...end(),
    ],
    want: CALLED,
  },
  {
    name: 'calls of one tool under one id',
    whole: whole({ tool_calls: [call('a', '{"x":1}', { id: 'z' }), call('a', '{"x":2}', { id: 'z' })] }),
    events: [
      calls(call('a', '{"x":1}', { index: 0, id: 'z' })),
      calls(call('a', '{"x":2}', { index: 1, id: 'z' })),
      ...end(),
    ],
    want: { calls: [A, { name: 'a', arguments: { x: 2 } }], finish: 'calls' },
  },
  {
    name: 'a call whose name is said again with every piece',
    events: [
      calls(call('a', '', { index: 0, id: null })),
      calls(call('a', '{"x"', { index: 0, id: null })),
      calls(call('a', ':1}', { index: 0, id: null })),
      calls(call('a', '', { index: 0, id: null })),
      ...end('tool_calls'),
    ],
    want: { calls: [A] },
  },
  {
    name: 'a call with another id in every piece',
    events: [calls(call('a', '', { index: 0, id: 'p' })), calls(more('{"x":1}', { index: 0, id: 'q' })), ...end()],
    want: { calls: [A] },
  },
  {
    name: 'a call that begins with an empty object',
    events: [calls(call('a', {}, { index: 0, id: 'p' })), calls(more('{"x":1}', { index: 0 })), ...end()],
    want: { calls: [A] },
  },
  {
    name: 'calls that begin with an empty object as a text',
    events: [
      calls(call('a', '{}', { index: 0, id: 'p' })),
      calls(more('{"x":1}', { index: 0 })),
      calls(call('b', '{}', { index: 1, id: 'q' })),
      ...end(),
    ],
    want: { calls: [A, { name: 'b', arguments: {} }] },
  },
  {
    name: 'no word for why calls were made',
    whole: whole({ tool_calls: [call('a', '{"x":1}', { id: 'p' }), call('b', '{"y":2}', { id: 'q' })] }, 'end_turn'),
    events: [
      calls(call('a', '{"x":1}', { index: 0, id: 'p' }), call('b', '{"y":2}', { index: 1, id: 'q' })),
      ...end('end_turn'),
    ],
    want: CALLED,
    not: ['chat'],
  },
]

const piece = (...content: Json[]): Loose => chunk({ content })
const detail = (text: string): JsonObject => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })

const WORDS: readonly Said[] = [
  {
    name: 'thoughts in a list of details alone',
    whole: whole({ ...detail('Hm.'), content: 'Hi' }),
    events: [chunk(detail('H')), chunk(detail('m.')), chunk({ content: 'Hi' }), ...end()],
    want: THOUGHT,
  },
  {
    name: 'thoughts in a field and in a list of details',
    whole: whole({ reasoning: 'Hm.', ...detail('Hm.'), content: 'Hi' }),
    events: [
      chunk({ reasoning: 'H', ...detail('H') }),
      chunk({ reasoning: 'm.', ...detail('m.') }),
      chunk({ reasoning: null, ...detail('Hm.'), content: 'Hi' }),
      ...end(),
    ],
    want: THOUGHT,
  },
  {
    name: 'thoughts beside an empty field for them',
    whole: whole({ reasoning_content: '', reasoning: 'Hm.', content: 'Hi' }),
    events: [chunk({ reasoning_content: '', reasoning: 'Hm.' }), chunk({ content: 'Hi' }), ...end()],
    want: THOUGHT,
  },
  {
    name: 'thoughts under both names',
    whole: whole({ reasoning_content: 'Hm.', reasoning: 'Hm.', content: 'Hi' }),
    events: [chunk({ reasoning_content: 'Hm.', reasoning: 'Hm.' }), chunk({ content: 'Hi' }), ...end()],
    want: THOUGHT,
  },
  {
    name: 'thoughts in an object',
    whole: whole({ reasoning: { thinking: 'Hm.', signature: 's' }, content: 'Hi' }),
    events: [chunk({ reasoning: { thinking: 'Hm.' } }), chunk({ content: 'Hi' }), ...end()],
    want: THOUGHT,
  },
  {
    name: 'thoughts that refer to something amid them',
    whole: whole({
      content: [
        {
          type: 'thinking',
          thinking: [{ type: 'text', text: 'Hm' }, { type: 'reference' }, { type: 'text', text: '.' }],
        },
        { type: 'text', text: 'Hi' },
      ],
    }),
    events: [
      piece({ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }, { type: 'reference' }] }),
      piece({ type: 'thinking', thinking: '.' }, { type: 'text', text: 'Hi' }),
      ...end(),
    ],
    want: THOUGHT,
  },
  {
    name: 'texts in a list that does not say what they are',
    whole: whole({ content: [{ text: 'Hi ' }, { type: 'output_text', text: 'there' }] }),
    events: [piece({ text: 'Hi ' }, { type: 'output_text', text: 'there' }), ...end()],
    want: SPOKEN,
  },
]

const spoken = [chunk({ content: 'Hi ' }), chunk({ content: 'there' })]
const words = (text: string, reason: string): Said => ({
  name: `the word ${text}`,
  whole: whole({ content: 'Hi there' }, text),
  events: [...spoken, ...end(text)],
  want: { ...SPOKEN, finish: reason },
  not: ['chat'],
})

const ENDS: readonly Said[] = [
  {
    name: 'a count told of the choice',
    events: [...spoken, { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }] }, DONE],
    want: SPOKEN,
  },
  {
    name: 'a count told among Groq’s own',
    events: [...spoken, chunk({}, 'stop', { x_groq: { usage: USAGE } }), DONE],
    want: SPOKEN,
  },
  {
    name: 'a count with every chunk',
    events: [chunk({ content: 'Hi ' }, null, { usage: { ...USAGE, completion_tokens: 1 } }), spoken[1], ...end()],
    want: SPOKEN,
  },
  { name: 'the whole answer as one event', events: [whole({ content: 'Hi there' }), DONE], want: SPOKEN },
  {
    name: 'spaces around the end, and events of nothing',
    events: [...spoken, '', chunk({}, 'stop', { usage: USAGE }), '[DONE] '],
    want: SPOKEN,
  },
  {
    name: 'bytes that begin with a mark',
    whole: `\uFEFF${JSON.stringify(whole({ content: 'Hi there' }))}`,
    want: SPOKEN,
  },
  {
    name: 'no reason to end in a whole answer',
    whole: whole({ content: 'Hi there' }, null),
    want: SPOKEN,
    not: ['chat'],
  },
  ...['end_turn', 'eos_token', 'STOP', 'COMPLETE', 'stop_sequence'].map(word => words(word, 'stop')),
  ...['MAX_TOKENS', 'max_tokens', 'model_length'].map(word => words(word, 'length')),
]

export const CHAT: readonly Said[] = [...CALLS, ...WORDS, ...ENDS]
