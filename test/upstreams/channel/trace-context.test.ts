import fc from 'fast-check'
import { expect, test } from 'vitest'
import { passedTrace, traceParent } from '../../../src/upstreams/channel/trace-context.ts'

const ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const PARENT = `00-${ID}-${SPAN}-01`

test('a valid parent is read, also of later versions', () => {
  expect(traceParent(PARENT)).toEqual({ traceId: ID, spanId: SPAN, flags: 1 })
  expect(traceParent(`01-${ID}-${SPAN}-03-more`)).toEqual({ traceId: ID, spanId: SPAN, flags: 3 })
})

test('an invalid one is none', () => {
  const invalid = [
    ...[`ff-${ID}-${SPAN}-01`, `${PARENT}-more`, `00-${'0'.repeat(32)}-${SPAN}-01`, `00-${ID}-${'0'.repeat(16)}-01`],
    ...[PARENT.toUpperCase(), `${PARENT}, ${PARENT}`, ` ${PARENT}`, `${PARENT}\n`, ''],
  ]
  for (const one of invalid) expect(traceParent(one), one).toBeUndefined()
  fc.assert(fc.property(fc.string(), text => traceParent(text) === undefined))
})

test('headers are passed on unchanged where they are valid', () => {
  const pass = (tracestate: string) => passedTrace({ traceparent: PARENT, tracestate })
  expect(pass('vendor=a1,x@y=b c')).toEqual({ traceparent: PARENT, tracestate: 'vendor=a1,x@y=b c' })
  for (const invalid of ['', 'Upper=1', 'a', 'a=b=c', `a=${'x'.repeat(600)}`, `${'a=1,'.repeat(32)}b=2`])
    expect(pass(invalid), invalid).toEqual({ traceparent: PARENT })
  expect(passedTrace({ tracestate: 'vendor=a1' })).toBeUndefined()
  expect(passedTrace({ traceparent: 'x', tracestate: 'vendor=a1' })).toBeUndefined()
})
