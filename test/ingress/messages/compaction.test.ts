import { describe, expect, it } from 'vitest'
import { translate } from '../../../src/kit/translate.ts'

/* Compactions of Claude: a block whose summary stands for all turns before it, which clients leave out. */

const COMPACTION = { type: 'compaction', content: 'Facts001', encrypted_content: null, signature: 's' }
const asked = (compaction: object, behind: object[] = []): string =>
  JSON.stringify({
    ...{ model: 'm', max_tokens: 9 },
    messages: [
      { role: 'assistant', content: [compaction, ...behind] },
      { role: 'user', content: 'Go on.' },
    ],
  })
const OTHERS = ['chat', 'responses', 'contents', 'converse', 'interactions', 'cohere-chat', 'completions'] as const

describe('a history that begins with a compaction', () => {
  it.each(OTHERS)('keeps its summary at an upstream of %s', to => {
    const { wire, losses } = translate(asked(COMPACTION), { from: 'messages', to, kind: 'request' })
    expect(JSON.stringify(wire).match(/Facts001/g)).toHaveLength(1)
    expect(losses).toContainEqual(expect.objectContaining({ path: ['messages', 0, 'content', 0], kind: 'changed' }))
  })

  it('goes back to Claude as it came', () => {
    const { wire, losses } = translate(asked(COMPACTION), { from: 'messages', to: 'messages', kind: 'request' })
    expect(JSON.stringify(wire)).toContain(JSON.stringify(COMPACTION))
    expect(losses).toEqual([])
  })

  it('says nothing where the compaction failed', () => {
    const text = asked({ type: 'compaction', content: null }, [{ type: 'text', text: 'Yes.' }])
    const { wire } = translate(text, { from: 'messages', to: 'chat', kind: 'request' })
    expect(wire).toMatchObject({ body: { messages: [{ content: 'Yes.' }, { content: 'Go on.' }] } })
  })
})

it('callers of other formats do not read the summary as part of the answer', () => {
  const answer = JSON.stringify({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
    ...{ content: [COMPACTION, { type: 'text', text: 'Yes.' }], usage: { input_tokens: 1, output_tokens: 1 } },
  })
  const { wire } = translate(answer, { from: 'messages', to: 'chat', kind: 'result' })
  expect(wire).toMatchObject({ body: { choices: [{ message: { content: 'Yes.' } }] } })
  expect(JSON.stringify(wire)).not.toContain('Facts001')
})
