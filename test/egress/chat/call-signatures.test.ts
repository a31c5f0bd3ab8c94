import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { asked } from '../../laws/arbitrary-result.ts'
import { EVERY_ECHO } from '../../laws/echo.ts'
import { read } from '../../laws/returned.ts'
import { plain } from '../../laws/support.ts'

/* Google's signatures of calls at chat upstreams, which callers of every format return. */

const called = (id: string): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const SIGNED: JsonObject = { ...called('c1'), extra_content: { google: { thought_signature: 'c2lnbmVk' } } }
const message = { role: 'assistant', content: 'Let me see.', tool_calls: [SIGNED, called('c2')] }
const ANSWER = { id: 'x', model: 'm', created: 1, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }

/** Returns the model's turn in the request that follows. */
function returnedTurn(caller: string, dialect: JsonObject): JsonObject {
  const result = READERS['chat']!.result!({ status: 200, headers: {}, body: ANSWER }, asked)
  const answer = WRITERS[caller]!.result!({ createdAt: 1, ...result }, asked).wire.body
  const body = plain(EVERY_ECHO[caller]!.request(EVERY_ECHO[caller]!.whole(plain(answer))))
  const { wire } = WRITERS['chat']!.request!(read(caller, body), { dialect, native: false })
  return (wire.body['messages'] as readonly JsonObject[]).find(({ role }) => role === 'assistant')!
}

describe.each(['messages', 'responses', 'contents', 'converse', 'interactions'])('a caller of %s', caller => {
  it('returns the signature to an upstream that takes it', () => {
    expect(returnedTurn(caller, { call_signatures: true })).toEqual(message)
  })

  it('sends it to no other upstream, which would refuse the field', () => {
    expect(returnedTurn(caller, {})['tool_calls']).toEqual([called('c1'), called('c2')])
  })
})

describe('a signature that no call follows', () => {
  it('is a reported loss', () => {
    const signature = { format: 'contents', value: 'c2lnbmVk' }
    const content = [
      { type: 'reasoning', text: '', signature },
      { type: 'text', text: 'Hm.' },
      { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' },
    ] as const
    const request = { ...asked, messages: [{ role: 'assistant' as const, content }] }
    const { wire, losses } = WRITERS['chat']!.request!(request, { dialect: { call_signatures: true }, native: false })
    expect(JSON.stringify(wire.body)).not.toContain('c2lnbmVk')
    expect(losses).toContainEqual({
      kind: 'dropped',
      path: ['messages', 0, 'content', 0],
      reason: 'no-hidden-reasoning',
    })
  })
})
