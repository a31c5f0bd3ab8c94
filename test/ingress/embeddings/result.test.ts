import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type JsonObject, parseObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { completed } from '../../laws/exceptions.ts'
import { holds, same } from '../../laws/support.ts'
import { WIRES } from '../../laws/wires.ts'
import { asked } from '../../laws/work/embedding.ts'

const { parse, result: read } = READERS['embeddings']!

/** Returns the body that a caller gets for an upstream's text. */
function through(text: string, encoding?: 'float' | 'base64'): string {
  const request: CanonicalRequest = { ...asked, output: { ...asked.output, embedding: encoding ? { encoding } : {} } }
  const answer = read!({ status: 200, headers: {}, body: parse!(text)! }, request)
  const { wire } = WRITERS['embeddings']!.result!(answer, request)
  return wire.raw !== undefined && 'text' in wire.raw ? wire.raw.text : JSON.stringify(wire.body)
}

describe('vectors that are only passed on', () => {
  test('do not change an answer, whatever its spacing', () => {
    holds(fc.tuple(WIRES['embeddings']!.result, fc.constantFrom(undefined, 2, '\t')), ([body, space]) => {
      const text = JSON.stringify(body, null, space)
      same(parseObject(through(text)), completed('embeddings', parseObject(text)!))
    })
  })

  test('keep every digit', () => {
    const text =
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-1e-7,12345678901234567890]}],"model":"m"}'
    expect(through(text)).toContain('"embedding":[0.10,-1e-7,12345678901234567890]')
  })

  test('are parsed if another encoding is requested', () => {
    const text = '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.5, -0.25]}],"model":"m"}'
    expect(parseObject(through(text, 'base64'))).toMatchObject({ data: [{ embedding: 'AADAPwAAgL4=' }] })
    expect(through(text, 'float')).toContain('[1.5, -0.25]')
  })

  test('are told from text that only looks like a vector, which is parsed as JSON', () => {
    const bodies: readonly JsonObject[] = [
      { data: [{ embedding: ['a]', '"embedding":[1]'] }] },
      { data: [{ embedding: [[1], [2]] }] },
      { data: [], usage: { embedding: [1, 2] } },
      { data: [{ embedding: [1], note: '"embedding":[2]' }], embedding: [3] },
      { data: { embedding: [1] } },
    ]
    for (const body of bodies) same(parse!(JSON.stringify(body)), body)
    expect(parse!('{"data":[{"embedding":[1,2')).toBeUndefined()
    expect(parse!('[{"embedding":[1,2]}]')).toBeUndefined()
    expect(parse!('')).toBeUndefined()
  })

  test('never change how a text is parsed', () => {
    holds(fc.string(), text => same(parse!(text), parseObject(text)))
    holds(fc.jsonValue(), value => same(parse!(JSON.stringify(value)), parseObject(JSON.stringify(value))))
  })

  test('are searched for in linear time, also in base64 and in lists that never end', () => {
    const base64 = `{"data":[${'{"index":0,"embedding":"AAAAPwAAAD8="},'.repeat(2000)}{}]}`
    const endless = `{"data":[${'{"embedding":['.repeat(2000)}`
    for (const text of [base64, endless]) expect(searched(() => parse!(text))).toBeLessThan(4 * text.length)
  })
})

/** Returns the number of characters that `indexOf` reads during a call. */
function searched(call: () => unknown): number {
  const { indexOf } = String.prototype
  let read = 0
  const spy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, what, from = 0) {
    const found = indexOf.call(this, what, from)
    read += (found === -1 ? this.length : found) - from
    return found
  })
  call()
  spy.mockRestore()
  return read
}
