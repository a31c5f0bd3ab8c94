import { describe, expect, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { READERS } from '../../src/ingress/index.ts'
import { STREAM_REQUEST } from '../builders/requests.ts'
import { namedEvent } from '../builders/streams.ts'

/** Two calls of one tool, of which each has the id under test, as a whole answer and as a stream. */
interface Example {
  whole(id: Json | undefined): JsonObject
  stream(id: Json | undefined): readonly WireEvent[]
}

const NAMES = ['f', 'f'] as const
const withId = (field: string, id: Json | undefined): JsonObject => (id === undefined ? {} : { [field]: id })
const converseEvent = (event: string, data: JsonObject): WireEvent => ({ event, data: JSON.stringify(data) })

const responsesCall = (name: string, at: number, id: Json | undefined): JsonObject => ({
  ...{ type: 'function_call', id: `fc_${at}`, ...withId('call_id', id), name, arguments: `{"at":${at}}` },
})

const EXAMPLES: { readonly [format: string]: Example } = {
  messages: {
    whole: id => ({
      ...{ type: 'message', role: 'assistant', stop_reason: 'tool_use' },
      content: NAMES.map((name, at) => ({ type: 'tool_use', ...withId('id', id), name, input: { at } })),
    }),
    stream: id => [
      namedEvent('message_start', { message: { id: 'm', model: 'm', content: [], usage: {} } }),
      ...NAMES.flatMap((name, index) => [
        namedEvent('content_block_start', {
          index,
          content_block: { type: 'tool_use', ...withId('id', id), name, input: {} },
        }),
        namedEvent('content_block_delta', {
          index,
          delta: { type: 'input_json_delta', partial_json: `{"at":${index}}` },
        }),
        namedEvent('content_block_stop', { index }),
      ]),
      namedEvent('message_delta', { delta: { stop_reason: 'tool_use' }, usage: {} }),
      namedEvent('message_stop'),
    ],
  },
  converse: {
    whole: id => ({
      output: {
        message: {
          role: 'assistant',
          content: NAMES.map((name, at) => ({ toolUse: { ...withId('toolUseId', id), name, input: { at } } })),
        },
      },
      stopReason: 'tool_use',
    }),
    stream: id => [
      converseEvent('messageStart', { role: 'assistant' }),
      ...NAMES.flatMap((name, contentBlockIndex) => [
        converseEvent('contentBlockStart', {
          contentBlockIndex,
          start: { toolUse: { ...withId('toolUseId', id), name } },
        }),
        converseEvent('contentBlockDelta', {
          contentBlockIndex,
          delta: { toolUse: { input: `{"at":${contentBlockIndex}}` } },
        }),
        converseEvent('contentBlockStop', { contentBlockIndex }),
      ]),
      converseEvent('messageStop', { stopReason: 'tool_use' }),
    ],
  },
  responses: {
    whole: id => ({
      ...{ id: 'resp_1', object: 'response', status: 'completed' },
      output: NAMES.map((name, at) => responsesCall(name, at, id)),
    }),
    stream: id => [
      namedEvent('response.created', { response: { id: 'resp_1', output: [] } }),
      ...NAMES.flatMap((name, output_index) => [
        namedEvent('response.output_item.added', {
          output_index,
          item: { ...responsesCall(name, output_index, id), arguments: '' },
        }),
        namedEvent('response.function_call_arguments.delta', {
          ...{ output_index, item_id: `fc_${output_index}`, delta: `{"at":${output_index}}` },
        }),
        namedEvent('response.output_item.done', { output_index, item: responsesCall(name, output_index, id) }),
      ]),
      namedEvent('response.completed', {
        response: {
          ...{ id: 'resp_1', status: 'completed' },
          output: NAMES.map((name, at) => responsesCall(name, at, id)),
        },
      }),
    ],
  },
  interactions: {
    whole: id => ({
      status: 'requires_action',
      steps: NAMES.map((name, at) => ({ type: 'function_call', ...withId('id', id), name, arguments: { at } })),
    }),
    stream: id => [
      namedEvent('interaction.created', { interaction: { id: 'i' } }),
      ...NAMES.flatMap((name, index) => [
        namedEvent('step.start', {
          index,
          step: { type: 'function_call', ...withId('id', id), name, arguments: { at: index } },
        }),
        namedEvent('step.stop', { index }),
      ]),
      namedEvent('interaction.completed', { interaction: { status: 'requires_action' } }),
    ],
  },
}

const IDS: readonly (Json | undefined)[] = [undefined, null, '', 'call_1', 0]

describe.each(Object.entries(EXAMPLES))('%s', (format, { whole, stream }) => {
  it.each(IDS)('two calls with the id %j are two calls with ids of their own (trap 6)', id => {
    const reader = READERS[format]!
    for (const { candidates } of [
      reader.result!({ status: 200, headers: {}, body: whole(id) }, STREAM_REQUEST),
      fold(drain(reader.events!(STREAM_REQUEST), stream(id))),
    ]) {
      const calls = candidates[0]!.content.map(part => (part.type === 'tool-call' ? part : undefined))
      expect(calls.map(call => call?.arguments)).toEqual(['{"at":0}', '{"at":1}'])
      const ids = calls.map(call => call?.id ?? '')
      expect(new Set([...ids, '']).size).toBe(3)
      if (id === 'call_1') expect(ids[0]).toBe(id)
    }
  })
})
