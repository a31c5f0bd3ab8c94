import { describe, expect, test } from 'vitest'
import type { ConversationItem } from '../../../src/canonical/voice-session.ts'
import { isSilent, messagesOf } from '../../../src/voice/cascade/messages.ts'

const says = (role: 'user' | 'assistant', text: string): ConversationItem => ({
  role,
  content: [{ type: 'text', text }],
})
const call = (id: string, status: 'completed' | 'incomplete' = 'completed'): ConversationItem => ({
  ...{ role: 'assistant', status },
  content: [{ type: 'tool-call', id, name: 'find', arguments: '{}' }],
})
const result = (id: string, text = `result of ${id}`): ConversationItem => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, content: [{ type: 'text', text }] }],
})

/** The history that a model gets, in one line per message. */
const told = (...items: readonly ConversationItem[]): readonly string[] =>
  messagesOf(items).map(({ role, content }) => {
    const words = content.map(part =>
      part.type === 'text'
        ? part.text
        : part.type === 'tool-call'
          ? `${part.id}()`
          : part.type === 'tool-result'
            ? `${part.id}: ${part.content.map(one => (one.type === 'text' ? one.text : '')).join('')}`
            : '',
    )
    return `${role}: ${words.join(', ')}`
  })

const PENDING = 'The result has not arrived yet.'

describe('the history of a session in which people talk while tools run', () => {
  test('has a result for a call that is still running, before the words that followed', () => {
    expect(told(says('user', 'Find it.'), call('a'), says('user', 'Hello?'))).toEqual([
      'user: Find it.',
      'assistant: a()',
      `tool: a: ${PENDING}`,
      'user: Hello?',
    ])
  })

  test('has one for each of several calls, of which one has its result', () => {
    expect(told(call('a'), call('b'), result('b'))).toEqual([
      'assistant: a(), b()',
      `tool: a: ${PENDING}`,
      'tool: b: result of b',
    ])
  })

  test('has a result that follows other words of the user right behind its call', () => {
    expect(told(call('a'), says('user', 'Hello?'), result('a'))).toEqual([
      'assistant: a()',
      'tool: a: result of a',
      'user: Hello?',
    ])
  })

  test('has a call whose result follows another answer where its result arrived, so that the model answers it', () => {
    expect(told(call('a'), says('user', 'Hello?'), says('assistant', 'Wait.'), result('a'))).toEqual([
      'user: Hello?',
      'assistant: Wait., a()',
      'tool: a: result of a',
    ])
  })

  test('has calls and results in pairs if a model uses the id of a call again', () => {
    expect(told(call('a'), result('a', 'one'), says('user', 'Again.'), call('a'), result('a', 'two'))).toEqual([
      'assistant: a()',
      'tool: a: one',
      'user: Again.',
      'assistant: a()',
      'tool: a: two',
    ])
  })

  test('has neither results without a call nor calls that were cut', () => {
    expect(told(says('user', 'Find it.'), call('a', 'incomplete'), result('a'), result('b'))).toEqual([
      'user: Find it.',
    ])
  })

  test('is the same without calls', () => {
    expect(told(says('user', 'Hi.'), says('assistant', 'Hi.'), says('user', 'Bye.'))).toEqual([
      'user: Hi.',
      'assistant: Hi.',
      'user: Bye.',
    ])
  })
})

test('a result is no silence, although its call may be elsewhere', () => {
  expect([isSilent(result('a')), isSilent(says('user', ' ')), isSilent(call('a', 'incomplete'))]).toEqual([
    false,
    true,
    true,
  ])
})
