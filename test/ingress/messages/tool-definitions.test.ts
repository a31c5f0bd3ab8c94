import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import { messages as writer } from '../../../src/egress/messages/index.ts'
import { bodyPaths } from '../../../src/ingress/body-paths.ts'
import { messages as reader } from '../../../src/ingress/messages/index.ts'
import { translate } from '../../../src/kit/translate.ts'

/* Tools that system turns define in the middle of a conversation, as Claude Code and the SDK's tool runner do. */

const input_schema = { type: 'object', properties: { q: { type: 'string' } } }
const LATE = { name: 'late', description: 'Once the server is connected.', input_schema }
const adding = (definition: JsonObject): JsonObject => ({
  type: 'tool_addition',
  tool: { type: 'tool_definition', definition },
})
const turn = (...content: JsonObject[]): JsonObject => ({ role: 'system', content })
const asked = (...turns: JsonObject[]): JsonObject => ({
  ...{ model: 'm', max_tokens: 9, tools: [{ name: 'first', input_schema }] },
  messages: [{ role: 'user', content: 'Hi.' }, ...turns, { role: 'user', content: 'Go on.' }],
})
const read = (body: JsonObject) => reader.request!({ path: '/v1/messages', query: {}, headers: {}, body })
const namesIn = (wire: unknown): string[] => JSON.stringify(wire).match(/(?<="name":")[^"]+/g) ?? []

const OTHERS = ['chat', 'responses', 'contents', 'converse', 'interactions', 'cohere-chat'] as const

describe('a tool that a turn defines', () => {
  it.each(OTHERS)('is offered by an upstream of %s', to => {
    const text = JSON.stringify(asked(turn({ type: 'text', text: 'Connected.' }, adding(LATE))))
    const { wire, losses } = translate(text, { from: 'messages', to, kind: 'request' })
    expect(namesIn(wire)).toEqual(['first', 'late'])
    expect(JSON.stringify(wire)).toContain('Connected.')
    expect(losses.filter(({ kind, restored }) => kind === 'dropped' && restored !== true)).toEqual([])
  })

  it('is the last of its name, and none of a name in `tools`', () => {
    const { tools } = read(
      asked(turn(adding({ ...LATE, description: 'Old.' })), turn(adding(LATE), adding({ name: 'first' }))),
    )
    expect(tools).toMatchObject([
      { name: 'first', parameters: input_schema },
      { name: 'late', description: LATE.description },
    ])
    expect(tools).toHaveLength(2)
  })

  it('is found where it was defined if it is lost', () => {
    const request = read(asked(turn({ type: 'text', text: 'x' }, adding({ type: 'memory_20250818', name: 'memory' }))))
    const path = bodyPaths(reader, 'messages', request)(['tools', 1])
    expect(path).toEqual(['messages', 1, 'content', 1, 'tool', 'definition'])
  })

  it('stays in its turn at Claude', () => {
    const body = asked(turn(adding(LATE)))
    const { wire, losses } = writer.request!(read(body), { dialect: { system_turns: true }, native: true })
    expect(wire.body).toEqual(body)
    expect(losses).toEqual([])
  })

  it('is one of `tools` at a server of the format without system turns', () => {
    const removal = { type: 'tool_removal', tool: { type: 'tool_reference', name: 'first' } }
    const body = asked(turn({ type: 'text', text: 'Connected.' }, adding(LATE), removal))
    const { wire } = writer.request!(read(body), { dialect: { system_turns: false }, native: true })
    expect(wire.body).toEqual({
      ...body,
      tools: [...(body['tools'] as readonly Json[]), LATE],
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'user', content: [{ type: 'text', text: 'Connected.' }] },
        { role: 'user', content: 'Go on.' },
      ],
    })
  })
})
