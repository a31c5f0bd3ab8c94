import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { repair } from '../../src/canonical/repair.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { request } from './arbitrary.ts'
import { meaning } from './same.ts'
import { MODELS, refusals } from './strict-gemini.ts'
import { handedTo, holds, plain, same } from './support.ts'

const NAMES = Object.keys(MODELS)

const CLOUD = 'vertex/'

/** The dialect of a channel for the model, and the flags of the model's family. */
function dialectOf(model: string): JsonObject {
  const channel = model.startsWith(CLOUD) ? { vertex: true } : {}
  return { ...familyDialect('contents', model.replace(CLOUD, ''), channel), ...channel }
}

describe('what a model of Google does not take is never sent to it', () => {
  it.each(NAMES)('%s', model => {
    holds(request, given => {
      const asked = repair(handedTo('contents', { ...given, model: model.replace(CLOUD, '') })).request
      const { body } = WRITERS['contents']!.request!(asked, { ...FOREIGN, dialect: dialectOf(model) }).wire
      expect(refusals(model, body)).toEqual([])
    })
  })
})

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const config = fc.record({
  thinkingConfig: optional(
    fc.oneof(
      fc.record({
        thinkingBudget: fc.constantFrom(-1, 0, 128, 600, 20_000, 32_000),
        includeThoughts: optional(fc.boolean()),
      }),
      fc.record({ thinkingLevel: fc.constantFrom('MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH') }),
    ),
  ),
  temperature: optional(fc.constant(0)),
  presencePenalty: optional(fc.constant(0.5)),
  candidateCount: optional(fc.constantFrom(1, 2)),
  responseLogprobs: optional(fc.constant(true)),
  responseMimeType: optional(fc.constantFrom('application/json', 'text/plain')),
  maxOutputTokens: optional(fc.constantFrom(100, 100_000)),
})

const FUNCTIONS = [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object', properties: {} } }] }]

/** Bodies as Gemini CLI, google-genai and LangChain write them for some model. */
const body = fc
  .record({
    generationConfig: config,
    systemInstruction: optional(fc.constant({ parts: [{ text: 'Be brief.' }] })),
    tools: optional(fc.constant(FUNCTIONS)),
    contents: fc.constantFrom(
      [{ role: 'user', parts: [{ text: 'hi' }] }],
      [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'The answer' }] },
      ],
    ),
  })
  .map(one => plain(one) as unknown as JsonObject)

describe('a request of generateContent that the gateway sends to another model than the caller named', () => {
  const cases = fc
    .record({ from: fc.constantFrom(...NAMES), to: fc.constantFrom(...NAMES), body })
    .filter(({ from, body }) => refusals(from, body).length === 0)
  const readFor = (model: string, body: JsonObject) =>
    READERS['contents']!.request!({
      path: `/v1beta/models/${model.replace(CLOUD, '')}:generateContent`,
      query: {},
      headers: {},
      body,
    })
  const sent = (model: string, received: ReturnType<typeof readFor>) =>
    WRITERS['contents']!.request!(
      { ...received, model: model.replace(CLOUD, '') },
      { ...NATIVE, dialect: dialectOf(model), otherModel: true },
    )

  it('is never refused for its settings, and is sent as it came if the model takes all of it', () => {
    holds(cases, ({ from, to, body }) => {
      const { wire } = sent(to, readFor(from, body))
      expect(refusals(to, wire.body)).toEqual([])
      if (refusals(to, body).length === 0 && dialectOf(to)['thinking'] !== 'level') expect(wire.body).toEqual(body)
    })
  })

  it('has each change as a loss', () => {
    holds(cases, ({ from, to, body }) => {
      const received = readFor(from, body)
      const { wire, losses } = sent(to, received)
      same(
        meaning(READERS['contents']!.request!({ ...wire, path: `/v1beta/models/${to}:generateContent` })),
        meaning(lose({ ...received, model: to }, losses)),
      )
    })
  })
})
