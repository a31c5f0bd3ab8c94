import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { MemoryStore } from '../../../src/gateway/thoughts/memory-store.ts'
import { OwnerReasoning } from '../../../src/gateway/thoughts/reasoning-memory.ts'
import { LogOnce } from '../../../src/log.ts'
import { LIMITS, targetOf } from '../../thoughts/stage.ts'

describe('a caller who hands thoughts back', () => {
  const signed = { type: 'reasoning', text: 'so', signature: { format: 'messages', value: 'p' } } as const
  const call = { type: 'tool-call', id: 'toolu_01Ab2Cd3Ef4', name: 'f', arguments: '{}' } as const
  const question = { role: 'user', content: [{ type: 'text', text: 'Well?' }] } as const
  const result = { role: 'tool', content: [{ type: 'tool-result', id: call.id, content: [] }] } as const
  const asked = (...content: Part[]): CanonicalRequest => ({
    ...{ model: 'm', output: {}, sampling: {}, stream: false },
    messages: [question, { role: 'assistant', content }, result],
  })

  test.each([
    ['nothing', asked(call), true],
    ['words alone', asked({ type: 'reasoning', text: 'so' }, call), true],
    ['the proof', asked(signed, { type: 'text', text: 'Hm.' }, call), false],
  ])('%s: what was thought next is kept: %s', (_, request, isKept) => {
    const store = new MemoryStore(LIMITS)
    const target = targetOf({ caller: 'chat', upstream: 'messages' })
    const next = { ...call, id: 'toolu_02Ab2Cd3Ef4' }
    new OwnerReasoning(store, 'ann', new LogOnce(() => {})).save(
      { candidates: [{ content: [signed, next] }] },
      { attempt: { incoming: { call: { format: 'chat' } }, target, request }, prepared: { recalled: undefined } },
    )
    expect(store.holds('ann')).toBe(isKept)
  })
})
