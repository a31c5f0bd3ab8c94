import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { Format, JsonObject } from '../../src/canonical/node.ts'
import { repair } from '../../src/canonical/repair.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { request } from './arbitrary.ts'
import { meaning } from './same.ts'
import { MODELS, refusals } from './strict-openai.ts'
import { handedTo, holds, plain, same } from './support.ts'

const FORMATS = ['chat', 'responses'] as const
const NAMES = Object.keys(MODELS)

const dialectOf = (format: Format, model: string): JsonObject => familyDialect(format, model) ?? {}

describe.each(FORMATS)('what a model of OpenAI does not take is never sent to it, in %s', format => {
  it.each(NAMES)('%s', model => {
    holds(request, given => {
      const asked = repair(handedTo(format, { ...given, model })).request
      const { body } = WRITERS[format]!.request!(asked, { ...FOREIGN, dialect: dialectOf(format, model) }).wire
      expect(refusals(model, body)).toEqual([])
    })
  })
})

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const effort = fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
const shared = {
  temperature: optional(fc.constantFrom(0, 1)),
  top_p: optional(fc.constant(0.5)),
  metadata: fc.constant({ a: 'b' }),
}

const ENCRYPTED = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'
const SOURCES = 'web_search_call.action.sources'

/** Bodies as callers of the newest and oldest models write them. Most of them are accepted by some models only. */
const BODIES: { readonly [F in (typeof FORMATS)[number]]: fc.Arbitrary<{ readonly dice: object }> } = {
  chat: fc.record({
    ...shared,
    dice: fc.constantFrom({}, { logprobs: true }, { logprobs: true, top_logprobs: 2 }),
    reasoning_effort: optional(effort),
    max_tokens: optional(fc.constant(100)),
    max_completion_tokens: optional(fc.constant(200)),
    frequency_penalty: optional(fc.constant(0.5)),
    presence_penalty: optional(fc.constant(0.5)),
    logit_bias: optional(fc.constant({ 50256: -100 })),
    stop: optional(fc.constantFrom('END', ['END'])),
    verbosity: optional(fc.constantFrom('low', 'medium')),
    messages: fc.constant([{ role: 'user', content: 'hi' }]),
  }),
  responses: fc.record({
    ...shared,
    dice: fc.constantFrom({}, { include: [LOGPROBS] }, { include: [SOURCES, LOGPROBS], top_logprobs: 2 }),
    reasoning: optional(fc.record({ effort: optional(effort), summary: optional(fc.constant('auto')) })),
    text: optional(fc.record({ verbosity: optional(fc.constantFrom('low', 'medium')) })),
    include: optional(fc.constantFrom([ENCRYPTED], [SOURCES], [ENCRYPTED, SOURCES])),
    max_output_tokens: optional(fc.constant(100)),
    input: fc.constantFrom<unknown>('hi', [
      { role: 'user', content: 'hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'a', annotations: [] }],
      },
      { role: 'user', content: 'hi' },
    ]),
  }),
}
const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses' }

describe.each(FORMATS)('a request in %s that the gateway sends to another model than the caller named', format => {
  const cases = fc
    .record({ from: fc.constantFrom(...NAMES), to: fc.constantFrom(...NAMES), body: BODIES[format] })
    .map(({ from, to, body: { dice, ...body } }) => ({ from, to, body: plain({ ...body, ...dice }) as JsonObject }))
    .filter(({ from, body }) => refusals(from, body).length === 0)
  const readFor = (model: string, body: JsonObject) =>
    READERS[format]!.request!({ path: PATHS[format], query: {}, headers: {}, body: { model, ...body } })
  const sent = (model: string, received: ReturnType<typeof readFor>) =>
    WRITERS[format]!.request!(
      { ...received, model },
      { ...NATIVE, dialect: dialectOf(format, model), otherModel: model !== received.model },
    )

  it('is never refused for its settings, and keeps those that the model takes', () => {
    holds(cases, ({ from, to, body }) => {
      const { wire } = sent(to, readFor(from, body))
      expect(refusals(to, wire.body)).toEqual([])
      if (refusals(to, body).length === 0) expect(wire.body).toEqual({ ...body, model: to })
    })
  })

  it('has each change as a loss', () => {
    holds(cases, ({ from, to, body }) => {
      const received = readFor(from, body)
      const { wire, losses } = sent(to, received)
      same(
        meaning(READERS[format]!.request!({ ...wire, path: PATHS[format] })),
        meaning(lose({ ...received, model: to }, losses)),
      )
    })
  })
})
