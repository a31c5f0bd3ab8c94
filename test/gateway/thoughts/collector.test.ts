import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { type CalledStep, Collector } from '../../../src/gateway/thoughts/collector.ts'

const at = (part: number) => ({ candidate: 0, part })
const reasoning = (part: number, text: string): CanonicalEvent[] => [
  { type: 'part-start', at: at(part), part: { type: 'reasoning', text: '' } },
  { type: 'part-delta', at: at(part), append: text },
  { type: 'part-end', at: at(part) },
]
const openCall = (part: number, id: string): CanonicalEvent[] => [
  { type: 'part-start', at: at(part), part: { type: 'tool-call', id, name: 'read', arguments: '' } },
  { type: 'part-delta', at: at(part), append: '{"path"' },
]
const call = (part: number, id: string): CanonicalEvent[] => [...openCall(part, id), { type: 'part-end', at: at(part) }]
const BROKEN: CanonicalEvent = {
  type: 'error',
  error: { kind: 'upstream-failed', message: 'The upstream broke off its answer.' },
}

function collected(events: readonly CanonicalEvent[]): readonly CalledStep[] {
  const all: CalledStep[] = []
  const collector = new Collector(
    () => false,
    steps => all.push(...steps),
  )
  for (const event of events) collector.observe(event)
  return all
}

describe('an answer that breaks off', () => {
  test('gives the reasoning before the calls that were complete: clients continue from these', () => {
    const steps = collected([...reasoning(0, 'Look first.'), ...call(1, 'a'), ...openCall(2, 'b'), BROKEN])
    expect(steps.map(({ id, next }) => [id, next.map(({ text }) => text)])).toEqual([['a', ['Look first.']]])
  })

  test('gives nothing if its first call was cut short', () => {
    expect(collected([...reasoning(0, 'Look first.'), ...openCall(1, 'a'), BROKEN])).toEqual([])
  })

  test('gives nothing of reasoning behind the last complete call', () => {
    const steps = collected([...call(0, 'a'), ...reasoning(1, 'Then write.'), ...openCall(2, 'b'), BROKEN])
    expect(steps.map(({ id, next }) => [id, next])).toEqual([['a', []]])
  })
})
