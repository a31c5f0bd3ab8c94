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

/** Metadata that cite one page for a passage of the text. */
const citing = (uri: string, startIndex: number, text: string, chunk = 0) => ({
  groundingChunks: [{ web: { uri } }],
  groundingSupports: [
    { segment: { startIndex, endIndex: startIndex + text.length, text }, groundingChunkIndices: [chunk] },
  ],
  webSearchQueries: [`who says ${text}`],
})

test('an event with other citations takes back none of an earlier event', () => {
  const [a, b] = [citing('http://a.example', 0, 'One.'), citing('http://b.example', 5, 'Two.')]
  const events = drain(read!(asked), [
    event({ content: { parts: [{ text: 'One. ' }] }, groundingMetadata: a }),
    event({ content: { parts: [{ text: 'Two.' }] }, groundingMetadata: b }),
    event({ finishReason: 'STOP', groundingMetadata: {} }),
  ])
  const [candidate] = fold(events).candidates
  expect(candidate!.content).toMatchObject([
    {
      type: 'text',
      annotations: [
        { url: 'http://a.example', start: 0, end: 4 },
        { url: 'http://b.example', start: 5, end: 9 },
      ],
    },
    { type: 'search-call', queries: ['who says One.', 'who says Two.'] },
    { type: 'search-result', sources: [{ url: 'http://a.example' }, { url: 'http://b.example' }] },
  ])
  expect(again(events).candidates[0]!.content).toMatchObject(candidate!.content)
  const metadata = drain(write!(asked), events).flatMap(
    ({ data }) => JSON.parse(data).candidates?.[0].groundingMetadata ?? [],
  )
  expect(metadata.at(-1)).toEqual({
    groundingChunks: [...a.groundingChunks, ...b.groundingChunks],
    groundingSupports: [...a.groundingSupports, ...citing('http://b.example', 5, 'Two.', 1).groundingSupports],
    webSearchQueries: ['who says One.', 'who says Two.'],
  })
})

test('an event that repeats the citations of earlier events is written as it came', () => {
  const [a, b] = [citing('http://a.example', 0, 'One.'), citing('http://b.example', 5, 'Two.')]
  const both = {
    groundingChunks: [...b.groundingChunks, ...a.groundingChunks],
    groundingSupports: [...b.groundingSupports, ...citing('http://a.example', 0, 'One.', 1).groundingSupports],
  }
  const events = drain(read!(asked), [
    event({ content: { parts: [{ text: 'One. Two.' }] }, groundingMetadata: a }),
    event({ finishReason: 'STOP', groundingMetadata: both }),
  ])
  const metadata = drain(write!(asked), events).flatMap(
    ({ data }) => JSON.parse(data).candidates?.[0].groundingMetadata ?? [],
  )
  expect(metadata.at(-1)).toEqual(both)
})
