import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { responses as writer } from '../../src/egress/responses/index.ts'
import { NATIVE } from '../../src/egress/writer.ts'
import { responses as reader } from '../../src/ingress/responses/index.ts'
import { request as schema } from '../../src/ingress/responses/wire.ts'
import { asked } from '../laws/arbitrary-result.ts'
import { holds, plain, same } from '../laws/support.ts'
import { request, result } from '../laws/wire/responses.ts'

describe('a request of this very format', () => {
  it('goes out as it came, with no losses', () => {
    holds(request, asked => {
      const { wire, losses } = writer.request!(reader.request!(asked), NATIVE)
      same(wire.body, asked.body)
      same(losses, [])
      same([wire.path, wire.query, wire.headers], [asked.path.replace('/v1', ''), asked.query, asked.headers])
    })
  })

  it('is refused by the reader exactly where the schema refuses it, and the fault has a name', () => {
    const rubbish = fc.constantFrom<unknown>(1, 'x', true, [1], [{}], [['x']], {}, [{ type: 5 }], [{ role: 'king' }])
    holds(
      fc.tuple(request, rubbish, fc.nat()).map(([asked, value, at]) => spoil(plain(asked.body), value, at)),
      body => {
        const valid = v.safeParse(schema, body).success
        try {
          reader.request!({ path: '/responses', query: {}, headers: {}, body })
          expect(valid).toBe(true)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError)
          expect((thrown as GatewayError).error.kind).toBe('invalid-request')
          expect(valid).toBe(false)
        }
      },
      [{ model: 'm', input: [{ role: 'user', content: [{ type: 'input_image', prompt_cache_breakpoint: 1 }] }] }],
    )
  })
})

describe('an answer of this very format', () => {
  it('goes out as it came, with no losses', () => {
    holds(result, body => {
      const read = reader.result!({ status: 200, headers: {}, body }, asked)
      const { wire, losses } = writer.result!(read, asked)
      same(wire.body, body)
      same(losses, [])
    })
  })

  it('is read or refused, whatever it is made of', () => {
    const rubbish = fc.constantFrom<unknown>(1, 'x', true, null, [1], [{}], {}, [{ type: 5 }], [{ role: 'king' }])
    holds(
      fc.tuple(result, rubbish, fc.nat()).map(([body, value, at]) => spoil(plain(body), value, at)),
      body => {
        try {
          writer.result!(reader.result!({ status: 200, headers: {}, body }, asked), asked)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError)
        }
      },
    )
  })
})

/** The body with one value somewhere in it replaced. */
function spoil(body: JsonObject, value: unknown, at: number): JsonObject {
  const holders: { holder: Record<string, unknown>; key: string }[] = []
  const visit = (holder: unknown): void => {
    if (typeof holder !== 'object' || holder === null) return
    for (const key of Object.keys(holder)) {
      holders.push({ holder: holder as Record<string, unknown>, key })
      visit((holder as Record<string, unknown>)[key])
    }
  }
  visit(body)
  const { holder, key } = holders[at % holders.length]!
  if (key !== '__proto__') holder[key] = value
  return body
}
