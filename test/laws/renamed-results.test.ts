import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part, ToolCallPart, ToolResultPart } from '../../src/canonical/content.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { repair } from '../../src/canonical/repair.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { GistDigest } from '../../src/gateway/thoughts/conversation-digest.ts'
import { READERS } from '../../src/ingress/index.ts'
import { holds } from './support.ts'

/* Trap 111: results without ids, whose names differ from those of their calls. */

interface Answered {
  readonly name: string
  readonly under: string
}

/** Calls of each round, with the names of their results, which are never those of another call. */
const rounds: fc.Arbitrary<readonly (readonly Answered[])[]> = fc
  .record({
    called: fc.array(fc.array(fc.constantFrom('get', 'W-get', 'W-put', 'look'), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    }),
    renamed: fc.dictionary(fc.constantFrom('get', 'W-get', 'W-put', 'look'), fc.constantFrom('W__get', 'x', 'x.y')),
  })
  .map(({ called, renamed }) => called.map(names => names.map(name => ({ name, under: renamed[name] ?? name }))))

/** Builds a history in which each round's results are in one content, or in one content each. */
const history = (rounds: readonly (readonly Answered[])[], isOne: boolean): JsonObject[] =>
  rounds.flatMap((round, at) => {
    const results = round.map(({ under }, index) => ({
      functionResponse: { name: under, response: { result: `${at}/${index}` } },
    }))
    return [
      { role: 'user', parts: [{ text: 'go on' }] },
      { role: 'model', parts: round.map(({ name }) => ({ functionCall: { name, args: {} } })) },
      ...(isOne
        ? [{ role: 'function', parts: results }]
        : results.map(one => ({ role: 'function', parts: [one] }) as JsonObject)),
    ]
  })

const read = (contents: JsonObject[]) =>
  READERS['contents']!.request!({
    path: '/v1beta/models/m:generateContent',
    query: {},
    headers: {},
    body: { contents },
  })

/** Removes the records of the source. */
const plain = (request: CanonicalRequest): unknown => JSON.parse(JSON.stringify({ messages: request.messages }))

/**
 * Semantic Kernel's connector for Google writes calls of `W__get` into its history as `W-get`, and results as `W__get`.
 */
it('trap 111: where only the result has the name of a tool, the call gets it', () => {
  const body = {
    tools: [{ functionDeclarations: [{ name: 'W__get', description: 'Gets.' }] }],
    contents: history([[{ name: 'W-get', under: 'W__get' }], [{ name: 'W-get', under: 'W__get' }]], true),
  }
  const given = READERS['contents']!.request!({
    path: '/v1beta/models/m:generateContent',
    query: {},
    headers: {},
    body,
  })
  const { request, losses } = repair(given)
  const named = request.messages.flatMap(({ content }) => content.filter(part => isCall(part) || isResult(part)))
  expect(named.map(({ name }) => name)).toEqual(['W__get', 'W__get', 'W__get', 'W__get'])
  expect(losses).toEqual(
    [1, 4].map(at => ({
      ...{ kind: 'changed', path: ['messages', at, 'content', 0, 'name'], became: 'W__get' },
      reason: 'name-of-the-result',
    })),
  )
  expect(lose(plain(given), losses)).toEqual(plain(request))
})

it('trap 111: what was thought before a call is found under either spelling of its name', () => {
  const digestOf = (name: string, args: string): string => {
    const gist = new GistDigest()
    gist.call(name, args)
    return gist.digest
  }
  expect(digestOf('W-get', '{}')).toBe(digestOf('W__get', '{}'))
  expect(digestOf('W-get', '{}')).not.toBe(digestOf('W-put', '{}'))
  expect(digestOf('W-get', '{}')).not.toBe(digestOf('W-get', '{"a":1}'))
})

const isCall = (part: Part): part is ToolCallPart => part.type === 'tool-call'
const isResult = (part: Part): part is ToolResultPart => part.type === 'tool-result'

describe('results under other names than their calls are paired by order', () => {
  it('trap 111: whatever the renaming, with parallel calls, over several rounds', () => {
    holds(fc.tuple(rounds, fc.boolean()), ([rounds, isOne]) => {
      const given = read(history(rounds, isOne))
      const { request, losses } = repair(given)
      const parts = request.messages.flatMap(({ content }) => content)
      const calls = parts.filter(isCall)
      const results = parts.filter(isResult)
      expect(results).toHaveLength(calls.length)
      expect(new Set(results.map(({ id }) => id)).size).toBe(calls.length)
      for (const [index, { name }] of rounds.flat().entries()) {
        const result = results.find(({ id }) => id === calls[index]!.id)!
        expect(result.name).toBe(name)
        // Results of one name are in the order of their calls. In a mixed round, names come first.
        if (rounds.flat().every(one => one.under !== one.name)) expect(result).toBe(results[index])
      }
      const changed = rounds.flat().filter(({ name, under }) => name !== under)
      expect(losses.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual(
        changed.map(() => 'changed name-of-the-call'),
      )
      expect(lose(plain(given), losses)).toEqual(plain(request))
    })
  })
})
