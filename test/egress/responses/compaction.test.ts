import { describe, expect, it } from 'vitest'
import { lose } from '../../../src/canonical/loss.ts'
import { withOrigin } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN } from '../../builders/write-options.ts'
import { resultMeaning } from '../../laws/same.ts'
import { holds, plain, same } from '../../laws/support.ts'
import { asked, request, result } from '../../laws/work/compaction.ts'

const WIRE = { query: {}, headers: {}, body: {} }
const atTheDoor = withOrigin({ ...asked }, 'responses', { ...WIRE, path: '/v1/responses/compact' })

describe('the answer of the door for compacting', () => {
  it('is its own object, and says of itself what it has lost', () => {
    holds(result, answer => {
      const { wire, losses } = WRITERS['responses']!.result!(answer, atTheDoor)
      expect(Object.keys(wire.body)).toEqual(expect.arrayContaining(['id', 'object', 'created_at', 'output', 'usage']))
      expect(wire.body['object']).toBe('response.compaction')
      const read = READERS['responses']!.result!(plain(wire), atTheDoor)
      same(resultMeaning(read), resultMeaning(lose(answer, losses)))
    })
  })

  it('is an ordinary response where it was asked for by an item of the ordinary door', () => {
    const body = { model: 'm', input: [{ role: 'user', content: 'x' }, { type: 'compaction_trigger' }] }
    const read = READERS['responses']!.request!({ path: '/v1/responses', query: {}, headers: {}, body })
    expect(read.output.compaction).toBe(true)
    const answer = { id: 'x', model: 'm', createdAt: 1, candidates: [{ content: [] }] }
    expect(WRITERS['responses']!.result!(answer, read).wire.body['object']).toBe('response')
  })
})

it('a request to compact goes to its own door, with nothing that door does not know', () => {
  holds(request, asked => {
    const { path, body } = WRITERS['responses']!.request!(asked, FOREIGN).wire
    expect(path).toBe('/responses/compact')
    for (const field of ['stream', 'tools', 'temperature', 'store', 'text', 'reasoning', 'max_output_tokens'])
      expect(body).not.toHaveProperty(field)
  })
})
