import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { unwrapReasoning, wrapReasoning } from '../../src/canonical/signature.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { REQUEST } from '../builders/requests.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

/* Traps 90, 91, 92 and 102: reasoning and signatures on their way through the signature fields of each format. */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = any
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const google = (...parts: JsonObject[]): JsonObject => ({ content: { role: 'model', parts }, index: 0 })
const chunk = (candidate: JsonObject): { data: string } => ({
  data: JSON.stringify({ candidates: [candidate], modelVersion: 'm', responseId: 'r' }),
})
const END = { finishReason: 'STOP' }

/** Returns Google's stream as the callers of a format get it. */
const through = (format: string, ...candidates: JsonObject[]): Loose[] =>
  drain(chain(READERS['contents']!.events!(REQUEST), WRITERS[format]!.events!(REQUEST)), candidates.map(chunk)).flatMap(
    ({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]),
  )

/** Returns the history of turns that an upstream of a format gets. */
const sentTo = (target: string, format: string, body: JsonObject, dialect: JsonObject = {}): Loose => {
  const path = format === 'contents' ? '/v1beta/models/m:generateContent' : '/v1'
  const asked = READERS[format]!.request!({ path, query: {}, headers: {}, body })
  return WRITERS[target]!.request!(asked, { dialect, native: format === target }).wire.body
}

const result = (...content: Part[]) => ({
  ...{ id: 'r', model: 'm', createdAt: 1 },
  candidates: [{ content, finish: { reason: 'stop' as const } }],
})
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'f', arguments: '{}' })
const thought = (text: string, format?: string): Part => ({
  type: 'reasoning',
  text,
  ...(format === undefined ? {} : { signature: { format, value: 'proof' } }),
})
const contentsOf = (...content: Part[]): Loose[] =>
  drain(WRITERS['contents']!.events!(REQUEST), [...unfold(result(...content))]).map(({ data }) => JSON.parse(data))
const partsOf = (events: readonly Loose[]): Loose[] => events.flatMap(({ candidates: [one] }) => one.content.parts)

describe('trap 90: a part without data is an empty text, as Google has it', () => {
  const cited = (text: string): Part => ({
    type: 'text',
    text,
    annotations: [{ type: 'citation', url: 'https://a.example' }],
  })

  it('between two texts or two thoughts, and at the end of a stream', () => {
    for (const content of [
      [cited('a'), cited('b')],
      [thought('a'), thought('b'), call('c')],
    ]) {
      const parts = partsOf(contentsOf(...content))
      expect(parts).toContainEqual({ text: '' })
      for (const part of parts) expect(part).not.toHaveProperty('thought', false)
      expect(parts.at(-1)).toEqual({ text: '' })
    }
  })

  it('nor is a signature without text, which is on an empty text part', () => {
    const [candidate] = WRITERS['contents']!.result!(result(thought('', 'messages')), REQUEST).wire.body[
      'candidates'
    ] as Loose
    expect(candidate.content.parts).toEqual([{ text: '', thoughtSignature: base64('il:messages:proof') }])
  })

  it('marks of earlier versions are still understood', () => {
    const parts = [{ text: 'a' }, { thought: false }]
    expect(sentTo('contents', 'contents', { contents: [{ role: 'model', parts }] }).contents[0].parts).toEqual([
      { text: 'a' },
    ])
  })
})

describe('trap 91: a signature is where Gemini puts it', () => {
  it('on the call or the text behind the thought, whoever made it, streamed and whole', () => {
    for (const format of ['messages', 'responses', 'contents', undefined]) {
      const streamed = partsOf(
        contentsOf(thought('Hm.', format), { type: 'text', text: 'Hi' }, thought('So.', format), call('c')),
      )
      const body = WRITERS['contents']!.result!(
        result(thought('Hm.', format), { type: 'text', text: 'Hi' }, thought('So.', format), call('c')),
        REQUEST,
      )
      const [candidate] = body.wire.body['candidates'] as Loose
      expect(candidate.content.parts).toEqual(streamed.slice(0, -1))
      expect(streamed).toEqual([
        { thought: true, text: 'Hm.' },
        { text: 'Hi', thoughtSignature: expect.any(String) },
        { thought: true, text: 'So.' },
        { functionCall: { id: 'c', name: 'f', args: {} }, thoughtSignature: expect.any(String) },
        { text: '' },
      ])
    }
  })

  it('Google’s own answers arrive unchanged, complete and streamed', () => {
    const parts = [
      { text: 'Hm,', thought: true },
      { text: ' yes.', thought: true },
      { text: 'Let me', thoughtSignature: 'c2ln' },
      { text: ' look.' },
      { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2lnMg==' },
    ]
    const stream = [
      ...parts.map(part => google(part)),
      { ...google({ text: '', thoughtSignature: 'c2lnMw==' }), ...END },
    ]
    expect(through('contents', ...stream).map(({ candidates: [one] }) => one)).toEqual(stream)
    const body = { candidates: [{ ...google(...parts), ...END }], modelVersion: 'm', responseId: 'r' }
    const read = READERS['contents']!.result!({ status: 200, headers: {}, body }, REQUEST)
    expect(WRITERS['contents']!.result!(read, REQUEST).wire.body).toEqual(body)
  })

  it('callers of every format return Google’s signature to its position', () => {
    const wire = [
      { text: 'Hm.', thought: true },
      { functionCall: { id: 'c', name: 'f', args: {} }, thoughtSignature: 'c2ln' },
    ]
    const answer = READERS['contents']!.result!(
      { status: 200, headers: {}, body: { candidates: [{ ...google(...wire), ...END }] } },
      REQUEST,
    )
    const { body: message } = WRITERS['messages']!.result!(answer, REQUEST).wire
    expect((message['content'] as Loose).map(({ type }: Loose) => type)).toEqual(['thinking', 'tool_use'])
    const messages = [{ role: 'assistant', content: message['content']! }]
    expect(sentTo('contents', 'messages', { model: 'm', max_tokens: 9, messages }).contents.at(-1).parts).toEqual(wire)
    const { body: response } = WRITERS['responses']!.result!(answer, REQUEST).wire
    expect(sentTo('contents', 'responses', { model: 'm', input: response['output']! }).contents.at(-1).parts).toEqual(
      wire,
    )
    const { body: completion } = WRITERS['chat']!.result!({ ...answer, id: 'r', model: 'm' }, REQUEST).wire
    const [{ message: said }] = completion['choices'] as Loose
    expect(said).toMatchObject({ reasoning_content: 'Hm.' })
    expect(sentTo('contents', 'chat', { model: 'm', messages: [said] }).contents.at(-1).parts).toEqual(wire)
  })

  it('what Google thought and proved is one item of responses, complete and streamed', () => {
    const stream = [
      google({ text: 'Hm,', thought: true }),
      google({ text: ' yes.', thought: true }),
      { ...google({ functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }), ...END },
    ]
    const done = through('responses', ...stream).filter(({ type }) => type === 'response.output_item.done')
    expect(done.map(({ item }) => item.type)).toEqual(['reasoning', 'function_call'])
    expect(done[0].item).toMatchObject({ summary: [{ text: 'Hm, yes.' }], encrypted_content: expect.any(String) })
  })

  it('streaming callers of messages also get a signature after the last text', () => {
    const events = through('messages', google({ text: 'Hi' }), {
      ...google({ text: '', thoughtSignature: 'c2ln' }),
      ...END,
    })
    const starts = events.filter(({ type }) => type === 'content_block_start')
    expect(starts.map(({ content_block }) => content_block.type)).toEqual(['text', 'thinking'])
    const [{ delta }] = events.filter(({ delta }) => delta?.type === 'signature_delta')
    expect(unwrapReasoning(delta.signature, 'messages')).toEqual([{ signature: { format: 'contents', value: 'c2ln' } }])
  })
})

describe('trap 92: thoughts that nobody signed come back', () => {
  const CHAT = { reasoning_field: 'reasoning_content' }
  const answer = result(thought('I need it.'), call('call_1'))

  it('from a client of contents that hands back the slot alone', () => {
    const parts = partsOf(contentsOf(...answer.candidates[0]!.content)).filter(part => part.thought === undefined)
    const { messages } = sentTo('chat', 'contents', { contents: [{ role: 'model', parts }] }, CHAT)
    expect(messages).toMatchObject([{ role: 'assistant', reasoning_content: 'I need it.', tool_calls: [{}] }])
  })

  it('from a client of responses that hands back encrypted content alone', () => {
    const output = WRITERS['responses']!.result!(answer, REQUEST).wire.body['output'] as Loose
    const [{ encrypted_content }, item] = output
    const input = [{ type: 'reasoning', summary: [], encrypted_content }, item]
    const { messages } = sentTo('chat', 'responses', { model: 'm', input }, CHAT)
    expect(messages).toMatchObject([{ role: 'assistant', reasoning_content: 'I need it.', tool_calls: [{}] }])
  })

  it('from a client of messages that hands back the signature alone', () => {
    const content = WRITERS['messages']!.result!(answer, REQUEST).wire.body['content'] as Loose
    const messages = [{ role: 'assistant', content: [{ ...content[0], thinking: '' }, content[1]] }]
    const sent = sentTo('chat', 'messages', { model: 'm', max_tokens: 9, messages }, CHAT)
    expect(sent.messages).toMatchObject([{ role: 'assistant', reasoning_content: 'I need it.', tool_calls: [{}] }])
  })

  it('but never to an upstream that requires signatures', () => {
    const output = WRITERS['responses']!.result!(answer, REQUEST).wire.body['output'] as Loose
    const withoutIds = output.map(({ id: _, ...item }: Loose) => item)
    const { input } = sentTo('responses', 'responses', { model: 'm', input: withoutIds })
    expect(input.map(({ type }: Loose) => type)).toEqual(['function_call'])
  })

  it('through the whole gateway: the second step of a client that strips thoughts has reasoning_content', async () => {
    const said = (delta: JsonObject, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const tool_calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const frames = [
      ...[said({ role: 'assistant', reasoning_content: 'I need' }), said({ reasoning_content: ' it.' })],
      ...[said({ tool_calls }), said({}, 'tool_calls'), 'data: [DONE]\n\n'],
    ]
    const upstream = await FakeUpstream.open(response =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join('')),
    )
    const testServer = await TestServer.open([channelAt(upstream.address, { dialect: CHAT })])
    const path = '/v1beta/models/m:streamGenerateContent?alt=sse'
    const user = { role: 'user', parts: [{ text: 'Go!' }] }
    const generationConfig = { thinkingConfig: { includeThoughts: true } }
    const { text } = await testServer.ask(path, { contents: [user], generationConfig })
    const parts = partsOf(
      text.split('\n').flatMap(line => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : [])),
    )
    const model = { role: 'model', parts: parts.filter(part => part.thought !== true) }
    const outcome = { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'x' } } }] }
    await testServer.ask(path, { contents: [user, model, outcome], generationConfig })
    await testServer.server.close(0)
    await upstream.close()
    const { messages } = JSON.parse(upstream.seen[1]!.text)
    expect(messages[1]).toMatchObject({ role: 'assistant', reasoning_content: 'I need it.' })
  })
})

it('trap 102: a text with a signature remains text, and the signature is sent separately', () => {
  const body = { candidates: [{ ...google({ text: 'Hi', thoughtSignature: 'c2ln' }), ...END }] }
  const answer = READERS['contents']!.result!({ status: 200, headers: {}, body }, REQUEST)
  const { content } = WRITERS['messages']!.result!(answer, REQUEST).wire.body as Loose
  expect(content.map(({ type, text }: Loose) => text ?? type)).toEqual(['thinking', 'Hi'])
  const events = through('messages', { ...google({ text: 'Hi', thoughtSignature: 'c2ln' }), ...END })
  expect(events.map(({ delta }) => delta?.text).join('')).toBe('Hi')
})

describe('pieces of one thought', () => {
  const piece = (text: string) => ({ role: 'model', parts: [{ text, thought: true }] })
  const model = (...parts: JsonObject[]) => ({ role: 'model', parts })
  const DIALECT = { reasoning_field: 'reasoning_content' }
  const thoughts = (...contents: JsonObject[]) =>
    sentTo('chat', 'contents', { contents }, DIALECT).messages.map((one: Loose) => one.reasoning_content)

  it('are joined without changes, in one turn of the model', () => {
    const contents = model({ text: 'Hm,', thought: true }, { text: ' yes.', thought: true }, { text: 'Hi' })
    expect(thoughts(contents)).toEqual(['Hm, yes.'])
  })

  it('are not of one thought where a text stands between', () => {
    const parts = [{ text: 'Hm.', thought: true }, { text: 'Hi' }, { text: 'So.', thought: true }]
    expect(thoughts(model(...parts))).toEqual(['Hm.\n\nSo.'])
  })

  it('go to Google unchanged', () => {
    const contents = [piece('Hm,'), piece(' yes.'), model({ text: 'Hi', thoughtSignature: 'c2ln' })]
    expect(sentTo('contents', 'contents', { contents }).contents).toEqual(contents)
  })
})

describe('trap 91: a text whose first chunk bears the envelope', () => {
  it('is one text again, in whatever chunks a client sends it back', () => {
    const events = [...unfold(result(thought('Hm.', 'messages'), { type: 'text', text: '' }))].flatMap(event =>
      event.type === 'part-end' && event.at.part === 1
        ? [...['Hel', 'lo ', 'you.'].map(append => ({ type: 'part-delta' as const, at: event.at, append })), event]
        : [event],
    )
    const streamed = partsOf(drain(WRITERS['contents']!.events!(REQUEST), events).map(({ data }) => JSON.parse(data)))
    // Agents drop reasoning and empty texts, and join chunks that contain only text.
    const [signed, ...others] = streamed.filter(part => !part.thought && part.text !== '')
    expect([signed.text, others]).toEqual(['Hel', [{ text: 'lo ' }, { text: 'you.' }]])
    for (const parts of [
      [signed, ...others],
      [signed, { text: 'lo you.' }],
    ]) {
      const contents = [
        { role: 'model', parts },
        { role: 'user', parts: [{ text: 'Go on.' }] },
      ]
      const { messages } = sentTo('chat', 'contents', { contents }, { text_only_content: 'string' })
      expect(messages[0]).toEqual({ role: 'assistant', content: 'Hello you.' })
    }
  })
})

describe('envelopes', () => {
  const own = (value: string) => [{ signature: { format: 'contents', value } }]

  it('of earlier versions are still opened', () => {
    expect(unwrapReasoning(base64('il:messages:proof'), 'contents')).toEqual([
      { signature: { format: 'messages', value: 'proof' } },
    ])
    expect(unwrapReasoning(base64('il:unsigned:'), 'messages')).toEqual([])
    const hidden = base64(`il:redacted:${base64('il:messages:proof')}`)
    expect(unwrapReasoning(hidden, 'responses')).toEqual([
      { signature: { format: 'messages', value: 'proof' }, redacted: true },
    ])
  })

  it('hold what they were given', () => {
    const thoughts = [
      { text: 'Hm, yäs.', signature: { format: 'messages', value: 'a' } },
      { signature: { format: 'responses', value: 'b' }, redacted: true as const },
      { text: 'So.' },
    ]
    expect(unwrapReasoning(wrapReasoning(thoughts, 'contents'), 'contents')).toEqual(thoughts)
    expect(unwrapReasoning('c2ln', 'contents')).toEqual(own('c2ln'))
  })

  it.each([
    'aWw6',
    'aWw6!!!',
    base64('il:'),
    base64('il:[]'),
    base64('il:[{]'),
    base64('il:{"text":"a"}'),
    base64('il:[1,null,"x",[],{}]'),
    base64('il:[{"text":7,"format":"x","value":[]}]'),
    base64('il:[{"format":"../x","value":"v"}]'),
    base64(`il:${'['.repeat(100_000)}`),
    base64(`il:contents:${base64('il:messages:x')}`),
    base64(`il:[{"format":"contents","value":"${base64('il:messages:x')}"}]`),
    base64(`il:redacted:${base64(`il:redacted:${base64('il:redacted:x')}`)}`).slice(0, 40),
  ])('that are damaged or made up hold nothing, and reach nobody: %s', value => {
    expect(unwrapReasoning(value, 'contents').filter(({ signature }) => signature?.value.startsWith('aWw6'))).toEqual(
      [],
    )
    const part = { functionCall: { name: 'f', args: {} }, thoughtSignature: value }
    const body = { contents: [{ role: 'model', parts: [{ text: 'Hm.', thought: true }, part] }] }
    for (const target of ['contents', 'messages', 'responses', 'chat'])
      expect(JSON.stringify(sentTo(target, 'contents', body))).not.toContain(value)
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: value }
    const messages = [{ role: 'assistant', content: [thinking, { type: 'redacted_thinking', data: value }] }]
    expect(JSON.stringify(sentTo('messages', 'messages', { model: 'm', max_tokens: 9, messages }))).not.toContain(value)
    const input = [{ type: 'reasoning', summary: [], encrypted_content: value }]
    expect(JSON.stringify(sentTo('responses', 'responses', { model: 'm', input }))).not.toContain(value)
  })

  it('hold a bounded number of thoughts', () => {
    const many = base64(`il:${JSON.stringify(Array.from({ length: 100_000 }, () => ({ text: 'a' })))}`)
    expect(unwrapReasoning(many, 'contents').length).toBeLessThan(1000)
  })

  it('after a switch to Google between calls, a foreign signature is replaced by Google’s value for none (trap 31)', () => {
    const parts = partsOf(contentsOf(thought('Hm.', 'messages'), call('a'), call('b'))).slice(0, -1)
    const sent = sentTo('contents', 'contents', { contents: [{ role: 'model', parts }] }).contents[0].parts
    expect(sent.map(({ thoughtSignature }: Loose) => thoughtSignature)).toEqual([
      undefined,
      'skip_thought_signature_validator',
      undefined,
    ])
  })

  it.each(['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'])(
    'the word %s that clients send for none is no signature for another upstream (trap 31)',
    word => {
      const parts = [{ functionCall: { name: 'f', args: {} }, thoughtSignature: word }]
      const sent = sentTo('messages', 'contents', {
        contents: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          { role: 'model', parts },
        ],
      })
      expect(JSON.stringify(sent)).not.toContain(word)
      const step = { type: 'function_call', id: 'a', name: 'f', arguments: {}, signature: word }
      expect(JSON.stringify(sentTo('messages', 'interactions', { model: 'm', input: [step] }))).not.toContain(word)
    },
  )

  it('an upstream that answers in envelopes is understood, streamed as whole', () => {
    const content = [thought('a', 'messages'), thought('b', 'messages'), call('c')]
    const events = drain(WRITERS['contents']!.events!(REQUEST), [...unfold(result(...content))])
    const got = fold(drain(READERS['contents']!.events!(REQUEST), events)).candidates[0]!.content
    expect(got).toMatchObject(content)
  })
})

it('losses of a history: what Google signed goes nowhere else, and says so', () => {
  const body = {
    contents: [
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { text: 'Hi', thoughtSignature: 'c2ln' },
        ],
      },
    ],
  }
  const asked = READERS['contents']!.request!({
    path: '/v1beta/models/m:generateContent',
    query: {},
    headers: {},
    body,
  })
  expect(WRITERS['messages']!.request!(asked, FOREIGN).losses).toContainEqual(
    expect.objectContaining({ kind: 'dropped', path: ['messages', 0, 'content', 0], reason: 'signed-by-another' }),
  )
  expect(WRITERS['contents']!.request!(asked, NATIVE).losses).toEqual([])
})
