import { describe, expect, it } from 'vitest'
import { repair } from '../../src/canonical/repair.ts'
import { chat as writer } from '../../src/egress/chat/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

/* Clients that store every streamed chunk as a separate turn of the model. */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Wire = any

const user = (...parts: Wire[]) => ({ role: 'user', parts })
const model = (...parts: Wire[]) => ({ role: 'model', parts })
const call = (id: string) => ({ functionCall: { id, name: 'f', args: { id } } })
const result = (id: string) => ({ functionResponse: { id, name: 'f', response: { output: id } } })

const request = (...contents: Wire[]) =>
  READERS['contents']!.request!({
    path: '/v1beta/models/m:generateContent',
    query: {},
    headers: {},
    body: { contents },
  })
const written = (contents: Wire[], dialect = {}) => {
  const { wire, losses } = writer.request!(repair(request(...contents)).request, { ...FOREIGN, dialect })
  return { messages: wire.body['messages'] as Wire[], losses: losses.filter(one => one.restored !== true) }
}
const roles = (messages: Wire[]) => messages.map(({ role }) => role)

describe('model turns in a row', () => {
  const CHUNKS = [
    user({ text: 'Go.' }),
    model({ text: 'Let me ' }),
    model({ text: 'see.' }),
    model(call('a')),
    model(call('b')),
  ]

  it('trap 95: are one message, with the results right behind its calls, and nothing is lost by it', () => {
    const { messages, losses } = written([...CHUNKS, user(result('a'), result('b'))])
    expect(roles(messages)).toEqual(['user', 'assistant', 'tool', 'tool'])
    expect(messages[1].tool_calls.map(({ id }: Wire) => id)).toEqual(['a', 'b'])
    expect(messages[1].content).toEqual([
      { type: 'text', text: 'Let me ' },
      { type: 'text', text: 'see.' },
    ])
    expect(losses).toEqual([])
  })

  it('trap 95: are one text where an upstream takes but a string, as it was streamed', () => {
    const { messages } = written([...CHUNKS, user(result('a'), result('b'))], { text_only_content: 'string' })
    expect(messages[1].content).toBe('Let me see.')
  })

  it('trap 95: say what has no place behind a call before it', () => {
    const { messages, losses } = written([
      ...[user({ text: 'Go.' }), model(call('a')), model({ text: 'And' }), model(call('b'))],
      user(result('a'), result('b')),
    ])
    expect(roles(messages)).toEqual(['user', 'assistant', 'tool', 'tool'])
    expect(messages[1]).toMatchObject({ content: 'And', tool_calls: [{ id: 'a' }, { id: 'b' }] })
    expect(losses).toMatchObject([
      { kind: 'dropped', path: ['messages', 2, 'content', 0] },
      { kind: 'inserted', path: ['messages', 1, 'content', 0], value: { type: 'text', text: 'And' } },
    ])
  })

  it('trap 62: turns added change nothing of what was written before', () => {
    const before = written([...CHUNKS, user(result('a'), result('b'))]).messages
    const after = written([
      ...CHUNKS,
      user(result('a'), result('b')),
      model({ text: 'Do' }),
      model({ text: 'ne.' }),
    ]).messages
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.length).toBe(before.length + 1)
  })

  it('stay as they are for callers of the very format', () => {
    const messages = [
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b' },
    ]
    const body = { model: 'm', messages }
    const own = READERS['chat']!.request!({ path: '/v1/chat/completions', query: {}, headers: {}, body })
    expect(writer.request!(own, NATIVE).wire.body['messages']).toEqual(messages)
  })
})
