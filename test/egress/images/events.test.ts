import { expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'

const REQUEST: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: true }

test('an answer of many texts in place of an image is collected in linear time', () => {
  const events = WRITERS['images']!.events!(REQUEST)
  events.push({ type: 'result-start' })
  const began = performance.now()
  for (let part = 0; part < 50_000; part++) {
    const at = { candidate: 0, part }
    events.push({ type: 'part-start', at, part: { type: 'text', text: '' } })
    events.push({ type: 'part-delta', at, append: `text ${part} ` })
    events.push({ type: 'part-end', at })
  }
  expect(performance.now() - began).toBeLessThan(2000)
  const last = events.push({ type: 'result-end' }).at(-1)!
  expect(last.data).toContain('text 1 ')
})
