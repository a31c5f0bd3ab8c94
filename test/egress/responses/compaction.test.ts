import { describe, expect, it } from 'vitest'
import { lose } from '../../../src/canonical/loss.ts'
import { withWireSource } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN } from '../../builders/write-options.ts'
import { resultMeaning } from '../../laws/same.ts'
import { holds, plain, same } from '../../laws/support.ts'
import { asked, request, result } from '../../laws/work/compaction.ts'

const WIRE = { query: {}, headers: {}, body: {} }
const atTheDoor = withWireSource({ ...asked }, 'responses', { ...WIRE, path: '/v1/responses/compact' })

describe('the answer of the compaction endpoint', () => {
  it('is an object of its own type, and reports its losses', () => {
    holds(result, answer => {
      const { wire, losses } = WRITERS['responses']!.result!(answer, atTheDoor)
      expect(Object.keys(wire.body)).toEqual(expect.arrayContaining(['id', 'object', 'created_at', 'output', 'usage']))
      expect(wire.body['object']).toBe('response.compaction')
      const read = READERS['responses']!.result!(plain(wire), atTheDoor)
      same(resultMeaning(read), resultMeaning(lose(answer, losses)))
    })
  })

  it('is an ordinary response if an item of an ordinary request asked for it', () => {
    const body = { model: 'm', input: [{ role: 'user', content: 'x' }, { type: 'compaction_trigger' }] }
    const read = READERS['responses']!.request!({ path: '/v1/responses', query: {}, headers: {}, body })
    expect(read.output.compaction).toBe(true)
    const answer = { id: 'x', model: 'm', createdAt: 1, candidates: [{ content: [] }] }
    expect(WRITERS['responses']!.result!(answer, read).wire.body['object']).toBe('response')
  })
})

it('a compaction request goes to its own endpoint, with only the fields of that endpoint', () => {
  holds(request, asked => {
    const { path, body } = WRITERS['responses']!.request!(asked, FOREIGN).wire
    expect(path).toBe('/responses/compact')
    for (const field of ['stream', 'tools', 'temperature', 'store', 'text', 'reasoning', 'max_output_tokens'])
      expect(body).not.toHaveProperty(field)
  })
})
