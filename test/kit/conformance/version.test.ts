import { describe, expect, test } from 'vitest'
import { CONVERSATIONS } from '../../../src/kit/conformance/formats/index.ts'
import type { JsonObject } from '../../../src/kit/conformance/json.ts'

/* The versions of the messages format differ in what a request may have. */

const messages = CONVERSATIONS['messages']!
const BEARER = { authorization: 'Bearer a' }

const broken = (body: JsonObject, version: string, key: { readonly [name: string]: string } = BEARER): string[] =>
  messages.lint.request({ max_tokens: 1, ...body }, { 'anthropic-version': version, ...key }).map(({ rule }) => rule)

const faults = (...given: Parameters<typeof broken>): string[] =>
  broken(...given).filter(rule => rule === 'version-fields')

const turn = (role: string, block: JsonObject): JsonObject => ({ messages: [{ role, content: [block] }] })
const DOCUMENT: JsonObject = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } }
const CITED: JsonObject = { type: 'text', text: 'a', citations: [{ type: 'char_location' }] }

describe.each<[string, JsonObject]>([
  ['a temperature, even the default', { temperature: 1 }],
  ['a top_p', { top_p: 1 }],
  ['a top_k', { top_k: 5 }],
  ['a document of the assistant', turn('assistant', DOCUMENT)],
  ['a cited text of the user', turn('user', CITED)],
])('%s', (_, body) => {
  test('is a fault of a request of 2026-10-21', () => expect(faults(body, '2026-10-21')).toHaveLength(1))
  test('is left out by a client of 2026-10-21', () => {
    const { allowed } = messages.versions!
    expect(faults(allowed('2026-10-21', body), '2026-10-21')).toEqual([])
    expect(allowed('2023-06-01', body)).toBe(body)
  })
  test('is none before', () => expect(faults(body, '2023-06-01', { 'x-api-key': 'a' })).toEqual([]))
})

test('documents of the user and citations of the assistant stay', () => {
  for (const body of [turn('user', DOCUMENT), turn('assistant', CITED), { messages: [{ role: 'user', content: 'a' }] }])
    expect(faults(body, '2026-10-21')).toEqual([])
})

test('the key comes as a Bearer token', () => {
  expect(broken({}, '2026-10-21', { 'x-api-key': 'a' })).toEqual(['version-key'])
  expect(broken({}, '2026-10-21')).toEqual([])
  expect(broken({}, '2023-06-01', { 'x-api-key': 'a' })).toEqual([])
})
