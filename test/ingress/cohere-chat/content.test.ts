import { expect, test } from 'vitest'
import { readMessages } from '../../../src/ingress/cohere-chat/content.ts'
import { WrongType } from '../../../src/ingress/fields.ts'

test('a message has one of four roles', () => {
  const roles = ['system', 'user', 'assistant', 'tool']
  const messages = roles.map(role => ({ role, content: 'x', ...(role === 'tool' ? { tool_call_id: 'a' } : {}) }))
  expect(readMessages(messages).map(({ role }) => role)).toEqual(roles)
  for (const role of ['developer', '', 'toString', 7, null]) {
    let thrown: unknown
    try {
      readMessages([{ role, content: 'x' }])
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBe(WrongType.instance)
  }
  expect(() => readMessages([{ content: 'x' }])).toThrow()
})
