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

const CITING = { groundingChunks: [{ web: { uri: 'http://a.example' } }], webSearchQueries: ['boats'] }

/** The events of a stream whose last event has other grounding metadata than the event before. */
const streamWith = (last: Json) =>
  drain(read!(asked), [
    event({ content: { parts: [{ text: 'A boat.' }] } }),
    event({ groundingMetadata: CITING }),
    event({ finishReason: 'STOP', groundingMetadata: last }),
  ])

const again = (events: ReturnType<typeof streamWith>) => fold(drain(read!(asked), drain(write!(asked), events)))

test('empty grounding metadata of a last event take back neither citations nor searches', () => {
  const events = streamWith({})
  const [candidate] = fold(events).candidates
  expect(candidate!.content).toMatchObject([
    { type: 'text', text: 'A boat.', annotations: [{ type: 'citation', url: 'http://a.example' }] },
    { type: 'search-call', queries: ['boats'] },
    { type: 'search-result', sources: [{ url: 'http://a.example' }] },
  ])
  expect(again(events).candidates[0]!.content).toMatchObject(candidate!.content)
})

test('grounding metadata without citations add to those of earlier events', () => {
  const last = { googleMapsWidgetContextToken: 'token', webSearchQueries: ['ships'] }
  const events = streamWith(last)
  const [candidate] = fold(events).candidates
  expect(candidate!.content).toMatchObject([
    { type: 'text', annotations: [{ url: 'http://a.example' }] },
    { type: 'search-call', queries: ['ships'] },
    { type: 'search-result', sources: [{ url: 'http://a.example' }] },
  ])
  expect(again(events).candidates[0]!.content).toMatchObject(candidate!.content)
  const metadata = drain(write!(asked), events).flatMap(
    ({ data }) => JSON.parse(data).candidates?.[0].groundingMetadata ?? [],
  )
  expect(metadata.at(-1)).toEqual({ ...CITING, ...last })
})
