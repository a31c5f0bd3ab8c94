import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { withSoundKeywords } from '../../../src/egress/sanitize/sound-keywords.ts'

it.each<[string, JsonObject, JsonObject]>([
  ['an optional property of draft 3', { properties: { a: { required: false } } }, { properties: { a: {} } }],
  [
    'required properties of draft 3, one in another',
    { properties: { a: { required: true, properties: { b: { required: true } } } } },
    { properties: { a: { properties: { b: {} }, required: ['b'] } }, required: ['a'] },
  ],
  ['names that repeat', { required: ['a', 'a', 1] }, { required: ['a'] }],
  ['a text among properties', { properties: { a: {}, type: 'object' } }, { properties: { a: {} } }],
  ['a type of another language', { type: 'float' }, { type: 'number' }],
  ['a type in capitals', { type: ['STRING', 'null'] }, { type: ['string', 'null'] }],
  ['any type', { type: 'any' }, {}],
  ['any of several types', { type: ['any', 'null'] }, {}],
  ['bounds in quotes', { minimum: '-1.5', maxLength: '9', maximum: 'x' }, { minimum: -1.5, maxLength: 9 }],
  ['bounds out of range', { minLength: -1, maxItems: 1.5, multipleOf: 0 }, {}],
  ['labels that are no texts', { title: 1, description: null }, {}],
  ['an empty union', { anyOf: [] }, {}],
  ['a union with null', { anyOf: [null, { type: 'string' }] }, { anyOf: [{ type: 'string' }] }],
])('writes %s soundly', (_, schema, expected) => {
  expect(withSoundKeywords(schema)).toEqual(expected)
})

it('returns a sound schema unchanged', () => {
  const schema: JsonObject = {
    type: ['object', 'null'],
    properties: { required: { type: 'boolean' }, a: true },
    required: ['required'],
    dependencies: { a: ['b'], b: { minLength: 1 } },
  }
  expect(withSoundKeywords(schema)).toBe(schema)
})
