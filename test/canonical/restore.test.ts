import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import { restorer } from '../../src/canonical/restore.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { grammarFault } from '../laws/grammar.ts'

const RENAMED = new Map([
  ['mcp_server_look', { name: 'mcp.server/look' }],
  ['apply_patch', { name: 'apply_patch', freeform: true as const }],
  ['shell__run', { name: 'run', namespace: 'shell', freeform: true as const }],
])
const RESTORER = restorer(RENAMED)!

const AT = { candidate: 0, part: 0 }

const called = (name: string, text: string): CanonicalResult => ({
  candidates: [{ content: [{ type: 'tool-call', id: 'c', name, arguments: text }], finish: { reason: 'tool-calls' } }],
})
const restored = (name: string, text: string) => RESTORER.result(called(name, text)).candidates[0]!.content[0]

describe('trap 65: what was done to tools is undone', () => {
  test('an answer without such calls keeps its candidates', () => {
    const plain = called('other', '{}')
    expect(RESTORER.result(plain).candidates[0]).toBe(plain.candidates[0])
    expect(RESTORER.result(called('apply_patch', '{"input":"x"}')).candidates[0]).not.toBe(plain.candidates[0])
  })

  test('nothing to undo is no restorer', () => {
    expect(restorer(undefined)).toBeUndefined()
    expect(restorer(new Map())).toBeUndefined()
  })

  test('names and namespaces come back', () => {
    expect(restored('mcp_server_look', '{"a":1}')).toEqual({
      type: 'tool-call',
      id: 'c',
      name: 'mcp.server/look',
      arguments: '{"a":1}',
    })
    expect(restored('other', '{}')).toMatchObject({ name: 'other', arguments: '{}' })
  })

  test('a wrapped freeform call gives its text, and keeps what is no wrapping', () => {
    expect(restored('shell__run', '{"input":"ls -l"}')).toMatchObject({
      name: 'run',
      namespace: 'shell',
      freeform: true,
      arguments: 'ls -l',
    })
    expect(restored('apply_patch', '*** Begin Patch')).toMatchObject({ freeform: true, arguments: '*** Begin Patch' })
    expect(restored('apply_patch', '{"input":7}')).toMatchObject({ freeform: true, arguments: '{"input":7}' })
  })

  test('a restored call is no longer spelled as the call that the upstream made', () => {
    const spelling = { responses: { item: { type: 'function_call', name: 'apply_patch' } } }
    const call = { type: 'tool-call', id: 'c', name: 'apply_patch', arguments: '{"input":"x"}', spelling } as const
    const result = RESTORER.result({ candidates: [{ content: [call, { ...call, name: 'other' }] }] })
    const [ofTool, ofOther] = result.candidates[0]!.content
    expect(ofTool).not.toHaveProperty('spelling')
    expect(ofOther).toHaveProperty('spelling')
    expect(RESTORER.events().push({ type: 'part-start', at: AT, part: call })[0]).not.toHaveProperty('part.spelling')
  })

  test('a call that came as freeform is not unwrapped again', () => {
    const native: CanonicalResult = {
      candidates: [
        {
          content: [
            { type: 'tool-call', id: 'c', name: 'apply_patch', arguments: '{"input":"x"}', freeform: true as const },
          ],
        },
      ],
    }
    expect(RESTORER.result(native)).toEqual(native)
  })

  test('a call of another group is no call of the wrapped tool', () => {
    const content = [
      { type: 'tool-call', id: 'c', name: 'apply_patch', namespace: 'git', arguments: '{"input":"x"}' } as const,
    ]
    const other: CanonicalResult = { candidates: [{ content }] }
    expect(RESTORER.result(other).candidates[0]!.content[0]).toBe(content[0])
  })

  test('a later whole part is restored as one', () => {
    const at = { candidate: 0, part: 0 }
    const part = { type: 'tool-call', id: 'c', name: 'apply_patch', arguments: '{"input":"x"}' } as const
    const events: CanonicalEvent[] = [
      { type: 'result-start' },
      { type: 'part-start', at, part: { ...part, arguments: '' } },
      { type: 'part-delta', at, append: '{"inp' },
      { type: 'part-patch', at, part },
      { type: 'part-end', at },
      { type: 'candidate-end', candidate: 0 },
      { type: 'result-end' },
    ]
    const out = drain(RESTORER.events(), events)
    expect(fold(out).candidates[0]!.content[0]).toEqual({ ...part, arguments: 'x', freeform: true })
  })
})

test('law 15: restoring the events or their result is the same', () => {
  const name = fc.constantFrom('apply_patch', 'shell__run', 'mcp_server_look', 'other')
  const text = fc.oneof(
    fc.string(),
    fc.string().map(input => JSON.stringify({ input })),
  )
  const part = fc.oneof(
    fc.record({ type: fc.constant('tool-call' as const), id: fc.string(), name, arguments: text }),
    fc.record({ type: fc.constant('text' as const), text: fc.string() }),
  )
  const results = fc
    .array(part, { maxLength: 4 })
    .map((content): CanonicalResult => ({ candidates: [{ content, finish: { reason: 'stop' } }] }))
  fc.assert(
    fc.property(results, fc.integer({ min: 1, max: 5 }), (result, size) => {
      const cut = [...unfold(result)].flatMap(event => pieces(event, size))
      const out = drain(RESTORER.events(), cut)
      expect(grammarFault(out)).toBeUndefined()
      expect(fold(out)).toEqual(fold(unfold(RESTORER.result(result))))
    }),
    { numRuns: 1000 },
  )
})

/** Returns the same event with its text cut into pieces. */
function pieces(event: CanonicalEvent, size: number): CanonicalEvent[] {
  if (event.type !== 'part-delta') return [event]
  const count = Math.ceil(event.append.length / size)
  return Array.from({ length: count }, (_, index) => ({
    ...event,
    append: event.append.slice(index * size, (index + 1) * size),
  }))
}
