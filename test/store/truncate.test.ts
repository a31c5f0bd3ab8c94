import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import { shortened } from '../../src/gateway/state/truncate.ts'

const text = (role: Message['role'], said: string): Message => ({ role, content: [{ type: 'text', text: said }] })
const call: Message = { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }] }
const answer: Message = { role: 'tool', content: [{ type: 'tool-result', id: 'c', content: [] }] }

const asked = (messages: readonly Message[], truncation = 'auto'): CanonicalRequest => ({
  ...{ model: 'm', messages, output: {}, sampling: {}, stream: false },
  extras: { responses: { truncation } },
})

/** 100 tokens. */
const long = 'x'.repeat(400)

describe('truncation: auto', () => {
  const talk = [text('system', 'be'), text('user', long), call, answer, text('user', long), text('user', 'last')]

  test('drops the oldest turns whole, and no more than it must', () => {
    expect(shortened(asked(talk), 130).messages).toEqual([talk[0], ...talk.slice(4)])
    expect(shortened(asked(talk), 1000).messages).toBe(talk)
  })

  test('keeps the last turn and what stands above all, however small the room', () => {
    expect(shortened(asked(talk), 1).messages).toEqual([talk[0], ...talk.slice(4)])
    const spoken = [text('developer', long), text('user', long)]
    expect(shortened(asked(spoken), 1).messages).toEqual(spoken)
  })

  test('is nobody’s loss once it is done, and is left to the upstream where nothing is known', () => {
    expect(shortened(asked(talk), 1000).extras).toEqual({ responses: {} })
    expect(shortened(asked(talk), undefined)).toEqual(asked(talk))
    expect(shortened(asked(talk, 'disabled'), 1)).toEqual(asked(talk, 'disabled'))
  })

  test('never parts a call from its result, nor changes the order', () => {
    const turn = fc.constantFrom(
      [text('user', long)],
      [text('user', 'x'), call, answer],
      [text('user', 'y'), text('assistant', long)],
    )
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), fc.nat(900), (turns, room) => {
        const all = turns.flat()
        const left = shortened(asked(all), room).messages
        expect(all.slice(all.length - left.length)).toEqual(left)
        expect(left.filter(one => one === call).length).toBe(left.filter(one => one === answer).length)
        expect(left.slice(-turns.at(-1)!.length)).toEqual(turns.at(-1))
      }),
    )
  })
})
