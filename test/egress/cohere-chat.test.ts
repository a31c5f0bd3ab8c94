import { expect, test } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { cohereChat as writer } from '../../src/egress/cohere-chat/index.ts'
import { REQUEST } from '../builders/requests.ts'
import { FOREIGN } from '../builders/write-options.ts'

test('a turn of calls and an empty text has no content, because an empty one may be refused', () => {
  const call: Part = { type: 'tool-call', id: 'call_1', name: 'get_time', arguments: '{}' }
  const content: readonly Part[] = [{ type: 'text', text: '' }, call]
  const { wire } = writer.request!({ ...REQUEST, messages: [{ role: 'assistant', content }] }, FOREIGN)
  const calls = [{ id: 'call_1', type: 'function', function: { name: 'get_time', arguments: '{}' } }]
  expect(wire.body).toMatchObject({ messages: [{ role: 'assistant', tool_calls: calls }] })
  expect(JSON.stringify(wire.body)).not.toContain('content')
})
