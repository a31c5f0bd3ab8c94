import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { NATIVE } from '../../src/egress/writer.ts'
import { READERS } from '../../src/ingress/index.ts'
import { asked } from './arbitrary-result.ts'
import { completed } from './exceptions.ts'
import { formatsWith, holds, same } from './support.ts'
import { ANSWERS, WIRES } from './wires.ts'

describe('same-format identity: a request goes out as it came in, with no losses', () => {
  it.each(formatsWith('request'))('%s', format => {
    holds(WIRES[format]!.request, wire => {
      const { wire: written, losses } = WRITERS[format]!.request!(READERS[format]!.request!(wire), NATIVE)
      same(written.body, wire.body)
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: an answer goes out as it came in, with no losses', () => {
  it.each(ANSWERS)('%s', (_, format, answers, asked) => {
    holds(answers, body => {
      const read = READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
      const { wire, losses } = WRITERS[format]!.result!(read, asked)
      same(wire.body, completed(format, body))
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: an answer that is no JSON goes out as it came in, with no losses', () => {
  it.each(formatsWith('result').filter(format => WIRES[format]!.raw !== undefined))('%s', format => {
    holds(WIRES[format]!.raw!, answer => {
      const { wire, losses } = WRITERS[format]!.result!(READERS[format]!.result!(answer, asked), asked)
      same(wire, answer)
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: beside what was changed of a request, it goes out as it came', () => {
  const { request: write } = WRITERS['messages']!
  const { request: read, locate } = READERS['messages']!
  const THOUGHT = { type: 'reasoning', text: 'so', signature: { format: 'messages', value: 'EqQ=' } } as const
  const BLOCK = { type: 'thinking', thinking: 'so', signature: 'EqQ=' }

  it('messages: a thought that is put back, and another model', () => {
    holds(WIRES['messages']!.request, wire => {
      const asked = read!(wire)
      const turns = wire.body['messages'] as readonly JsonObject[]
      for (const [index, message] of asked.messages.entries()) {
        const turn = locate!(asked)(['messages', index])[1] as number
        if (message.role !== 'assistant' || !Array.isArray(turns[turn]!['content'])) continue
        const changed = { ...message, content: [THOUGHT, ...message.content] }
        const request = { ...asked, model: 'another', messages: asked.messages.with(index, changed) }
        const content = [BLOCK, ...(turns[turn]!['content'] as readonly JsonObject[])]
        const expected = { ...wire.body, model: 'another', messages: turns.with(turn, { ...turns[turn], content }) }
        const written = write!(request, NATIVE)
        expect(JSON.stringify(written.wire.body)).toBe(JSON.stringify(expected))
        expect(written.losses).toEqual([])
      }
    })
  })
})
