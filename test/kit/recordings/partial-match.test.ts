import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { Library } from '../../../src/kit/recordings/library.ts'
import { matchesPartially, partialMatch } from '../../../src/kit/recordings/partial-match.ts'
import { type Recording, VERSION } from '../../../src/kit/recordings/recording.ts'

const form = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonObject>
const path = fc
  .array(fc.constantFrom('a', 'b', 'c', '*', '-1', '0'), { minLength: 1, maxLength: 3 })
  .map(steps => steps.join('.'))
const paths = fc.array(path, { maxLength: 3 })

test('a recording matches its own request by any paths', () => {
  fc.assert(fc.property(paths, form, (list, own) => matchesPartially(partialMatch(list, own), own)))
})

test('no path matches everything; more paths never match more', () => {
  fc.assert(
    fc.property(paths, path, form, form, (list, more, own, other) => {
      expect(matchesPartially(partialMatch([], own), other)).toBe(true)
      if (matchesPartially(partialMatch([...list, more], own), other))
        expect(matchesPartially(partialMatch(list, own), other)).toBe(true)
    }),
  )
})

test('other fields do not count; a recorded value must be there, an absent one must not', () => {
  fc.assert(
    fc.property(form, form, (own, other) => {
      const match = partialMatch(['a'], own)
      expect(matchesPartially(match, { ...other, a: own['a'] ?? null })).toBe('a' in own)
      const { a: _, ...without } = other
      expect(matchesPartially(match, without)).toBe(!('a' in own))
    }),
  )
})

const chat = (model: string, content: string): Recording['request'] => ({
  ...{ method: 'POST', path: '/v1/chat/completions', headers: {} },
  body: { json: { model, messages: [{ role: 'user', content }] } },
})

const filed = (file: string, request: Recording['request'], match?: string[]) => ({
  file,
  recording: {
    ...{ version: VERSION, program: 'test', recorded_at: '2026-11-28T00:00:00.000Z', request },
    ...(match === undefined ? {} : { match }),
    answer: { status: 200, headers: {}, ms: 0, complete: true },
  } as Recording,
})

test('an equal recording answers first, then the one with the most paths, in their order per scope', async () => {
  const library = new Library([
    filed('any-1.json', chat('m', 'x'), []),
    filed('any-2.json', chat('m', 'x'), []),
    filed('model.json', chat('n', 'x'), ['model']),
    filed('equal.json', chat('n', 'hello')),
  ])
  const find = async (model: string, content: string, scope = ''): Promise<string | undefined> => {
    const body = Buffer.from(JSON.stringify(chat(model, content).body!.json))
    const request = { method: 'POST', url: '/v1/chat/completions', headers: {}, body }
    return (await library.find(request, { format: 'chat', streams: false }, scope))?.file
  }
  expect(await find('n', 'hello')).toBe('equal.json')
  expect(await find('n', 'other')).toBe('model.json')
  expect([await find('o', 'a'), await find('o', 'b'), await find('o', 'c')]).toEqual([
    ...['any-1.json', 'any-2.json', 'any-2.json'],
  ])
  expect(await find('o', 'a', 'scope')).toBe('any-1.json')
})
