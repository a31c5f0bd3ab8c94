import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SlotNames } from '../../../src/accounts/limits/slot-names.ts'

const names = fc.record({ owner: fc.constantFrom('a', 'b', 'a.b'), number: fc.nat(300) })
const change = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), name: names }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), name: names }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removeOwner' as const), name: names }) },
)

it('holds the names that a set of them would hold', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400, size: 'max' }), changes => {
      const [held, model] = [new SlotNames(), new Set<string>()]
      for (const { kind, name } of changes) {
        const text = `${name.owner}.${name.number.toString(36)}`
        if (kind === 'add') model.add(text)
        if (kind === 'remove') model.delete(text)
        if (kind === 'removeOwner') for (const one of model) if (one.startsWith(`${name.owner}.`)) model.delete(one)
        held[kind](kind === 'removeOwner' ? name.owner : text)
        expect(held.size).toBe(model.size)
        expect(held.has(text)).toBe(model.has(text))
      }
    }),
  )
})

it('takes as long for the slots of 20,000 requests as for the same number of slots of one request', () => {
  const timeOf = (inFlight: number): number => {
    const held = new SlotNames()
    const began = performance.now()
    for (let number = 0; number < 20_000 + inFlight; number++) {
      if (number < 20_000) held.add(`owner.${number.toString(36)}`)
      if (number >= inFlight) held.remove(`owner.${(number - inFlight).toString(36)}`)
    }
    expect(held.size).toBe(0)
    return performance.now() - began
  }
  timeOf(1)
  const [few, many] = [Math.min(timeOf(1), timeOf(1)), Math.min(timeOf(20_000), timeOf(20_000))]
  expect(many).toBeLessThan(20 * few + 20)
})
