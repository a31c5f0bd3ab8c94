import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { messages as writer } from '../../src/egress/messages/index.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { messages as reader } from '../../src/ingress/messages/index.ts'
import { NATIVE } from '../builders/write-options.ts'
import { meaning } from './same.ts'
import { MODELS, refusals } from './strict-claude.ts'
import { holds, same } from './support.ts'

/* A caller chooses its settings for one Claude, and an alias or a fallback sends its request to another one. */

const NAMES = Object.keys(MODELS)
const TOOL = { name: 'f', input_schema: { type: 'object' } }
const USER = { role: 'user', content: 'hi' }
const CALL = { type: 'tool_use', id: 'a', name: 'f', input: {} }
const RESULT = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '1' }] }
const THOUGHT = { type: 'thinking', thinking: 'so', signature: 'sig' }
const TURNS: readonly (readonly JsonObject[])[] = [
  [USER],
  [USER, { role: 'assistant', content: 'Once' }],
  [USER, { role: 'assistant', content: [{ type: 'text', text: 'Once' }] }],
  [USER, { role: 'assistant', content: [CALL] }, RESULT],
  [USER, { role: 'assistant', content: [THOUGHT, CALL] }, RESULT],
  [USER, { role: 'system', content: 'Be short.' }],
]

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const thinking = fc.oneof(
  fc.record({ type: fc.constant('enabled'), budget_tokens: fc.constantFrom(1024, 2000, 40_000, 100_000) }),
  fc.record(
    {
      ...{ type: fc.constant('adaptive'), display: fc.constantFrom('summarized', 'omitted') },
      block_binding: fc.constant({ prefix_mismatch_behavior: 'drop_block' }),
    },
    { requiredKeys: ['type'] },
  ),
  fc.constant({ type: 'disabled' }),
  fc.constant({ type: 'between_tools' }),
)

const choice = fc.constantFrom(...[{ type: 'auto' }, { type: 'any' }, { type: 'tool', name: 'f' }, { type: 'none' }], {
  type: 'any',
  disable_parallel_tool_use: true,
})

/** Bodies as callers of the newest and oldest models write them. Most of them are accepted by some models only. */
const bodies = fc
  .record({
    thinking: optional(thinking),
    output_config: optional(
      fc.record(
        {
          effort: fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max'),
          format: fc.constant({ type: 'json_schema', schema: { type: 'object', additionalProperties: false } }),
        },
        { requiredKeys: [] },
      ),
    ),
    max_tokens: fc.constantFrom(500, 3000, 8192, 32_000, 64_000, 128_000),
    temperature: optional(fc.constantFrom(0, 0.5, 1)),
    top_p: optional(fc.constantFrom(0.5, 0.99)),
    top_k: optional(fc.constant(5)),
    tools: fc.constant([TOOL]),
    tool_choice: optional(choice),
    messages: fc.constantFrom(...TURNS),
    context_management: optional(
      fc.constantFrom(
        { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
        { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }] },
      ),
    ),
    metadata: fc.constant({ user_id: 'u' }),
  })
  .map(body => JSON.parse(JSON.stringify(body)) as JsonObject)

const cases = fc
  .record({ from: fc.constantFrom(...NAMES), to: fc.constantFrom(...NAMES), body: bodies })
  .filter(({ from, body }) => refusals(from, body).length === 0)

const readFor = (model: string, body: JsonObject) =>
  reader.request!({ path: '/v1/messages', query: {}, headers: {}, body: { model, ...body } })

describe('a request for one Claude that the gateway sends to another one', () => {
  const sent = (model: string, received: ReturnType<typeof readFor>) =>
    writer.request!(
      { ...received, model },
      { ...NATIVE, dialect: familyDialect('messages', model)!, otherModel: model !== received.model },
    )

  it('is never refused for its settings, and keeps those that the model takes', () => {
    holds(cases, ({ from, to, body }) => {
      const { wire } = sent(to, readFor(from, body))
      expect(refusals(to, wire.body)).toEqual([])
      if (refusals(to, body).length === 0) expect(wire.body).toEqual({ ...body, model: to })
    })
  })

  it('has no thinking at a model that never thinks', () => {
    const body = { thinking: { type: 'between_tools' }, max_tokens: 500, tools: [TOOL], messages: [USER] } as JsonObject
    const { wire, losses } = sent('claude-2.1', readFor('claude-sonnet-5-5', body))
    expect(wire.body).not.toHaveProperty('thinking')
    expect(losses.map(({ path }) => path.join('.'))).toContain('reasoning')
  })

  it('has each change as a loss', () => {
    holds(cases, ({ from, to, body }) => {
      const received = readFor(from, body)
      const { wire, losses } = sent(to, received)
      same(meaning(reader.request!(wire)), meaning(lose({ ...received, model: to }, losses)))
    })
  })

  it('is sent as it came to a model of another vendor, which takes more than it documents', () => {
    holds(bodies, body => {
      const received = { ...readFor('claude-opus-5', body), model: 'glm-5' }
      const { wire } = writer.request!(received, { ...NATIVE, dialect: { thinking: 'budget' } })
      const { messages: _, ...settings } = body
      expect(wire.body).toMatchObject({ ...settings, model: 'glm-5' })
    })
  })

  it('is sent as it came if the model is the one of the caller', () => {
    holds(fc.tuple(fc.constantFrom(...NAMES), thinking), ([model, settings]) => {
      const body = { max_tokens: 200_000, thinking: settings, messages: [USER] } as JsonObject
      expect(sent(model, readFor(model, body)).wire.body).toEqual({ ...body, model })
    })
  })
})
