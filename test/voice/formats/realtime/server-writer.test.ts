import { expect, test } from 'vitest'
import type { ServerEvent } from '../../../../src/canonical/voice-session-event.ts'
import { ServerWriter } from '../../../../src/voice/formats/realtime/server-writer.ts'
import type { Naming } from '../../../../src/voice/formats/realtime/wire.ts'
import { MAX_RUNNING } from '../../../../src/voice/limits.ts'

const open = (responses: number) => {
  const writer = new ServerWriter({ naming: 'ga', newId: prefix => prefix })
  const frames = Array.from({ length: responses }, (_, index) =>
    writer.write({ type: 'response-start', response: `r${index}` }),
  )
  return { writer, written: frames.flat().map(frame => JSON.parse(frame)) }
}

test('as many responses may be open as a session tracks, and each has its end', () => {
  const { writer } = open(MAX_RUNNING)
  for (let index = 0; index < MAX_RUNNING; index++) {
    const frames = writer.write({ type: 'response-end', response: `r${index}`, status: 'completed' })
    expect(frames.map(frame => JSON.parse(frame))).toMatchObject([
      { type: 'response.done', response: { id: `r${index}`, status: 'completed' } },
    ])
  }
})

test('beyond the limit the oldest response fails instead of staying open at the caller', () => {
  const { writer, written } = open(MAX_RUNNING + 1)
  const ends = written.filter(({ type }) => type === 'response.done')
  expect(ends).toMatchObject([
    { response: { id: 'r0', status: 'failed', status_details: { error: { code: 'too_many_responses' } } } },
  ])
  expect(writer.write({ type: 'response-end', response: 'r0', status: 'completed' })).toEqual([])
})

/** The conversation as a client keeps it: each item follows the one that its event names. */
function orderOf(events: readonly ServerEvent[], naming: Naming = 'ga'): readonly string[] {
  const writer = new ServerWriter({ naming, newId: prefix => prefix })
  const items: string[] = []
  for (const { type, item, item_id, previous_item_id } of events.flatMap(one => writer.write(one)).map(read)) {
    if (type === 'conversation.item.deleted') items.splice(items.indexOf(item_id), 1)
    if (type !== 'conversation.item.added' && type !== 'conversation.item.created') continue
    expect(previous_item_id === null || items.includes(previous_item_id), `${previous_item_id} of ${items}`).toBe(true)
    items.splice(items.indexOf(previous_item_id) + 1, 0, item.id)
  }
  return items
}
const read = (frame: string): { type: string; item: { id: string }; item_id: string; previous_item_id: string } =>
  JSON.parse(frame)

const added = (id: string, more: { readonly after?: string | null } = {}): ServerEvent => ({
  ...{ type: 'item-added', item: { id, role: 'user', content: [] } },
  ...more,
})
const answered = (id: string, detached = false): readonly ServerEvent[] => [
  { type: 'response-start', response: `r_${id}`, ...(detached ? { detached } : {}) },
  { type: 'output-start', response: `r_${id}`, output: 0, item: { id, role: 'assistant', content: [] } },
  { type: 'response-end', response: `r_${id}`, status: 'completed' },
]

test.each(['ga', 'beta'] as const)('an item without a stated place is at the end for callers of the %s', naming => {
  const events = [added('a', { after: null }), ...answered('b'), added('c'), ...answered('out', true), ...answered('d')]
  expect(orderOf(events, naming)).toEqual(['a', 'b', 'c', 'd'])
})

test('the end is known after items were inserted and deleted', () => {
  const inserted = [added('b', { after: null }), added('a', { after: null }), added('c', { after: 'b' })]
  expect(orderOf([...inserted, ...answered('d')])).toEqual(['a', 'b', 'c', 'd'])
  const deleted: ServerEvent = { type: 'item-deleted', item: 'c' }
  expect(orderOf([...inserted, deleted, ...answered('d')])).toEqual(['a', 'b', 'd'])
})

test.each(['ga', 'beta'] as const)('the conversation of a session is announced to callers of the %s', naming => {
  const writer = new ServerWriter({ naming, newId: prefix => `${prefix}_1` })
  const frames = [
    ...writer.write({ type: 'session-created', settings: {} }),
    ...writer.write({ type: 'response-start', response: 'r' }),
  ].map(frame => JSON.parse(frame))
  expect(frames).toMatchObject([
    { type: 'session.created' },
    { type: 'conversation.created', conversation: { id: 'conv_1', object: 'realtime.conversation' } },
    { type: 'response.created', response: { conversation_id: 'conv_1' } },
  ])
  const transcribing = writer.write({ type: 'session-created', settings: { purpose: 'transcription' } })
  expect(transcribing).toHaveLength(1)
})
