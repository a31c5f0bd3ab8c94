import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { numbersOf, vectorFacts } from '../../../src/kit/conformance/formats/embeddings/facts.ts'
import { embeddings } from '../../../src/kit/conformance/formats/embeddings/openai.ts'
import { objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'

/* Vectors are compared as numbers, whatever their encoding. */

const BASE64 = readScenario('embeddings-base64').wires['embeddings']!.whole!

test('base64 is read as the official SDK reads it', async () => {
  const server = createServer((_, reply) => reply.writeHead(200, { 'content-type': 'application/json' }).end(BASE64))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const client = new OpenAI({ apiKey: 'k', baseURL })
  const { data } = await client.embeddings.create({ model: 'm', input: ['a', 'b'] })
  server.close()
  const body = parseJson(BASE64.toString()) as { data: { embedding: string }[] }
  expect(data.map(({ embedding }) => embedding)).toEqual(body.data.map(({ embedding }) => numbersOf(embedding)))
})

test('a list and base64 of the same numbers are the same vector', () => {
  const list = [-0.018445116, 0.5, 0, 3.4e38]
  const base64 = Buffer.from(Float32Array.from(list).buffer).toString('base64')
  expect(vectorFacts(base64)).toEqual(vectorFacts(list))
  expect(vectorFacts([-0.0184451161, 0.5, -0, 3.4e38])).toEqual(vectorFacts(list))
  expect(vectorFacts([-0.01844512, 0.5, 0, 3.4e38])).not.toEqual(vectorFacts(list))
})

test.each([['no base64!'], ['AAAA'], [''], [[]], [[null]], [['1']], [{}], [undefined]])('%j is no vector', value => {
  expect(numbersOf(value as never)).toBeUndefined()
})

test('vectors in base64 are legal, and what is no vector breaks a rule', () => {
  const body = objectOf(parseJson(BASE64.toString()))
  const faults = (value: object) =>
    schemaFaults('embeddings', 'CreateEmbeddingResponse', { ...body, ...value }, embeddings.exceptions)
  expect(faults({})).toEqual([])
  expect(faults({ data: [{ object: 'embedding', index: 0, embedding: 1 }] })).toEqual([])
  const asked = { method: 'POST', path: '/embeddings', body: { input: 'a' } }
  const data = [{ object: 'embedding', index: 0, embedding: 1 }]
  expect(embeddings.lint.answer({ ...body, data }, {}, asked).map(({ rule }) => rule)).toEqual(['numbers'])
  expect(faults({ usage: { prompt_tokens: '1', total_tokens: 1 } })).not.toEqual([])
})
