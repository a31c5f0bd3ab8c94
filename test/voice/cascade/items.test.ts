import { expect, test } from 'vitest'
import type { ConversationItem } from '../../../src/canonical/voice-session.ts'
import { Items } from '../../../src/voice/cascade/items.ts'
import { readItem } from '../../../src/voice/formats/realtime/items.ts'

const LONG = 'x'.repeat(2 ** 20)

/** Items as callers may send them, with a long text in a place other than their content. */
const LONG_ITEMS: { readonly [place: string]: (index: number) => object } = {
  'an id': index => ({ type: 'message', role: 'user', id: index + LONG, content: [] }),
  'the address of an image': () => ({
    ...{ type: 'message', role: 'user' },
    content: [{ type: 'input_image', image_url: `https://images.example/${LONG}` }],
  }),
  'an unknown part': () => ({ type: 'message', role: 'user', content: [{ type: 'odd', value: LONG }] }),
  'an unknown field': () => ({ type: 'message', role: 'user', phase: LONG, content: [] }),
  'an unknown item': () => ({ type: 'odd', value: LONG }),
  'the name of a call': () => ({ type: 'function_call', name: LONG, call_id: 'c', arguments: '{}' }),
  'the id of a call': index => ({ type: 'function_call', name: 'n', call_id: index + LONG, arguments: '{}' }),
}

const itemsWith = (): Items => {
  let ids = 0
  return new Items(prefix => `${prefix}_${++ids}`)
}
const itemOf = (value: object): ConversationItem => readItem(value as never, 'item', 'audio/pcm')

test.each(Object.keys(LONG_ITEMS))('%s counts towards the size of a conversation', place => {
  const items = itemsWith()
  let added = 0
  for (let index = 0; index < 60; index++) {
    const [event] = items.create(itemOf(LONG_ITEMS[place]!(index)), undefined, undefined).events
    if (event?.type === 'item-added') added++
    else expect(event).toMatchObject({ type: 'error', error: { code: 'conversation_too_large' } })
  }
  expect(added).toBeGreaterThan(20)
  expect(added).toBeLessThan(40)
})

test('a deleted item leaves room for one of the same size, however often', () => {
  const items = itemsWith()
  const text = 'x'.repeat(20 * 2 ** 20)
  for (let times = 0; times < 3; times++) {
    const item = itemOf({ type: 'message', role: 'user', id: 'a', content: [{ type: 'input_text', text }] })
    expect(items.create(item, undefined, undefined).events[0]?.type).toBe('item-added')
    expect(items.create({ ...item, id: 'b' }, undefined, undefined).events[0]?.type).toBe('error')
    items.delete('a', undefined)
  }
})
