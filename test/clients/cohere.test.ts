import { createCohere } from '@ai-sdk/cohere'
import { generateText, streamText } from 'ai'
import { describe, expect, test } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { CanonicalResult, Usage } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { STREAM_REQUEST } from '../builders/requests.ts'

/* AI SDK's Cohere provider, which checks each answer against a schema, with answers of other formats. */

const CITED: Part = {
  type: 'text',
  text: 'High water is at noon.',
  annotations: [
    { type: 'citation', url: 'https://tides.example/', title: 'Tides', quote: 'noon', start: 17, end: 21 },
    { type: 'citation', url: 'https://sea.example/' },
  ],
}
const answerOf = (usage: Usage | undefined): CanonicalResult => ({
  id: 'a',
  candidates: [{ content: [CITED], finish: { reason: 'stop' } }],
  ...(usage === undefined ? {} : { usage }),
})

const model = (body: string, type: string) =>
  createCohere({
    baseURL: 'http://127.0.0.1:1',
    apiKey: 'k',
    fetch: async () => new Response(body, { headers: { 'content-type': type } }),
  })('m')

const COUNTS: readonly [string, Usage | undefined, number | undefined][] = [
  ['counts', { input: 7, output: 3 }, 7],
  ['one count', { output: 3 }, 0],
  ['no counts', undefined, 0],
]

describe.each(COUNTS)('an answer with pages that it cites, and %s', (_, usage, inputTokens) => {
  test('as a whole', async () => {
    const { wire } = WRITERS['cohere-chat']!.result!(answerOf(usage), STREAM_REQUEST)
    const answer = await generateText({ model: model(JSON.stringify(wire.body), 'application/json'), prompt: 'Tides?' })
    expect(answer.text).toBe('High water is at noon.')
    expect(answer.sources.map(source => 'title' in source && source.title)).toEqual(['Tides', 'Document'])
    expect(answer.usage.inputTokens).toBe(inputTokens)
  })

  test('as a stream', async () => {
    const events = drain(WRITERS['cohere-chat']!.events!(STREAM_REQUEST), unfold(answerOf(usage)))
    const body = events.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join('')
    const answer = streamText({ model: model(body, 'text/event-stream'), prompt: 'Tides?' })
    expect(await answer.text).toBe('High water is at noon.')
    expect(await answer.finishReason).toBe('stop')
    expect((await answer.usage).inputTokens).toBe(inputTokens)
  })
})
