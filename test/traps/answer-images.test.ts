import { describe, expect, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { STREAM_REQUEST } from '../builders/requests.ts'
import { eventOf } from '../builders/streams.ts'

/* Images in the answers of conversations. Chat has them beside the content, as OpenRouter does. */
const DATA = Buffer.from('a picture').toString('base64')
const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${DATA}` } }
const PART = { type: 'media', kind: 'image', source: { type: 'base64', mediaType: 'image/png', data: DATA } }

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Wire = any
const told = (from: string, to: string, wire: readonly WireEvent[]): Wire[] =>
  drain(chain(READERS[from]!.events!(STREAM_REQUEST), WRITERS[to]!.events!(STREAM_REQUEST)), wire)
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data))
const whole = (from: string, to: string, body: Wire): Wire =>
  WRITERS[to]!.result!(READERS[from]!.result!({ status: 200, headers: {}, body }, STREAM_REQUEST), STREAM_REQUEST).wire
    .body

const DRAWN = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: DATA, output_format: 'png' }
const RESPONSE = { id: 'resp_1', created_at: 1, model: 'm', status: 'completed', output: [DRAWN] }
const CONTENTS = {
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: DATA } }] },
      finishReason: 'STOP',
      index: 0,
    },
  ],
}
const MESSAGE = { role: 'assistant', content: 'Here.', refusal: null, images: [IMAGE] }
const COMPLETION = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
const CHAT = { ...COMPLETION, choices: [{ index: 0, message: MESSAGE, logprobs: null, finish_reason: 'stop' }] }

describe('pictures for callers of chat', () => {
  it('come from responses upstreams', () => {
    expect(whole('responses', 'chat', RESPONSE).choices[0].message).toMatchObject({ content: '', images: [IMAGE] })
    const chunks = told('responses', 'chat', [
      eventOf({ type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } }),
      eventOf({
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...DRAWN, status: 'in_progress', result: null },
      }),
      eventOf({ type: 'response.output_item.done', output_index: 0, item: DRAWN }),
      eventOf({ type: 'response.completed', response: RESPONSE }),
    ])
    expect(chunks.flatMap(({ choices }) => choices[0]?.delta.images ?? [])).toEqual([IMAGE])
    expect(chunks.at(-1).choices[0].finish_reason).toBe('stop')
  })

  it('come from contents upstreams', () => {
    expect(whole('contents', 'chat', CONTENTS).choices[0].message).toMatchObject({ content: 'Here.', images: [IMAGE] })
    const chunks = told('contents', 'chat', [eventOf(CONTENTS)])
    expect(chunks.flatMap(({ choices }) => choices[0]?.delta.images ?? [])).toEqual([IMAGE])
  })
})

describe('pictures of chat upstreams', () => {
  it('are read, complete and streamed', () => {
    const result = READERS['chat']!.result!({ status: 200, headers: {}, body: CHAT }, STREAM_REQUEST)
    expect(result.candidates[0]!.content).toMatchObject([{ type: 'text' }, PART])
    const chunk = (delta: Wire, finish_reason: string | null = null) =>
      eventOf({ ...COMPLETION, choices: [{ index: 0, delta, finish_reason }] })
    const wire = [chunk({ content: 'Here.' }), chunk({ images: [IMAGE] }), chunk({}, 'stop'), { data: '[DONE]' }]
    expect(fold(drain(READERS['chat']!.events!(STREAM_REQUEST), wire)).candidates[0]!.content).toMatchObject([
      { type: 'text' },
      PART,
    ])
    expect(told('chat', 'responses', wire).at(-1).response.output[1]).toMatchObject({
      result: DATA,
      output_format: 'png',
    })
    expect(JSON.stringify(told('chat', 'contents', wire))).toContain(DATA)
  })

  it('come to callers of chat unchanged', () => {
    const marked = { ...IMAGE, index: 0 }
    const body = { ...CHAT, choices: [{ ...CHAT.choices[0], message: { ...MESSAGE, images: [marked] } }] }
    expect(whole('chat', 'chat', body)).toEqual(body)
  })

  it('stay what they are where they are no such pictures', () => {
    const body = { ...CHAT, choices: [{ ...CHAT.choices[0], message: { ...MESSAGE, images: ['?'] } }] }
    expect(whole('chat', 'chat', body)).toEqual(body)
  })
})

describe('pictures that a model drew earlier in the conversation', () => {
  const SKIP = 'skip_thought_signature_validator'
  const [asks, wants] = ['Draw a cat.', 'Now in red.']
  const HISTORIES: { readonly [format: string]: Wire } = {
    chat: { model: 'm', messages: [{ role: 'user', content: asks }, MESSAGE, { role: 'user', content: wants }] },
    responses: {
      model: 'm',
      input: [
        { role: 'user', content: asks },
        { role: 'assistant', content: 'Here.' },
        DRAWN,
        { role: 'user', content: wants },
      ],
    },
  }
  const sent = (from: string, to: string, dialect: Wire = {}): Wire => {
    const path = from === 'chat' ? '/v1/chat/completions' : '/v1/responses'
    const request = READERS[from]!.request!({ path, query: {}, headers: {}, body: HISTORIES[from] })
    return WRITERS[to]!.request!(request, { dialect, native: false })
  }
  const inlineData = { mimeType: 'image/png', data: DATA }

  it.each(['chat', 'responses'])('reach Gemini from callers of %s', from => {
    const { wire, losses } = sent(from, 'contents')
    expect(wire.body.contents[1]).toEqual({ role: 'model', parts: [{ text: 'Here.' }, { inlineData }] })
    expect(losses.filter(({ kind }: Wire) => kind === 'dropped')).toEqual([])
    expect(sent(from, 'interactions').wire.body.input[1].content).toEqual([
      { type: 'text', text: 'Here.' },
      { type: 'image', data: DATA, mime_type: 'image/png' },
    ])
  })

  it.each(['chat', 'responses'])('carry the word that image models of Gemini 3 demand, from callers of %s', from => {
    const { parts } = sent(from, 'contents', { signed_turns: true }).wire.body.contents[1]
    expect(parts).toEqual([
      { text: 'Here.', thoughtSignature: SKIP },
      { inlineData, thoughtSignature: SKIP },
    ])
  })

  it('keep the signature that the caller returned', () => {
    const drawn = { parts: [{ text: 'Here.' }, { inlineData, thoughtSignature: 'c2lnbmVk' }], role: 'model' }
    const { output } = whole('contents', 'responses', { candidates: [{ content: drawn, finishReason: 'STOP' }] })
    const input = [{ role: 'user', content: asks }, ...output, { role: 'user', content: wants }]
    const body = { model: 'm', input }
    const request = READERS['responses']!.request!({ path: '/v1/responses', query: {}, headers: {}, body })
    const { wire } = WRITERS['contents']!.request!(request, { dialect: { signed_turns: true }, native: false })
    expect((wire.body as Wire).contents[1].parts).toEqual([
      { text: 'Here.', thoughtSignature: SKIP },
      { inlineData, thoughtSignature: 'c2lnbmVk' },
    ])
  })

  it('leave parts of unknown kinds as they came', () => {
    const contents = [{ role: 'model', parts: [{ novel: { a: 1 } }, { text: 'Here.' }] }]
    const wire = { path: '/v1beta/models/m:generateContent', query: {}, headers: {}, body: { contents } }
    const request = READERS['contents']!.request!(wire)
    const written = WRITERS['contents']!.request!(request, { dialect: { signed_turns: true }, native: false }).wire
    expect((written.body as Wire).contents[0].parts).toEqual([
      { novel: { a: 1 } },
      { text: 'Here.', thoughtSignature: SKIP },
    ])
  })

  it.each(['chat', 'responses', 'messages', 'converse', 'cohere-chat'])(
    'are a reported loss for %s, whose assistants draw nothing',
    to => {
      const { losses } = sent(to === 'chat' ? 'responses' : 'chat', to)
      expect(losses).toContainEqual(expect.objectContaining({ kind: 'dropped', path: ['messages', 1, 'content', 1] }))
    },
  )

  it('are located where the caller put them', () => {
    const body = HISTORIES['chat']
    const request = READERS['chat']!.request!({ path: '/v1/chat/completions', query: {}, headers: {}, body })
    expect(READERS['chat']!.locate!(request)(['messages', 1, 'content', 1])).toEqual(['messages', 1, 'images', 0])
  })
})
