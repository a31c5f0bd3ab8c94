import { describe, expect, test } from 'vitest'
import { AnswerIds } from '../../src/canonical/call-ids.ts'
import type { Part } from '../../src/canonical/content.ts'
import { assistant, text, tool, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'

const round = (id: string) => [
  assistant({ type: 'tool-call', id, name: 'f', arguments: '{}' } satisfies Part),
  tool({ type: 'tool-result', id, content: [text('ok')] } satisfies Part),
]
const idsAfter = (...earlier: string[]) =>
  new AnswerIds({ ...REQUEST, messages: [user(text('Hi')), ...earlier.flatMap(round)] })

describe('ids of an answer’s calls', () => {
  test.each([
    ['a server that numbers the calls of each answer from zero', ['0'], '0', 'call_1_f'],
    ['Kimi at such a server', ['functions.f:0'], 'functions.f:0', 'functions.f:1'],
    ['the same for a caller with legal ids', ['functions_f_0_d6bdd4de'], 'functions.f:0', 'functions.f:1'],
    ['an upstream whose ids are unique', ['call_a', 'functions.f:1'], 'call_b', 'call_b'],
    ['no id', ['call_a'], undefined, 'call_1_f'],
  ])('trap 6: %s', (_, earlier, wireId, expected) => {
    expect(idsAfter(...earlier).call(wireId, 'f')).toBe(expected)
  })

  test('trap 6: repeated ids of one answer keep the form in which the model counts', () => {
    const ids = idsAfter('functions.f:0')
    expect([0, 0, 1].map(number => ids.call(`functions.f:${number}`, 'f'))).toEqual([
      'functions.f:1',
      'functions.f:2',
      'functions.f:3',
    ])
  })
})
