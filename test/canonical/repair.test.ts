import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { lose } from '../../src/canonical/loss.ts'
import { repair } from '../../src/canonical/repair.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import { meaning } from '../laws/same.ts'

const asking = (...messages: Message[]): CanonicalRequest => ({
  model: 'm',
  messages,
  output: {},
  sampling: {},
  stream: false,
})
const text = (role: Message['role'], words: string): Message => ({ role, content: [{ type: 'text', text: words }] })
const call = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map(id => ({ type: 'tool-call', id, name: 'look', arguments: '{}' })),
})
const result = (...ids: string[]): Message => ({
  role: 'tool',
  content: ids.map(id => ({ type: 'tool-result', id, content: [{ type: 'text', text: 'seen' }] })),
})
const missing = (id: string): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, content: [{ type: 'text', text: 'No result was recorded.' }], failed: true }],
})
const repaired = (...messages: Message[]) => repair(asking(...messages)).request.messages

describe('trap 44: a history strict upstreams accept', () => {
  test('a well-formed history comes back as the same object', () => {
    const request = asking(text('user', 'hi'), call('a', 'b'), result('a'), result('b'), call('c'))
    expect(repair(request)).toEqual({ request, losses: [] })
    expect(repair(request).request).toBe(request)
  })

  test('results without a call and second results go', () => {
    expect(repaired(text('user', 'hi'), result('z'), call('a'), result('a'), result('a'))).toEqual([
      text('user', 'hi'),
      call('a'),
      result('a'),
    ])
  })

  test('a call said twice in one turn is said once; in two turns the answered one stays', () => {
    expect(repaired(call('a'), call('a'), result('a'))).toEqual([call('a'), result('a')])
    expect(repaired(call('a'), text('user', 'go on'), call('a'), result('a'))).toEqual([
      text('user', 'go on'),
      call('a'),
      result('a'),
    ])
  })

  test('an id used again after its answer is another call', () => {
    const messages = [call('a'), result('a'), call('a'), result('a')]
    expect(repaired(...messages)).toEqual(messages)
  })

  test('an unanswered call gets a failed result behind those of its turn', () => {
    expect(repaired(call('a', 'b'), result('b'), text('user', 'go on'))).toEqual([
      call('a', 'b'),
      result('b'),
      missing('a'),
      text('user', 'go on'),
    ])
    expect(repaired(call('a'), text('user', 'go on'))).toEqual([call('a'), missing('a'), text('user', 'go on')])
  })

  test('an unanswered call gets a failed result at the end of the history, too, where other calls have theirs', () => {
    expect(repaired(call('a', 'b'), result('b'))).toEqual([call('a', 'b'), result('b'), missing('a')])
  })

  test('names of results are repaired beside results that go', () => {
    const named = (name: string): Message => ({
      role: 'tool',
      content: [{ type: 'tool-result', id: 'a', name, content: [] }],
    })
    expect(repaired(call('a'), named('see'), result('z'))).toEqual([call('a'), named('look')])
  })

  test('a message with one repaired part among others is repaired, and other messages stay the same objects', () => {
    const named = (name: string): Part => ({ type: 'tool-result', id: 'b', name, content: [] })
    const [calls, one] = [call('a', 'b'), result('a')]
    const both = (name: string): Message => ({ role: 'tool', content: [...one.content, named(name)] })
    const messages = repaired(calls, both('see'))
    expect(messages).toEqual([calls, both('look')])
    expect(messages[0]).toBe(calls)
  })

  test('a message that loses all its parts goes, unless it has fields of its own', () => {
    const extras = { chat: { name: 'x' } }
    expect(repaired(text('user', 'hi'), { ...result('z'), extras })).toEqual([
      text('user', 'hi'),
      { role: 'tool', content: [], extras },
    ])
  })

  test('a call at the very end waits for its answer', () => {
    expect(repaired(text('user', 'hi'), call('a', 'b'))).toEqual([text('user', 'hi'), call('a', 'b')])
  })

  test('the losses say what happened where', () => {
    expect(repair(asking(result('z'), call('a'), text('user', 'x'))).losses).toEqual([
      { kind: 'dropped', path: ['messages', 0, 'content', 0], reason: 'orphan-result' },
      { kind: 'inserted', path: ['messages', 2], value: missing('a'), reason: 'unanswered-call' },
    ])
  })
})

describe('laws', () => {
  const id = fc.constantFrom('a', 'b', 'c')
  const part = fc.oneof(
    id.map((id): Part => ({ type: 'tool-call', id, name: 'look', arguments: '{}' })),
    fc.constant<Part>({ type: 'text', text: 'words' }),
  )
  const message = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 3 }).map((content): Message => ({ role: 'assistant', content })),
    fc.array(id, { minLength: 1, maxLength: 3 }).map(ids => result(...ids)),
    fc.constant(text('user', 'words')),
  )
  const histories = fc.array(message, { maxLength: 8 }).map(messages => asking(...messages))

  test('every result follows its call, and every call that is not at the end has one result', () => {
    fc.assert(
      fc.property(histories, request => {
        const { messages } = repair(request).request
        const open = new Map<string, number>()
        for (const [index, { content }] of messages.entries())
          for (const part of content) {
            if (part.type === 'tool-call') {
              expect(open.has(part.id)).toBe(false)
              open.set(part.id, index)
            } else if (part.type === 'tool-result') expect(open.delete(part.id)).toBe(true)
          }
        const last = messages.findLastIndex(({ role }) => role !== 'assistant')
        for (const index of open.values()) expect(index).toBeGreaterThan(last)
      }),
      { numRuns: 2000 },
    )
  })

  test('repairing twice is repairing once', () => {
    fc.assert(
      fc.property(histories, request => {
        const once = repair(request).request
        expect(repair(once)).toEqual({ request: once, losses: [] })
      }),
      { numRuns: 2000 },
    )
  })

  test('the losses are exact', () => {
    fc.assert(
      fc.property(histories, request => {
        const { request: once, losses } = repair(request)
        expect(meaning(lose(request, losses))).toEqual(meaning(once))
      }),
      { numRuns: 2000 },
    )
  })
})
