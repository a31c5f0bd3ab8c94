import { expect, it } from 'vitest'
import type { Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { assistant, text, tool, user } from '../../builders/messages.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'
import { plain } from '../../laws/support.ts'

const call = (id: string, args: string): Part => ({ type: 'tool-call', id, name: 'f', arguments: args })
const answerOf = (id: string, said: string): Part => ({ type: 'tool-result', id, content: [text(said)] })

/** A history of a server that numbers the calls of each answer from zero. */
const historyWith = (id: string): CanonicalRequest => ({
  ...REQUEST,
  messages: [
    user(text('Hi')),
    assistant(call(id, '{"n":1}')),
    tool(answerOf(id, 'one')),
    assistant(call(id, '{"n":2}')),
    tool(answerOf(id, 'two')),
    assistant(call('other', '{"n":3}')),
    tool(answerOf('other', 'three')),
  ],
})

it.each(['messages', 'converse'].flatMap(format => ['0', '', 'functions.f:0'].map(id => [format, id] as const)))(
  'trap 6: calls of several turns with one id get an id each in %s, as Claude requires: %j',
  (format, id) => {
    const original = historyWith(id)
    const { wire, losses } = WRITERS[format]!.request!(original, FOREIGN)
    const { messages } = READERS[format]!.request!({ ...wire, body: plain(wire.body) })
    const parts = messages.flatMap(({ content }) => content)
    const calls = parts.flatMap(part => (part.type === 'tool-call' ? [[part.id, part.arguments]] : []))
    const results = parts.flatMap(part => (part.type === 'tool-result' ? [[part.id, part.content]] : []))
    expect(new Set(calls.map(([one]) => one)).size).toBe(3)
    expect(results.map(([one]) => one)).toEqual(calls.map(([one]) => one))
    expect(calls.map(([, args]) => args)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
    expect(losses.filter(({ path }) => path.at(-1) === 'id').every(loss => loss.restored === true)).toBe(true)
    const earlier = { ...original, messages: original.messages.slice(0, 5) }
    const before = WRITERS[format]!.request!(earlier, FOREIGN).wire.body['messages'] as readonly unknown[]
    expect((wire.body['messages'] as readonly unknown[]).slice(0, before.length)).toEqual(before)
  },
)
