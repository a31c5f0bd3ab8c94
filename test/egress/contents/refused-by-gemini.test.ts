import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { contents as writer } from '../../../src/egress/contents/index.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN } from '../../builders/write-options.ts'

/* What Gemini refuses with 400 in requests of callers of other formats. */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = any

/** Returns the request of a caller of Chat Completions as it is sent to Gemini, and the reasons of its losses. */
function sent(fields: JsonObject, dialect: JsonObject = {}) {
  const body = { model: 'gemini-3.8-flash', messages: [{ role: 'user', content: 'hi' }], ...fields }
  const request = READERS['chat']!.request!({ path: '/chat/completions', query: {}, headers: {}, body })
  const { wire, losses } = writer.request!(request, { ...FOREIGN, dialect })
  return { body: wire.body as Loose, losses: losses.map(({ path, reason }) => `${path.join('/')} ${reason}`) }
}

test.each([
  ['a schema', '{"schema":{"$ref":"#/$defs/A"}}', { result: '{"schema":{"$ref":"#/$defs/A"}}' }],
  ['a reference within a list', '{"list":[{"$ref":"a.json"}]}', { result: '{"list":[{"$ref":"a.json"}]}' }],
  ['any other object', '{"$defs":{"a":1}}', { $defs: { a: 1 } }],
])('a result with %s', (_, content, response) => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content },
  ]
  const { body, losses } = sent({ messages })
  expect(body.contents.at(-1).parts[0].functionResponse.response).toEqual(response)
  expect(losses).toEqual([])
})

const point = { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } } }
const list = (maxItems: number, items: JsonObject = point): JsonObject => ({
  type: 'array',
  minItems: 1,
  maxItems,
  items,
})
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })
const shape = (schema: JsonObject): JsonObject => ({
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
})
const tool = (parameters: JsonObject, name = 'f'): JsonObject => ({ type: 'function', function: { name, parameters } })
const text = { type: 'string' }
const NODE = { $ref: '#/$defs/node' }
const TREE = object({ root: NODE }, { $defs: { node: object({ children: list(3, NODE) }) } })

describe('bounds of lists', () => {
  test.each([
    ['a few of objects', object({ a: list(10), b: list(10) })],
    ['many of texts', object({ a: list(200, text), b: list(200, text) })],
    ['a schema that refers to itself', TREE],
  ])('stay: %s', (_, schema) => {
    const { body, losses } = sent(shape(schema))
    expect(body.generationConfig.responseJsonSchema).toEqual(schema)
    expect(losses).toEqual(['output/text/name no-name-here'])
  })

  test.each([
    ['objects', object({ a: list(100), b: list(50) })],
    ['lists in lists', object({ a: list(20, object({ b: list(10) })) })],
    ['objects by reference', object({ a: list(200, { $ref: '#/$defs/p' }) }, { $defs: { p: point } })],
    ['texts', object({ a: list(600, text) })],
  ])('go where Google would refuse them: %s', (_, schema) => {
    const { body, losses } = sent(shape(schema))
    const written = body.generationConfig.responseJsonSchema
    expect(JSON.stringify(written)).not.toContain('maxItems')
    expect(JSON.stringify(written)).toContain('"minItems":1')
    expect(losses).toContain('output/text/schema schema-narrowed')
  })

  test('go in Interactions, too', () => {
    const body = { model: 'gemini-3.8-flash', messages: [], ...shape(object({ a: list(200) })) }
    const request = READERS['chat']!.request!({ path: '/chat/completions', query: {}, headers: {}, body })
    const { wire } = WRITERS['interactions']!.request!(request, FOREIGN)
    expect(JSON.stringify(wire.body)).not.toContain('maxItems')
  })

  test('count over all tools', () => {
    const parametersOf = (count: number): Loose[] =>
      sent({
        tools: Array.from({ length: count }, (_, at) => tool(object({ a: list(40) }), `f${at}`)),
      }).body.tools[0].functionDeclarations.map((one: Loose) => one.parametersJsonSchema.properties.a.maxItems)
    expect(parametersOf(2)).toEqual([40, 40])
    expect(parametersOf(5)).toEqual(Array(5).fill(undefined))
  })
})

describe('a file', () => {
  const file = (type: string): JsonObject => ({
    messages: [
      { role: 'user', content: [{ type: 'file', file: { filename: 'f', file_data: `data:${type};base64,YQ==` } }] },
    ],
  })
  const typeOf = ({ body }: ReturnType<typeof sent>): string => body.contents[0].parts[0].inlineData.mimeType
  const NO_NAME = 'messages/0/content/0/name no-name-here'
  const PLAIN = 'messages/0/content/0/source/mediaType plain-text-only'

  test.each([
    ['application/pdf', 'application/pdf', 'application/pdf'],
    ['text/csv', 'text/csv', 'text/plain'],
    ['text/plain', 'text/plain', 'text/plain'],
    ['application/json', 'text/plain', 'text/plain'],
    ['text/x-typescript', 'text/plain', 'text/plain'],
    ['application/zip', 'application/zip', 'application/zip'],
  ])('of the type %s has one that Google takes', (type, api, cloud) => {
    const atApi = sent(file(type))
    expect(typeOf(atApi)).toBe(api)
    expect(atApi.losses.toSorted()).toEqual(api === type ? [NO_NAME] : [NO_NAME, PLAIN])
    const atCloud = sent(file(type), { vertex: true })
    expect(typeOf(atCloud)).toBe(cloud)
    expect(atCloud.losses).toEqual(cloud === type ? [] : [PLAIN])
  })

  test('that is an image has the usual name of its type', () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/' } }]
    const messages = [{ role: 'user', content }]
    expect(typeOf(sent({ messages }))).toBe('image/jpeg')
    const body = { model: 'gemini-3.8-flash', messages }
    const request = READERS['chat']!.request!({ path: '/chat/completions', query: {}, headers: {}, body })
    const { wire } = WRITERS['interactions']!.request!(request, FOREIGN)
    expect(JSON.stringify(wire.body)).toContain('"mime_type":"image/jpeg"')
  })
})

describe('labels of Google Cloud', () => {
  const labelsOf = (metadata: JsonObject) => {
    const { body, losses } = sent({ metadata }, { vertex: true })
    return { labels: body.labels, losses }
  }

  test('are metadata in lower case', () => {
    const metadata = { team: 'a-1', empty: '', User: 'x', trace: 'Run 7', '1st': 'a', long: 'a'.repeat(64) }
    expect(labelsOf(metadata)).toEqual({
      labels: { team: 'a-1', empty: '' },
      losses: ['User', 'trace', '1st', 'long'].map(name => `metadata/${name} labels-are-short-and-in-lower-case`),
    })
  })

  test('are 64 at most', () => {
    const metadata = Object.fromEntries(Array.from({ length: 66 }, (_, at) => [`k${at}`, 'v']))
    const { labels, losses } = labelsOf(metadata)
    expect(Object.keys(labels)).toHaveLength(64)
    expect(losses).toEqual(['metadata/k64 too-many-labels', 'metadata/k65 too-many-labels'])
  })
})
