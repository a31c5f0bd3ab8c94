import { expect, test } from 'vitest'
import { fold } from '../../../src/canonical/fold.ts'
import type { Json } from '../../../src/canonical/node.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { asked } from '../../laws/arbitrary-result.ts'

const { events: read } = READERS['contents']!
const { events: write } = WRITERS['contents']!

const event = (candidate: Json) => ({ data: JSON.stringify({ candidates: [candidate] }) })

test('empty grounding metadata of a last event take back neither citations nor searches', () => {
  const groundingMetadata = { groundingChunks: [{ web: { uri: 'http://a.example' } }], webSearchQueries: ['boats'] }
  const events = drain(read!(asked), [
    event({ content: { parts: [{ text: 'A boat.' }] } }),
    event({ groundingMetadata }),
    event({ finishReason: 'STOP', groundingMetadata: {} }),
  ])
  const [candidate] = fold(events).candidates
  expect(candidate!.content).toMatchObject([
    { type: 'text', text: 'A boat.', annotations: [{ type: 'citation', url: 'http://a.example' }] },
    { type: 'search-call', queries: ['boats'] },
    { type: 'search-result', sources: [{ url: 'http://a.example' }] },
  ])
  const [again] = fold(drain(read!(asked), drain(write!(asked), events))).candidates
  expect(again!.content).toMatchObject(candidate!.content)
})
