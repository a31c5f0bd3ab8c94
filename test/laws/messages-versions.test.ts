import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { objectsIn } from '../builders/streams.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { DIALECTS } from './dialects.ts'
import { handedTo, holds, same } from './support.ts'
import { request as wires } from './wire/messages.ts'
import { jobsWith, WORKS } from './works.ts'

const writer = WRITERS['messages']!
const reader = READERS['messages']!

/* What version 2026-10-21 refuses, by hand: no code of the gateway has a part in it. */

const SAMPLING = ['temperature', 'top_p', 'top_k']
const isCited = (block: JsonObject): boolean => objectsIn(block['citations']).length > 0

/** A body without what the version refuses, and how many values had to go. */
function stripped(body: JsonObject): { readonly body: JsonObject; readonly gone: number } {
  let gone = 0
  const uncited = (block: JsonObject): JsonObject => {
    const { citations, ...rest } = block
    if (block['type'] === 'text' && isCited(block)) {
      gone++
      return rest
    }
    if (block['type'] !== 'tool_result' || !Array.isArray(block['content'])) return block
    return { ...block, content: objectsIn(block['content']).map(uncited) }
  }
  const messages = objectsIn(body['messages']).flatMap(turn => {
    const { role, content } = turn
    if (!Array.isArray(content) || role === 'system') return [turn]
    if (role === 'user') return [{ ...turn, content: objectsIn(content).map(uncited) }]
    const rest = objectsIn(content).filter(({ type }) => type !== 'document')
    gone += content.length - rest.length
    return rest.length === 0 && content.length > 0 ? [] : [{ ...turn, content: rest }]
  })
  const fields = Object.entries({ ...body, messages }).filter(([name]) => !SAMPLING.includes(name))
  gone += SAMPLING.filter(name => body[name] != null).length
  return { body: Object.fromEntries(fields) as JsonObject, gone }
}

/** Requests as callers send them, in which some turns change sides: documents of the assistant, too. */
const anyTurns = fc.tuple(wires, fc.infiniteStream(fc.boolean())).map(([wire, sides]): WireRequest => {
  const messages = objectsIn(wire.body['messages']).map(turn => {
    const [swapped] = [...sides.take(1)]
    const isPlain = !objectsIn(turn['content']).some(({ type }) => type === 'tool_result' || type === 'thinking')
    return swapped && turn['role'] === 'user' && isPlain ? { ...turn, role: 'assistant' } : turn
  })
  return { ...wire, body: { ...wire.body, messages } }
})

const REASONS = new Set(['no-sampling', 'not-in-this-turn', 'no-citations-here'])

/** A turn of the assistant with a document, and a cited text of the user beside and inside a result. */
const REFUSED: WireRequest = {
  ...{ path: '/v1/messages', query: {}, headers: { 'anthropic-version': '2026-10-21' } },
  body: {
    ...{ model: 'm', max_tokens: 9, temperature: 1, top_p: null, top_k: 0 },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a', citations: [{ type: 'char_location', cited_text: 'b' }] }] },
      {
        role: 'assistant',
        content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'c' } }],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'd', name: 'e', input: {} }] },
      {
        role: 'user',
        content: [
          {
            ...{ type: 'tool_result', tool_use_id: 'd' },
            content: [{ type: 'text', text: '', citations: [{ type: 'page_location' }], x: 1 }],
          },
        ],
      },
    ],
  },
}

describe('versions of messages: what 2026-10-21 refuses is never sent, and each removal is a loss (trap 121)', () => {
  it.each(jobsWith('request').filter(([format]) => format === 'messages'))('foreign %s: %s', (_, work) => {
    holds(fc.tuple(WORKS[work]!.request, DIALECTS['messages']!), ([given, dialect]) => {
      const asked = handedTo('messages', given)
      const { body } = writer.request!(asked, { ...FOREIGN, dialect: { ...dialect, version: '2026-10-21' } }).wire
      expect(stripped(body).gone).toBe(0)
      for (const name of SAMPLING) expect(body).not.toHaveProperty(name)
    })
  })

  it.each(['2026-10-21', '2027-02-01', 'caller'])('native, to a channel of version %s', version => {
    const stricter = { 'anthropic-version': '2026-10-21' }
    holds(
      anyTurns,
      wire => {
        const asked = version === 'caller' ? { ...wire, headers: { ...wire.headers, ...stricter } } : wire
        const { wire: written, losses } = writer.request!(reader.request!(asked), { ...NATIVE, dialect: { version } })
        const want = stripped(wire.body)
        same(written.body, want.body)
        expect(losses.filter(({ reason }) => REASONS.has(reason)).length).toBe(want.gone)
        expect(losses.length).toBe(want.gone)
        expect(written.headers['anthropic-version']).toBe(version === 'caller' ? '2026-10-21' : version)
      },
      [REFUSED],
    )
  })

  it.each([{}, { version: '2023-06-01' }])(
    'native, to a channel that stays at 2023-06-01: all of it is sent (%j)',
    dialect => {
      holds(
        anyTurns,
        wire => {
          const { wire: written, losses } = writer.request!(reader.request!(wire), { ...NATIVE, dialect })
          same(written.body, wire.body)
          expect(losses).toEqual([])
          expect(written.headers['anthropic-version']).toBe('2023-06-01')
        },
        [REFUSED],
      )
    },
  )

  it('a caller of another format is served in the older version where the upstream takes any', () => {
    const { wire } = writer.request!({ ...reader.request!(REFUSED) }, { ...FOREIGN, dialect: { version: 'caller' } })
    expect(wire.headers['anthropic-version']).toBe('2023-06-01')
    expect(wire.body['temperature']).toBe(1)
  })
})
