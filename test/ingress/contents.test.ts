import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { contents as writer } from '../../src/egress/contents/index.ts'
import { contents as reader } from '../../src/ingress/contents/index.ts'
import * as schemas from '../../src/ingress/contents/wire.ts'
import { NATIVE } from '../builders/write-options.ts'
import { asked } from '../laws/arbitrary-result.ts'
import { holds, same } from '../laws/support.ts'
import { request, result } from '../laws/wire/contents.ts'

describe('a request of this format', () => {
  it('is sent unchanged: path, query and body, with the model in the path encoded as usual (trap 105)', () => {
    holds(request, wire => {
      const { wire: written, losses } = writer.request!(reader.request!(wire), NATIVE)
      same(written, { ...wire, path: wire.path.replace('%70', 'p').replace('%2F', '/') })
      expect(losses).toEqual([])
    })
  })

  const sent = (wire: Partial<WireRequest>, to: { model?: string; dialect?: JsonObject } = {}) => {
    const { model, dialect = {} } = to
    const asked = reader.request!({ path: '/v1/models/m:generateContent', query: {}, headers: {}, body: {}, ...wire })
    return writer.request!(model === undefined ? asked : { ...asked, model }, { native: true, dialect }).wire
  }

  it('is sent with the new model in its path and wherever its body names it', () => {
    const contents = [{ parts: [{ text: 'Hi' }] }]
    const named = (model: string) => ({ model: `models/${model}`, contents })
    expect(sent({ body: named('m') }, { model: 'n' })).toMatchObject({
      ...{ path: '/v1/models/n:generateContent', body: named('n') },
    })
    const counted = (model: string) => ({ generate_content_request: named(model), x: null })
    const count = sent({ path: '/v1beta/models/m:countTokens', body: counted('m') }, { model: 'n' })
    expect(count).toMatchObject({ path: '/v1beta/models/n:countTokens', body: counted('n') })
    const embedded = (model: string) => ({ requests: [{ model, content: { parts: { text: 'Hi' } } }] })
    const embedding = sent({ path: '/v1beta/models/m:batchEmbedContents', body: embedded('m') }, { model: 'n' })
    expect(embedding.body).toEqual(embedded('n'))
  })

  it('is sent to Google’s cloud without call ids, and otherwise unchanged (trap 57)', () => {
    const turns = (id: object) => [
      { role: 'model', parts: [{ text: 'So' }, { function_call: { name: 'f', ...id }, thought_signature: 'c2ln' }] },
      { parts: [{ functionResponse: { name: 'f', ...id, response: { a: 1 } } }, { text: 'Hi', x: null }] },
    ]
    const { body } = sent({ body: { contents: turns({ id: 'a' }) } }, { dialect: { vertex: true } })
    expect(body).toEqual({ contents: turns({}) })
  })

  it('is sent without the separators that streams of earlier versions had (trap 90)', () => {
    const turn = (...parts: JsonObject[]) => ({ role: 'model', parts })
    const contents = [turn({ text: 'a', x: 1 }, { thought: false }), turn({ thought: false }), turn({ text: 'b' })]
    expect(sent({ body: { contents } }).body).toEqual({ contents: [turn({ text: 'a', x: 1 }), turn({ text: 'b' })] })
  })

  it('may have a blank role, which clients of protobuf messages write for none', () => {
    const body = { contents: [{ role: '', parts: [{ text: 'Hi' }] }] }
    const { messages } = reader.request!({ path: '/v1/models/m:generateContent', query: {}, headers: {}, body })
    expect(messages).toMatchObject([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
  })

  it.each([
    ['any', 'required'],
    ['none', 'none'],
    ['Auto', 'auto'],
  ])('may write the mode of its tools in lower case, as Zed does: %s', (mode, meant) => {
    const toolConfig = { functionCallingConfig: { mode } }
    const body = { contents: [{ parts: [{ text: 'Hi' }] }], toolConfig }
    const asked = reader.request!({ path: '/v1/models/m:generateContent', query: {}, headers: {}, body })
    expect(asked.toolChoice).toMatchObject({ mode: meant })
    expect(sent({ body }).body).toEqual(body)
  })

  it('is refused by the reader exactly if the schema finds a fault', () => {
    const steps = fc.array(fc.nat(30), { minLength: 1, maxLength: 5 })
    holds(fc.tuple(request, steps, fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>), ([wire, path, bad]) => {
      const body = spoiled(wire.body, path, bad)
      if (!isObject(body)) return
      const issue = v.safeParse(schemas.requestAt(wire), body).issues?.[0]
      expect(refuses(() => reader.request!({ ...wire, body }))).toBe(issue !== undefined)
    })
  })
})

describe('an answer of this format', () => {
  it('is sent unchanged', () => {
    holds(result, body => {
      const read = reader.result!({ status: 200, headers: {}, body }, asked)
      const { wire, losses } = writer.result!(read, asked)
      same(wire.body, body)
      expect(losses).toEqual([])
    })
  })
})

function spoiled(value: Json, [step, ...rest]: readonly number[], rubbish: Json): Json {
  const keys = isObject(value) || Array.isArray(value) ? Object.keys(value) : []
  if (step === undefined || keys.length === 0) return rubbish
  const key = keys[step % keys.length]!
  const entries = Object.entries(value as JsonObject).map(([name, item]) => [
    name,
    name === key ? spoiled(item, rest, rubbish) : item,
  ])
  const copy = Object.fromEntries(entries) as JsonObject
  return Array.isArray(value) ? Object.values(copy) : copy
}

function refuses(read: () => unknown): boolean {
  try {
    read()
    return false
  } catch (thrown) {
    if (thrown instanceof GatewayError) return true
    throw thrown
  }
}

it('a stream has at most 64 candidates, whatever indexes the upstream leaves out', () => {
  const one = { content: { parts: [{ text: 'a' }] } }
  const data = JSON.stringify({ candidates: Array.from({ length: 70 }, () => one) })
  const events = [...reader.events!(asked).push({ data })]
  const indexes = events.flatMap(event => (event.type === 'part-start' ? [event.at.candidate] : []))
  expect(Math.max(...indexes)).toBe(63)
})

test('the tokens of an event come before its text, so that a writer sends both in one delta', () => {
  const events = reader.events!(asked)
  const token = { token: 'a', logProbability: -1 }
  const chunk = (text: string, finishReason?: string) => ({
    data: JSON.stringify({
      candidates: [
        {
          content: { role: 'model', parts: [{ text }] },
          ...(finishReason === undefined ? {} : { finishReason }),
          logprobsResult: { chosenCandidates: [token] },
        },
      ],
    }),
  })
  const types = [chunk('a'), chunk('b', 'STOP')].flatMap(event => events.push(event)).map(({ type }) => type)
  expect(types.filter(type => type === 'logprobs' || type === 'part-delta')).toEqual([
    ...['logprobs', 'part-delta', 'logprobs', 'part-delta'],
  ])
})
