import { describe, expect, it } from 'vitest'
import type { ReasoningPart } from '../../src/canonical/content.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { NATIVE } from '../builders/write-options.ts'
import { asked } from './arbitrary-result.ts'
import { completed } from './exceptions.ts'
import { formatsWith, holds, same } from './support.ts'
import { ANSWERS, WIRES } from './wires.ts'

describe('same-format identity: a request is sent unchanged, with no losses', () => {
  it.each(formatsWith('request'))('%s', format => {
    holds(WIRES[format]!.request, wire => {
      const { wire: written, losses } = WRITERS[format]!.request!(READERS[format]!.request!(wire), NATIVE)
      same(written.body, wire.body)
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: an answer is sent unchanged, with no losses', () => {
  it.each(ANSWERS)('%s', (_, format, answers, asked) => {
    holds(answers, body => {
      const read = READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
      const { wire, losses } = WRITERS[format]!.result!(read, asked)
      same(wire.body, completed(format, body))
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: an answer that is no JSON is sent unchanged, with no losses', () => {
  it.each(formatsWith('result').filter(format => WIRES[format]!.raw !== undefined))('%s', format => {
    holds(WIRES[format]!.raw!, answer => {
      const { wire, losses } = WRITERS[format]!.result!(READERS[format]!.result!(answer, asked), asked)
      same(wire, answer)
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: beside what was changed of a request, it is sent unchanged', () => {
  /** Form of signed reasoning in each format, and fields of its turns and their parts. */
  const FORMS = {
    messages: { turns: 'messages', parts: 'content', thought: { type: 'thinking', thinking: 'so', signature: 'EqQ=' } },
    contents: { turns: 'contents', parts: 'parts', thought: { text: 'so', thought: true, thoughtSignature: 'EqQ=' } },
  }

  const thoughtOf = (format: string): ReasoningPart => ({
    ...{ type: 'reasoning', text: 'so', signature: { format, value: 'EqQ=' } },
    ...{ spelling: { contents: { proof: 'self' } } },
  })

  /** A counter-example: reasoning whose signature is on the next part and whose own signature field is empty. */
  const EMPTY_SLOT = {
    ...{ path: '/v1beta/models/m:generateContent', query: {}, headers: {} },
    body: {
      contents: [
        {
          role: 'model',
          parts: [
            { text: 'a', thought: true, thought_signature: null },
            { text: 'b', thoughtSignature: 'a' },
          ],
        },
      ],
    },
  }

  it.each(Object.entries(FORMS))('%s: a thought that is put back, and another model', (format, form) => {
    const thought = thoughtOf(format)
    const check = (wire: WireRequest): void => {
      const asked = READERS[format]!.request!(wire)
      const turns = wire.body[form.turns]
      if (!Array.isArray(turns) || (wire.body['model'] !== undefined) !== (format === 'messages')) return
      const locate = READERS[format]!.locate!(asked)
      const turnOf = (index: number) => locate(['messages', index])[1] as number
      for (const [index, message] of asked.messages.entries()) {
        const turn = turnOf(index)
        const before = turns[turn]?.[form.parts]
        if (message.role !== 'assistant' || !Array.isArray(before) || turnOf(index - 1) === turn) continue
        const changed = { ...message, content: [thought, ...message.content] }
        const request = { ...asked, model: 'another', messages: asked.messages.with(index, changed) }
        const parts = [form.thought, ...before]
        const expected = {
          ...wire.body,
          ...(format === 'messages' ? { model: 'another' } : {}),
          [form.turns]: turns.with(turn, { ...turns[turn], [form.parts]: parts }),
        }
        const written = WRITERS[format]!.request!(request, NATIVE)
        expect(JSON.stringify(written.wire.body)).toBe(JSON.stringify(expected))
        expect(written.losses).toEqual([])
      }
    }
    holds(WIRES[format]!.request, check, format === 'contents' ? [EMPTY_SLOT] : [])
  })

  /** A counter-example: the mask of the tool is a part of the last turn, whose item has no type. */
  const MASKED = {
    ...{ path: '/v1/responses', query: {}, headers: {} },
    body: {
      model: 'm',
      input: [{ role: 'assistant' }, { role: 'user', content: 'a boat' }],
      tools: [{ type: 'image_generation', input_image_mask: { image_url: 'http://a.example' } }],
      tool_choice: { type: 'image_generation' },
    },
  }

  it('responses: a thought that is put back before an item, and another model', () => {
    const { request: write } = WRITERS['responses']!
    const { request: read, locate } = READERS['responses']!
    const summary = [{ type: 'summary_text', text: 'so' }]
    const ITEM = { type: 'reasoning', summary, encrypted_content: 'EqQ=' }
    const thought: ReasoningPart = { type: 'reasoning', text: 'so', signature: { format: 'responses', value: 'EqQ=' } }
    const check = (wire: WireRequest): void => {
      const asked = read!(wire)
      const { input } = wire.body
      if (!Array.isArray(input)) return
      for (const [index, message] of asked.messages.entries()) {
        if (message.role !== 'assistant') continue
        for (const [place, part] of message.content.entries()) {
          if (part.type !== 'tool-call' && place > 0) continue
          const at = locate!(asked)(['messages', index, 'content', place])[1] as number
          const changed = { ...message, content: message.content.toSpliced(place, 0, thought) }
          const request = { ...asked, model: 'another', messages: asked.messages.with(index, changed) }
          const expected = { ...wire.body, model: 'another', input: input.toSpliced(at, 0, ITEM) }
          const written = write!(request, NATIVE)
          expect(JSON.stringify(written.wire.body)).toBe(JSON.stringify(expected))
          expect(written.losses).toEqual([])
        }
      }
    }
    holds(WIRES['responses']!.request, check, [MASKED])
  })
})
