import { describe, expect, it } from 'vitest'
import { compare, type Leaves } from '../../../src/kit/conformance/compare.ts'
import type { Json, JsonObject } from '../../../src/kit/conformance/json.ts'

const CALL = 'candidates[0].calls[0].signature'
const REASONING = 'candidates[0].reasoning[0].signature'

/** The fate of the call's signature, of which the other format knows nothing. */
function fateOf(found: Leaves, isNative = false, source: Leaves = new Map([[CALL, 'A']])) {
  return compare({ source, reachable: new Map(), found, isNative }).find(({ path }) => path === CALL)!.fate
}

describe('a signature of a call', () => {
  it('is kept on the reasoning of the same candidate, between formats', () => {
    expect(fateOf(new Map([[REASONING, 'wrapped']]))).toBe('kept')
  })

  it('is lost without any, or with one of another candidate', () => {
    expect(fateOf(new Map())).toBe('lost')
    expect(fateOf(new Map([['candidates[1].reasoning[0].signature', 'wrapped']]))).toBe('lost')
    expect(fateOf(new Map([[REASONING, '']]))).not.toBe('kept')
  })

  it('is lost if the other signature is the reasoning’s own, or the format the same', () => {
    const both: Leaves = new Map([
      [CALL, 'A'],
      [REASONING, 'B'],
    ])
    expect(fateOf(new Map([[REASONING, 'B']]), false, both)).toBe('lost')
    expect(fateOf(new Map([[REASONING, 'A']]), true)).toBe('lost')
  })
})

describe('between formats', () => {
  const fatesOf = (source: Leaves, found: Leaves, isNative = false) =>
    Object.fromEntries(
      compare({ source, reachable: new Map(), found, isNative })
        .filter(({ path }) => source.has(path))
        .map(({ path, fate }) => [path, fate]),
    )

  it('an image of a tool result may stand behind the result of the same turn', () => {
    const path = 'turns[2].results[0].media[0].digest'
    const source: Leaves = new Map([[path, 'a']])
    expect(fatesOf(source, new Map([['turns[2].media[1].digest', 'a']]))).toEqual({ [path]: 'kept' })
    expect(fatesOf(source, new Map([['turns[2].media[1].digest', 'b']]))).toEqual({ [path]: 'lost' })
    expect(fatesOf(source, new Map([['turns[3].media[0].digest', 'a']]))).toEqual({ [path]: 'lost' })
    expect(fatesOf(source, new Map([['turns[2].media[0].digest', 'a']]), true)).toEqual({ [path]: 'lost' })
  })

  const tool: Leaves = new Map([
    ['tools.lamp.description', 'Sets a lamp.'],
    ['tools.lamp.kind', 'free-form'],
    ['tools.lamp.grammar.definition', 'start: "on"'],
  ])
  const wrapped = (description: string, properties: JsonObject): Leaves =>
    new Map<string, Json>([
      ['tools.lamp.description', description],
      ['tools.lamp.parameters', { type: 'object', properties }],
    ])

  it('a free-form tool may become one with a text, and its description may state the grammar', () => {
    const found = wrapped('Sets a lamp. Grammar: start: "on"', { input: { type: 'string' } })
    expect(new Set(Object.values(fatesOf(tool, found)))).toEqual(new Set(['kept']))
    const native = { description: 'changed', kind: 'lost', 'grammar.definition': 'lost' }
    const paths = Object.entries(native).map(([name, fate]) => [`tools.lamp.${name}`, fate])
    expect(fatesOf(tool, found, true)).toEqual(Object.fromEntries(paths))
  })

  it('a tool with other parameters, or a cut description, is none', () => {
    const found = wrapped('Sets a', { on: { type: 'boolean' } })
    const fates = { description: 'changed', kind: 'lost', 'grammar.definition': 'lost' }
    const paths = Object.entries(fates).map(([name, fate]) => [`tools.lamp.${name}`, fate])
    expect(fatesOf(tool, found)).toEqual(Object.fromEntries(paths))
  })
})
