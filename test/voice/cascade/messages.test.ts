import { expect, test } from 'vitest'
import type { ConversationItem } from '../../../src/canonical/voice-session.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { messagesOf } from '../../../src/voice/cascade/messages.ts'
import { conversationRequest } from '../../../src/voice/cascade/requests.ts'

const item = (role: ConversationItem['role'], text: string): ConversationItem => ({
  role,
  content: [{ type: 'text', text }],
  status: 'completed',
})

const HISTORY = [item('user', 'Hello'), item('assistant', 'How can I help?')]

/* Clients request a response without a new turn of the user, such as “ask whether the user is still there”. */

test('a response that follows an answer ends with a turn of the user, because models would go on with the answer', () => {
  expect(messagesOf(HISTORY).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(messagesOf(HISTORY.slice(0, 1))).toHaveLength(1)
  expect(messagesOf([...HISTORY, item('system', 'The user is silent.')]).at(-1)!.role).toBe('system')
  expect(messagesOf([])).toEqual([])
})

test.each([
  ['messages', 'messages'],
  ['contents', 'contents'],
  ['converse', 'messages'],
] as const)('such a response does not end with a turn of the model in %s, which refuses it', (format, field) => {
  const request = conversationRequest('m', { instructions: 'Ask whether the user is still there.' }, HISTORY)
  const { body } = WRITERS[format]!.request!(request, { dialect: {}, native: false } as never).wire
  const turns = body[field] as readonly { readonly role: string }[]
  expect(turns.map(({ role }) => role)).toEqual(['user', format === 'contents' ? 'model' : 'assistant', 'user'])
})
