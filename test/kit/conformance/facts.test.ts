import { expect, test } from 'vitest'
import { compare } from '../../../src/kit/conformance/compare.ts'
import { withLateSignatures } from '../../../src/kit/conformance/facts.ts'

test('a late signature belongs to the unsigned text before it', () => {
  expect(withLateSignatures([{ text: 'so' }, { signature: 's' }])).toEqual([{ text: 'so', signature: 's' }])
  const signed = [{ text: 'so', signature: 's' }, { signature: 't' }]
  expect(withLateSignatures(signed)).toEqual(signed)
})

test('a gateway may add tokens of its own in another format, and nothing else', () => {
  const sides = { source: new Map(), reachable: new Map() }
  const found = new Map([
    ['candidates[0].reasoning[1].signature', 's'],
    ['candidates[0].reasoning[1].redacted', 'r'],
  ])
  const added = (isNative: boolean) => compare({ ...sides, found, isNative }).map(({ path }) => path)
  expect(added(true)).toEqual([...found.keys()])
  expect(added(false)).toEqual(['candidates[0].reasoning[1].redacted'])
})
