import { describe, expect, it, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { applyEvent, EMPTY_RESULT } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { interactions as writer } from '../../src/egress/interactions/index.ts'
import { interactions as reader } from '../../src/ingress/interactions/index.ts'

const ASKED: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: true }

const read = (body: JsonObject) =>
  reader.request!({ path: '/v1beta/interactions', query: {}, headers: {}, body: { model: 'm', input: 'Hi', ...body } })
const written = (request: CanonicalRequest) => writer.request!(request, { dialect: {}, native: false })

const CREATED = { event_type: 'interaction.created', interaction: { id: 'v1_a', status: 'in_progress' } }
const COMPLETED = { event_type: 'interaction.completed', interaction: { id: 'v1_a', status: 'completed' } }
const start = (index: unknown, step: unknown): object => ({ event_type: 'step.start', index, step })
const delta = (index: unknown, delta: unknown): object => ({ event_type: 'step.delta', index, delta })
const stop = (index: unknown, more = {}): object => ({ event_type: 'step.stop', index, ...more })

function eventsOf(wires: readonly object[]): readonly CanonicalEvent[] {
  const events = reader.events!(ASKED)
  return [...wires.flatMap(wire => [...events.push({ data: JSON.stringify(wire) })]), ...events.end()]
}

/** Returns the answer of a stream between its usual first and last event. */
function answerOf(...wires: readonly object[]) {
  return eventsOf([CREATED, ...wires, COMPLETED]).reduce((result, event) => applyEvent(result, event), EMPTY_RESULT)
}
const contentOf = (...wires: readonly object[]) => answerOf(...wires).candidates[0]?.content

describe('a streamed answer', () => {
  const mcp = { type: 'mcp_server_tool_call', id: 'c', name: 'find', server_name: 's' }

  it('has the arguments of a hosted call that arrive in chunks', () => {
    const pieces = ['{"a"', ':[1', ',2]}'].map(text => delta(0, { type: 'arguments_delta', arguments: text }))
    expect(contentOf(start(0, { ...mcp, arguments: {} }), ...pieces, stop(0))).toEqual([
      { type: 'opaque', format: 'interactions', value: { ...mcp, arguments: { a: [1, 2] } } },
    ])
    expect(contentOf(start(0, mcp), delta(0, { type: 'arguments_delta', arguments: '{"a' }), stop(0))).toEqual([
      { type: 'opaque', format: 'interactions', value: { ...mcp, arguments: '{"a' } },
    ])
  })

  it('is read without steps that began, with indexes used twice, and with stops of nothing', () => {
    const text = (said: string) => ({ type: 'text', text: said })
    expect(contentOf(delta(3, text('a')), stop(9), start(3, { type: 'model_output' }), delta(3, text('b')))).toEqual([
      text('a'),
      text('b'),
    ])
  })

  it.each([
    [start({}, 5), delta([], []), stop(null, { usage: 5 })],
    [delta(0, { type: 'text', text: 5 }), delta(0, { type: 'audio', data: {} }), delta(0, null)],
    [start(0, { type: 'function_call', name: 5, id: [] }), delta(0, { type: 'arguments_delta', arguments: 5 })],
    [start(0, { type: 'thought', summary: {} }), delta(0, { type: 'thought_summary', content: [] })],
    [delta(0, { type: 'text_annotation_delta', annotations: [5, { type: 'url_citation', start_index: 'x' }] })],
  ])('with wrong types ends as usual: %j', (...wires) => {
    expect(eventsOf([CREATED, ...wires, COMPLETED]).at(-1)).toMatchObject({ type: 'result-end' })
  })

  it('has no step twice whose index is not its position in the final list', () => {
    const steps = [
      { type: 'thought', summary: [{ type: 'text', text: 'Hm.' }] },
      { type: 'model_output', content: [{ type: 'text', text: 'Hello' }] },
    ]
    const completed = { ...COMPLETED, interaction: { ...COMPLETED.interaction, steps } }
    const streamed = steps.flatMap((step, index) => [start(index + 1, step), stop(index + 1)])
    const content = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello' },
    ]
    expect(contentOf(...streamed, completed)).toMatchObject(content)
    expect(contentOf(...streamed, completed)).toHaveLength(2)
    // A step that was not streamed is read from the final list.
    expect(contentOf(...streamed.slice(0, 2), completed)).toHaveLength(2)
  })

  it('takes linear time for citations between words beyond ASCII, read and written', () => {
    const cited = Array.from({ length: 10_000 }, (_, index) => [
      delta(0, { type: 'text', text: 'wörd, '.repeat(3) }),
      delta(0, {
        type: 'text_annotation_delta',
        annotations: [{ type: 'url_citation', url: 'u', start_index: index, end_index: index + 1 }],
      }),
    ])
    const stream = writer.events!(ASKED)
    const begun = performance.now()
    const events = eventsOf([CREATED, ...cited.flat(), COMPLETED])
    const count = events.map(event => stream.push(event).length).reduce((sum, length) => sum + length, 0)
    // Measuring the whole text for each citation takes half a minute.
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(count).toBeGreaterThan(2 * cited.length)
  })

  it('takes linear time for fields of a step that arrive one at a time', () => {
    const count = 10_000
    const deltas = Array.from({ length: count }, (_, index) => delta(0, { type: 'x', [`field_${index}`]: 1 }))
    const begun = performance.now()
    const [step] = contentOf(start(0, { type: 'x' }), ...deltas, stop(0))!
    // Copying the step with each delta takes half a minute.
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(step?.type === 'opaque' && Object.keys(step.value)).toHaveLength(count + 1)
  })

  it('locates citations in a text that grows, also inside a pair of two chunks', () => {
    const cite = (start_index: number, end_index: number) =>
      delta(0, {
        type: 'text_annotation_delta',
        annotations: [{ type: 'url_citation', url: 'u', start_index, end_index }],
      })
    const said = ['ab', 'é\ud83d', '\ude00c'].map(text => delta(0, { type: 'text', text }))
    const [text] = contentOf(said[0]!, cite(0, 2), said[1]!, cite(2, 4), said[2]!, cite(4, 8), cite(8, 9))!
    expect(text).toMatchObject({
      text: 'abé😀c',
      annotations: [
        { start: 0, end: 2 },
        { start: 2, end: 3 },
        { start: 3, end: 5 },
        { start: 5, end: 6 },
      ],
    })
  })

  it('locates citations that arrive before the text they cite', () => {
    const citation = { type: 'url_citation', url: 'u', start_index: 3, end_index: 6 }
    const located = { text: 'abcédef', annotations: [{ start: 3, end: 5 }] }
    const cite = delta(0, { type: 'text_annotation_delta', annotations: [citation] })
    const [a, b] = ['ab', 'cédef'].map(text => delta(0, { type: 'text', text }))
    expect(contentOf(cite, a!, b!)).toMatchObject([located])
    expect(contentOf(a!, cite, b!, stop(0))).toMatchObject([located])
    expect(contentOf(delta(0, { type: 'text', text: 'ab', annotations: [citation] }), b!)).toMatchObject([located])
    const image = delta(0, { type: 'image', data: 'aGk=', mime_type: 'image/png' })
    expect(contentOf(cite, a!, b!, image)).toMatchObject([located, { type: 'media' }])
    // Positions past the end of the whole text are its end.
    expect(contentOf(cite, a!)).toMatchObject([{ text: 'ab', annotations: [{ start: 2, end: 2 }] }])
  })

  it('ends the text that is made for citations of an ended step without text', () => {
    const cite = delta(0, { type: 'text_annotation_delta', annotations: [{ type: 'url_citation', url: 'u' }] })
    const events = eventsOf([CREATED, start(0, { type: 'model_output' }), stop(0), cite, COMPLETED])
    const types = events.map(event => event.type).filter(type => type.startsWith('part-'))
    expect(types).toEqual(['part-start', 'part-patch', 'part-end'])
  })

  it('has the usage of a status if its last event has none', () => {
    const usage = { total_input_tokens: 3, total_output_tokens: 4, total_tokens: 7 }
    const status = { event_type: 'interaction.status_update', interaction_id: 'v1_a', status: 'in_progress', usage }
    expect(answerOf(status).usage).toMatchObject({ input: 3, output: 4 })
  })

  test.each([
    ['resource_exhausted', 'rate-limited'],
    ['too_many_requests', 'rate-limited'],
    ['unauthenticated', 'unauthenticated'],
    ['deadline_exceeded', 'timed-out'],
    ['constructor', 'upstream-failed'],
  ])('that ends with the error %s is %s', (code, kind) => {
    const error = { event_type: 'error', error: { code, message: 'No.' } }
    expect(eventsOf([CREATED, error]).at(-1)).toMatchObject({ type: 'error', error: { kind, message: 'No.' } })
  })

  it('is relayed with the names of its events if the upstream writes only their types', () => {
    const relay = writer.nativeEvents!(ASKED)
    const events = reader.events!(ASKED)
    const relayed = [CREATED, start(0, { type: 'model_output' })].flatMap(event => {
      const wire = { data: JSON.stringify(event) }
      return [...relay.relay(wire, events.push(wire))]
    })
    expect(relayed.map(({ event }) => event)).toEqual(['interaction.created', 'step.start'])
  })
})

describe('raw samples', () => {
  const audio = { type: 'audio', mime_type: 'audio/l16', data: 'AAAA' }
  const typeOf = (content: JsonObject) => {
    const body = { id: 'v1_a', status: 'completed', steps: [{ type: 'model_output', content: [content] }] }
    const [part] = reader.result!({ status: 200, headers: {}, body }, ASKED).candidates[0]!.content
    return part?.type === 'media' && part.source.type === 'base64' ? part.source.mediaType : undefined
  }

  it.each<[JsonObject, string]>([
    [{ sample_rate: 16000 }, 'audio/l16;rate=16000'],
    [{ rate: 16000 }, 'audio/l16;rate=16000'],
    [{ sample_rate: 8000, channels: 2 }, 'audio/l16;rate=8000;channels=2'],
    [{}, 'audio/l16'],
    [{ sample_rate: -1 }, 'audio/l16'],
    [{ sample_rate: '16000' }, 'audio/l16'],
  ])('with %j are %s', (fields, mediaType) => {
    expect(typeOf({ ...audio, ...fields })).toBe(mediaType)
  })

  it.each<[string, JsonObject]>([
    ['audio/L16;codec=pcm;rate=24000', { mime_type: 'audio/l16', sample_rate: 24000 }],
    ['audio/pcm;rate=16000', { mime_type: 'audio/l16', sample_rate: 16000 }],
    ['audio/l16;rate=8000;channels=2', { mime_type: 'audio/l16', sample_rate: 8000, channels: 2 }],
    ['audio/wav', { mime_type: 'audio/wav' }],
  ])('of the type %s are written as the format has them', (mediaType, fields) => {
    const source = { type: 'base64', mediaType, data: 'AAAA' } as const
    const message = { role: 'user', content: [{ type: 'media', kind: 'audio', source }] } as const
    const { wire } = written({ ...ASKED, messages: [message] })
    const [step] = wire.body['input'] as readonly { readonly content: readonly JsonObject[] }[]
    expect(step!.content).toEqual([{ type: 'audio', data: 'AAAA', ...fields }])
  })
})

describe('`response_format`', () => {
  it('requests its modality from every upstream, whatever else an entry says', () => {
    const image = { type: 'image', mime_type: 'image/jpeg', aspect_ratio: '16:9' }
    expect(read({ response_format: image })).toMatchObject({
      output: { modalities: ['image'], image: { size: '16:9', mediaType: 'image/jpeg' } },
    })
    const audio = [{ type: 'audio', mime_type: 'audio/l16', sample_rate: 16000 }]
    expect(read({ response_format: audio })).toMatchObject({
      output: { modalities: ['audio'], audio: { mediaType: 'audio/pcm' } },
      extras: { interactions: { response_format: audio } },
    })
  })

  it('keeps the aspect ratios that only newer models have', () => {
    const output = { modalities: ['image'], image: { size: '1:4 2K' } } as const
    expect(written({ ...ASKED, output }).wire.body['response_format']).toEqual([
      { type: 'image', aspect_ratio: '1:4', image_size: '2K' },
    ])
  })
})
