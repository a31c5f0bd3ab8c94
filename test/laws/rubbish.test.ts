import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { fold } from '../../src/canonical/fold.ts'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { READERS } from '../../src/ingress/index.ts'
import { asked } from './arbitrary-result.ts'
import { grammarFault } from './grammar.ts'
import { holds } from './support.ts'
import { ANSWERS, WIRES } from './wires.ts'

const FORMATS = Object.keys(READERS)

/** Returns the value with a different value at one position. */
function spoiled(value: Json, steps: readonly number[], rubbish: Json): Json {
  const [step, ...rest] = steps
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  if (step === undefined || keys.length === 0) return rubbish
  const key = keys[step % keys.length]!
  const entries = Object.entries(value as JsonObject).map(([name, item]) => [
    name,
    name === key ? spoiled(item, rest, rubbish) : item,
  ])
  const copy = Object.fromEntries(entries) as JsonObject
  return Array.isArray(value) ? Object.values(copy) : copy
}

const steps = fc.array(fc.nat(30), { minLength: 1, maxLength: 4 })
/** Values of JSON, among them objects that cannot be converted to text. */
const rubbish = fc.oneof(
  { weight: 9, arbitrary: fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json> },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>({ toString: null }, { toString: 0, valueOf: '' }, [{ toString: null }]),
  },
)

function verdict(read: () => unknown): 'taken' | 'refused' {
  try {
    read()
    return 'taken'
  } catch (thrown) {
    if (thrown instanceof GatewayError) return 'refused'
    throw thrown
  }
}

/** A format with several kinds of endpoints has a schema for each. */
interface Schemas {
  readonly request: v.GenericSchema
  requestAt?(wire: WireRequest): v.GenericSchema
}

describe('total on rubbish: a caller’s body is read or refused, and the schema says the same', () => {
  it.each(FORMATS.filter(format => READERS[format]!.request))('%s', async format => {
    const schemas = (await import(`../../src/ingress/${format}/wire.ts`)) as Schemas
    holds(fc.tuple(WIRES[format]!.request, steps, rubbish), ([wire, path, bad]) => {
      const body = spoiled(wire.body, path, bad)
      if (!isObject(body)) return
      const read = verdict(() => READERS[format]!.request!({ ...wire, body }))
      const schema = schemas.requestAt?.(wire) ?? schemas.request
      const issue = v.safeParse(schema, body).issues?.[0]
      const why = issue === undefined ? 'the schema sees nothing wrong' : `${v.getDotPath(issue)}: ${issue.message}`
      expect({ verdict: read, why }).toEqual({ verdict: issue === undefined ? 'taken' : 'refused', why })
    })
  })
})

test('a width that has no text is kept as it came', () => {
  const body = { model: 'm', prompt: 'a', width: { toString: null }, height: 1280 }
  const wire = { path: '/video/generations', query: {}, headers: {}, body }
  expect(READERS['generations']!.request!(wire).extras?.['generations']).toEqual({ width: body.width, height: 1280 })
})

describe('total on rubbish: an upstream’s answer is read or refused', () => {
  it.each(ANSWERS)('%s', (_, format, answers, asked) => {
    holds(fc.tuple(answers, steps, rubbish), ([result, path, bad]) => {
      const body = spoiled(result, path, bad)
      if (isObject(body)) verdict(() => READERS[format]!.result!({ status: 200, headers: {}, body }, asked))
    })
  })
})

describe('total on rubbish: any error body is an error', () => {
  it.each(FORMATS.filter(format => READERS[format]!.error))('%s', format => {
    holds(
      fc.tuple(
        fc.dictionary(fc.constantFrom('error', 'message', 'type', 'status', 'detail'), fc.jsonValue()),
        fc.integer({ min: 400, max: 599 }),
      ),
      ([body, status]) => {
        const error = READERS[format]!.error!({ status, headers: {}, body: body as JsonObject })
        expect(typeof error.message).toBe('string')
      },
    )
  })
})

describe('total on rubbish: a stream of anything is a well-formed stream', () => {
  const data = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom('[DONE]', '{}', '{"choices":[{}]}', '{"choices":[{"index":0,"delta":{"content":"a"}}]}'),
  )
  const event = fc.record(
    { event: fc.constantFrom('message_start', 'content_block_delta', 'response.created', 'x'), data },
    { requiredKeys: ['data'] },
  )
  it.each(FORMATS.filter(format => READERS[format]!.events))('%s', format => {
    holds(fc.array(event, { maxLength: 6 }), events => {
      const read = drain(READERS[format]!.events!(asked), events)
      expect(grammarFault(read)).toBeUndefined()
      fold(read)
    })
  })
})
