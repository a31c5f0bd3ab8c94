import { describe, expect, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { responses as writer } from '../../src/egress/responses/index.ts'
import { responses as reader } from '../../src/ingress/responses/index.ts'
import { STREAM_REQUEST } from '../builders/requests.ts'

/* Streams of responses whose events identify their item less clearly than OpenAI's. */
const event = (type: string, fields: JsonObject): WireEvent => ({
  data: JSON.stringify({ type: `response.${type}`, ...fields }),
})

const call = (id: string, said: string) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'f',
  arguments: said,
})
const message = (text: string) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
})
const ITEMS = [message('Hi'), call('a', '{"x":1}'), call('b', '{"y":2}')]

/** Returns the stream of the items. `at` adds the fields that identify the item of each event. */
function told(at: (place: number) => JsonObject, more: JsonObject = {}): WireEvent[] {
  const items = ITEMS.flatMap((item, place): WireEvent[] => {
    const where = { item_id: item.id, ...at(place), ...more }
    const empty = 'arguments' in item ? { ...item, arguments: '' } : { ...item, content: [] }
    return [
      event('output_item.added', { ...at(place), item: empty }),
      'arguments' in item
        ? event('function_call_arguments.delta', { ...where, delta: item.arguments })
        : event('output_text.delta', { ...where, content_index: 0, delta: 'Hi' }),
      event('output_item.done', { ...at(place), item }),
    ]
  })
  return [
    event('created', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
    ...items,
    event('completed', { response: { id: 'resp_1', status: 'completed', output: ITEMS } }),
  ]
}

const content = (wire: readonly WireEvent[]) => fold(drain(reader.events!(STREAM_REQUEST), wire)).candidates[0]!.content

describe('items of a stream', () => {
  const want = [
    { type: 'text', text: 'Hi' },
    { id: 'a', arguments: '{"x":1}' },
    { id: 'b', arguments: '{"y":2}' },
  ]

  it.each<readonly [string, (place: number) => JsonObject]>([
    ['are where their indices say', place => ({ output_index: place })],
    ['may leave gaps between their indices', place => ({ output_index: place * 2 + 1 })],
    ['may have no indices', () => ({})],
    ['may all have the same one', () => ({ output_index: 0 })],
  ])('%s', (_, at) => {
    expect(content(told(at))).toMatchObject(want)
    expect(content(told(at)).length).toBe(want.length)
  })

  it('are counted anew for callers of the format, the events of others’ kinds with them', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'in_progress' }
    const wire = [
      event('created', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
      event('output_item.added', { output_index: 3, item: search }),
      event('web_search_call.searching', { output_index: 3, item_id: 'ws_1' }),
      event('output_item.done', { output_index: 3, item: { ...search, status: 'completed' } }),
    ]
    const told = drain(chain(reader.events!(STREAM_REQUEST), writer.events!(STREAM_REQUEST)), wire).map(({ data }) =>
      JSON.parse(data),
    )
    expect(told.slice(1, -1).map(({ output_index }) => output_index)).not.toContain(3)
    expect(told.find(({ type }) => type === 'response.web_search_call.searching').output_index).toBe(0)
  })

  it('trap 69: may have other ids on the way', () => {
    expect(content(told(place => ({ output_index: place }), { item_id: 'changed' }))).toMatchObject(want)
  })

  it('trap 69: may have other ids at the end, beside gaps', () => {
    const wire = told(place => ({ output_index: place * 2 })).slice(0, -1)
    const output = ITEMS.map((item, place) => ({ ...item, id: `other_${place}` }))
    const got = content([...wire, event('completed', { response: { id: 'resp_1', status: 'completed', output } })])
    expect(got).toMatchObject(want)
    expect(got.length).toBe(want.length)
  })
})
