import { expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { isTextOnly } from '../../../src/canonical/request.ts'
import { mayHoldReasoning } from '../../../src/gateway/thoughts/reasoning-memory.ts'

const PLAIN: CanonicalRequest = {
  ...{ model: 'm', output: {}, sampling: {}, stream: false },
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Well?' }] }],
}
const CALLED = { type: 'tool-call', id: 'toolu_01Ab2Cd3Ef4', name: 'f', arguments: '{}' } as const

test.each<[string, Partial<CanonicalRequest>, boolean]>([
  ['text alone', {}, false],
  ['an empty list of tools', { tools: [] }, false],
  ['tools', { tools: [{ type: 'function', name: 'f', parameters: {} }] }, true],
  ['a call in its history', { messages: [{ role: 'assistant', content: [CALLED] }] }, true],
  ['a prompt with tools of its own', { extras: { responses: { prompt: { id: 'pmpt_1' } } } }, true],
])('whether a request with %s has a place for thoughts before calls', (_, more, may) => {
  const request = { ...PLAIN, ...more }
  expect(mayHoldReasoning(request, isTextOnly(request))).toBe(may)
})
