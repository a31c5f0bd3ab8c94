import { describe, expect, it } from 'vitest'
import { unfold } from '../../src/canonical/fold.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { HAS_SCHEMAS, requiredOf } from '../compliance/schemas.ts'
import { asked } from './arbitrary-result.ts'
import { asSaid } from './completed.ts'
import { holds, plain, same } from './support.ts'
import { WIRES } from './wires.ts'

/* The gateway adds missing fields to a native answer and changes no field that the upstream sent. */

const { events, result: write } = WRITERS['responses']!
const reader = READERS['responses']!
const answers = WIRES['responses']!.result

/** Reads an answer as the gateway passes it to its writer. */
const read = (body: JsonObject): CanonicalResult => ({
  ...{ id: 'req_1', createdAt: 1, model: 'm' },
  ...reader.result!({ status: 200, headers: {}, body }, asked),
  complete: true,
})

const written = (body: JsonObject): JsonObject => plain(write!(read(body), asked).wire.body) as JsonObject

const isCompaction = ({ object }: JsonObject): boolean => object === 'response.compaction'

describe('completed answers', () => {
  it('keep all that was said, in its order', () => {
    holds(answers, body => {
      const whole = written(body)
      same(asSaid(whole, body), body)
      const { complete: _, ...unfilled } = read(body)
      const said = Object.keys(plain(write!(unfilled, asked).wire.body) as JsonObject).filter(key => key in body)
      expect(Object.keys(whole).filter(key => said.includes(key))).toEqual(said)
    })
  })

  it('lack nothing, and are not completed twice', () => {
    holds(answers, body => {
      const whole = written(body)
      for (const key of requiredOf(isCompaction(whole) ? 'CompactResource' : 'ResponseResource'))
        expect(whole, key).toHaveProperty(key)
      for (const item of whole['output'] as JsonObject[]) {
        expect(item['id']).toBeDefined()
        if (!STATED.has(String(item['type']))) continue
        expect(item['status']).toBeDefined()
        for (const part of Array.isArray(item['content']) ? item['content'] : [])
          if (isObject(part) && part['type'] === 'output_text')
            for (const key of ['annotations', 'logprobs']) expect(part[key]).toEqual(expect.any(Array))
      }
      same(written(whole), whole)
    })
  })

  it('are the same complete and streamed', () => {
    holds(answers, body => {
      const result = read(body)
      if (result.task !== undefined || result.error !== undefined || isCompaction(body)) return
      const wire = drain(events!(asked), unfold(result))
      expect(wire.at(-1)).toEqual({ data: '[DONE]' })
      const last = JSON.parse(wire.at(-2)!.data) as { response: JsonObject }
      const ids = (response: JsonObject) => (response['output'] as JsonObject[]).map(({ id, call_id }) => [id, call_id])
      expect(ids(last.response)).toEqual(ids(written(body)))
      expect(Object.keys(last.response).sort()).toEqual(Object.keys(written(body)).sort())
    })
  })

  it.skipIf(!HAS_SCHEMAS)('the table of what is always there is that of the description', () => {
    expect(requiredOf('ResponseResource').length).toBeGreaterThan(30)
  })
})

const STATED: ReadonlySet<string> = new Set(['message', 'function_call', 'custom_tool_call', 'web_search_call'])
