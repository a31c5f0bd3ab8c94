import { expect, test } from 'vitest'
import { expectedTokens } from '../../src/gateway/admission.ts'
import { READERS } from '../../src/ingress/index.ts'

const expectedOf = (format: string, body: object) =>
  expectedTokens(READERS[format]!.request!({ path: '', query: {}, headers: {}, body: { model: 'm', ...body } }))

test.each([
  ['one prompt', { prompt: 'a' }, 100],
  ['one prompt of tokens', { prompt: [1, 2, 3] }, 100],
  ['no prompt', { prompt: null }, 100],
  ['three prompts', { prompt: ['a', 'b', 'c'] }, 300],
  ['two prompts with four choices each', { prompt: ['a', [1, 2]], n: 4 }, 800],
])('a text completion of %s reserves the output of each answer', (_, body, output) => {
  expect(expectedOf('completions', { max_tokens: 100, ...body })).toMatchObject({ output })
})

test('a conversation of several turns reserves the output of one answer', () => {
  const messages = ['user', 'assistant', 'user'].map(role => ({ role, content: 'a' }))
  expect(expectedOf('chat', { max_tokens: 100, messages })).toMatchObject({ output: 100 })
})
