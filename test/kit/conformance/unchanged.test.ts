import { expect, test } from 'vitest'
import { changesBetween } from '../../../src/kit/conformance/unchanged.ts'

/* Fields of a message that no fact states are compared where nothing is translated. */

test('a field that is dropped, changed or shortened is named with its path', () => {
  const citation = { type: 'url_citation', title: 'A', start_index: 1 }
  const sent = { id: 'a', choices: [{ annotations: [citation, citation], logprobs: null }], tier: 'x' }
  expect(changesBetween(sent, { id: 'b', choices: [{ annotations: [{ ...citation, title: 'B' }] }] })).toEqual([
    '/choices/0/annotations: 2 items became 1',
    '/choices/0/annotations/0/title: "A" became "B"',
    '/choices/0/annotations/1 is missing: {"type":"url_citation","title":"A","start_index":1}',
    '/tier is missing: "x"',
  ])
})

test('ids, models, times, empty values and additions are no changes', () => {
  const sent = { id: 'a', model: 'm', created: 1, created_at: 'x', stop: null, list: [], of: { deep: [{}] }, text: 'a' }
  expect(changesBetween(sent, { text: 'a', added: true })).toEqual([])
})

test('another type is a change, and no name of JavaScript is a field', () => {
  expect(changesBetween({ a: [1], b: { c: 1 } }, { a: { 0: 1 }, b: 'c' })).toEqual([
    '/a: [1] became {"0":1}',
    '/b: {"c":1} became "c"',
  ])
  expect(changesBetween(JSON.parse('{"constructor": "a"}'), {})).toEqual(['/constructor is missing: "a"'])
})

test('few differences of many are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 'x'.repeat(1000)]))
  const changes = changesBetween(many, {})
  expect(changes.length).toBe(5)
  expect(changes.join().length).toBeLessThan(1000)
})
