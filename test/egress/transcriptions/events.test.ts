import { expect, test } from 'vitest'
import { parseObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'

const REQUEST: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: true }

test('words that arrive one at a time are collected in linear time', () => {
  const events = WRITERS['transcriptions']!.events!(REQUEST)
  const count = 100_000
  events.push({ type: 'result-start' })
  const began = performance.now()
  for (let at = 0; at < count; at++)
    events.push({ type: 'transcript', candidate: 0, transcript: { words: [{ word: 'w', start: at, end: at + 1 }] } })
  expect(performance.now() - began).toBeLessThan(2000)
  const [last] = events.push({ type: 'result-end' }).filter(({ data }) => data.includes('transcript.text.done'))
  expect(parseObject(last!.data)!['words']).toHaveLength(count)
})
