import { expect, it } from 'vitest'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { asked } from '../../laws/arbitrary-result.ts'

/** An answer of Nova with a page that `nova_grounding` found. */
const body = {
  output: {
    message: {
      role: 'assistant',
      content: [
        {
          citationsContent: {
            content: [{ text: 'High water is at noon.' }],
            citations: [{ location: { web: { url: 'https://tides.example/today', domain: 'tides.example' } } }],
          },
        },
      ],
    },
  },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  metrics: { latencyMs: 1 },
}
const answer = READERS['converse']!.result!({ status: 200, headers: {}, body }, asked)

it.each(['chat', 'responses', 'messages', 'cohere-chat'])('a page with a domain is cited for callers of %s', format => {
  expect(JSON.stringify(WRITERS[format]!.result!(answer, asked).wire.body)).toContain('https://tides.example/today')
})

it('a page keeps its domain for upstreams of its own format', () => {
  const { content } = answer.candidates[0]!
  const request = {
    ...asked,
    messages: [
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'Tides?' }] },
      { role: 'assistant' as const, content },
    ],
  }
  const { wire } = WRITERS['converse']!.request!(request, { dialect: {}, native: false })
  expect((wire.body['messages'] as readonly unknown[])[1]).toEqual(body.output.message)
})
