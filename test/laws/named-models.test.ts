import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { MODEL_FIELDS } from '../../src/formats/model-fields.ts'
import { ROUTES } from '../../src/formats/routes.ts'
import { checkModelFields, withUpstreamModels } from '../../src/gateway/named-models.ts'
import { channelAt } from '../builders/config.ts'
import { permitting } from '../builders/permissions.ts'
import { CONTENT, othersOf, planted } from '../builders/planted-models.ts'

const FORMATS = [...MODEL_FIELDS.keys()]

/** A format, and a path at which it names a model besides the requested one. */
const path = fc
  .constantFrom(...FORMATS.filter(format => format !== 'realtime'))
  .chain(format => fc.constantFrom(...othersOf(format)).map(steps => ({ format, steps })))

/** Objects that replace fields of a body, around another such object. */
const WRAPS: readonly ((fields: JsonObject) => JsonObject)[] = [
  fields => ({ extra_body: fields }),
  fields => ({ extra_body: [fields] }),
  fields => ({ extra_body: JSON.stringify(fields) }),
  fields => ({ extra_body: ` ${JSON.stringify([fields], undefined, 1)}\n` }),
  fields => ({ fallbacks: [{ model: 'pro', ...fields }] }),
  fields => ({ fallbacks: { ...fields, model: 'pro' } }),
  fields => ({ content_policy_fallbacks: [{ pro: ['pro', { model: 'pro', ...fields }] }] }),
]
/** Returns a body that some program merges into another object. */
const INHERITED = (fields: JsonObject): JsonObject => JSON.parse(`{"__proto__":${JSON.stringify(fields)}}`)
const wraps = fc.array(fc.constantFrom(...WRAPS), { maxLength: 4 })

const bodyOf = (steps: readonly string[], around: readonly ((fields: JsonObject) => JsonObject)[]): JsonObject => ({
  model: 'pro',
  ...around.reduce<JsonObject>((fields, wrap) => wrap(fields), planted(steps, 'dear') as JsonObject),
})

const check = (format: string, body: JsonObject, ...models: string[]): (() => void) => {
  const permissions = permitting(...models)
  return () => checkModelFields(format, { body }, 'pro', permissions)
}

const kindOf = (run: () => void): string | undefined => {
  try {
    run()
    return undefined
  } catch (thrown) {
    return thrown instanceof GatewayError ? thrown.error.kind : 'crash'
  }
}

describe('models that a request names', () => {
  test('have a row for every endpoint', () => {
    for (const { format } of ROUTES) expect(FORMATS).toContain(format)
  })

  test('are checked against the key at every path and depth', () => {
    fc.assert(
      fc.property(path, wraps, ({ format, steps }, around) => {
        const body = bodyOf(steps, around)
        expect(kindOf(check(format, body, 'pro'))).toBe('forbidden')
        for (const hidden of [bodyOf(steps, [...around, INHERITED]), bodyOf(steps, [INHERITED, ...around])])
          expect(['forbidden', 'invalid-request']).toContain(kindOf(check(format, hidden, 'pro')))
        expect(kindOf(check(format, body, 'pro', 'dear'))).toBe(undefined)
      }),
    )
  })

  test('are refused in any other spelling of the field', () => {
    fc.assert(
      fc.property(path, wraps, fc.nat(), ({ format, steps }, around, at) => {
        const named = steps.flatMap((step, index) => (step === '*' ? [] : [index]))
        const index = named[at % named.length]!
        const cased = steps.with(index, steps[index]!.toUpperCase())
        expect(['forbidden', 'invalid-request']).toContain(kindOf(check(format, bodyOf(cased, around), 'pro')))
      }),
    )
  })

  test('are sent under the channel’s names, and nothing else in the body changes', () => {
    const named = new Map([
      ['pro', 'pro'],
      ['dear', 'cheap'],
    ])
    const channel = { ...channelAt('http://127.0.0.1:1'), models: { named, patterns: [] } }
    fc.assert(
      fc.property(path, wraps, ({ format, steps }, around) => {
        const body = bodyOf(steps, around)
        const before = JSON.stringify(body)
        const written = JSON.stringify(withUpstreamModels(body, format, channel))
        expect(written).not.toContain('dear')
        expect(written).toContain('cheap')
        expect(JSON.stringify(body)).toBe(before)
        const without: JsonObject = { model: 'pro', metadata: CONTENT }
        expect(withUpstreamModels(without, format, channel)).toBe(without)
      }),
    )
  })

  test('are not found in content', () => {
    const key = fc.constantFrom(...Object.keys(CONTENT), 'tools', 'plugins', 'prompt', 'container', 'type')
    const { content } = fc.letrec<{ content: Json }>(tie => ({
      content: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>('dear', '{"model":"dear"}', 7, null),
        fc.dictionary(key, tie('content')) as fc.Arbitrary<Json>,
        fc.array(tie('content'), { maxLength: 3 }) as fc.Arbitrary<Json>,
      ),
    }))
    fc.assert(
      fc.property(content, value => {
        for (const [format, body] of Object.entries(around(value)))
          expect(kindOf(check(format, { model: 'pro', ...body }, 'pro')), format).toBe(undefined)
      }),
    )
  })

  test('are found in linear time', () => {
    for (const many of [repeated, nested]) {
      const [few, twice] = [100, 200].map(count => readsOf(many(count)))
      expect(few).toBeGreaterThan(100)
      expect(twice! / few!).toBeLessThan(2.2)
    }
  })
})

/** Returns bodies of formats in which the value is content. */
const around = (value: Json): { readonly [format: string]: JsonObject } => ({
  chat: {
    messages: [
      { role: 'user', content: value },
      { role: 'assistant', tool_calls: [{ function: { arguments: JSON.stringify(value) } }] },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: value } }],
    metadata: value,
    response_format: { json_schema: { schema: value } },
  },
  messages: {
    messages: [{ role: 'assistant', content: [{ type: 'tool_use', input: value }] }],
    tools: [{ name: 'f', input_schema: value }],
  },
  responses: {
    input: [
      { type: 'message', content: value },
      { type: 'function_call_output', output: value },
    ],
    tools: [{ type: 'function', name: 'f', parameters: value }],
    prompt: { id: 'p', variables: value },
    text: { format: { schema: value } },
  },
  contents: {
    contents: [{ parts: [{ functionCall: { args: value } }, { functionResponse: { response: value } }] }],
    tools: [{ functionDeclarations: [{ name: 'f', parameters: value, parametersJsonSchema: value }] }],
    generationConfig: { responseSchema: value },
    labels: value,
  },
  completions: { prompt: typeof value === 'string' ? value : JSON.stringify(value) },
  images: { prompt: JSON.stringify(value) },
})

const repeated = (count: number): JsonObject => ({
  tools: Array.from({ length: count }, () => ({ type: 'image_generation', model: 'pro' })),
})

const nested = (count: number): JsonObject =>
  Array.from({ length: count }).reduce<JsonObject>(inner => ({ extra_body: inner }), { model: 'pro' })

/** Returns how often the check reads a value of the body. */
function readsOf(body: JsonObject): number {
  let reads = 0
  const watched = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, field, receiver) {
        reads++
        const inner: unknown = Reflect.get(target, field, receiver)
        return typeof inner === 'object' && inner !== null ? watched(inner) : inner
      },
    })
  check('responses', watched(body), 'pro')()
  return reads
}
