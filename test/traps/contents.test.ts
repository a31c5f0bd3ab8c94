import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { contents as writer } from '../../src/egress/contents/index.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { shownLosses } from '../../src/egress/losses.ts'
import { contents as reader } from '../../src/ingress/contents/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { text, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { grammarFault } from '../laws/grammar.ts'

/* Traps of generateContent, each by its number. */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = any
const write = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}) =>
  writer.request!({ ...REQUEST, ...more }, { ...FOREIGN, dialect })
/** Returns the written body, without the turn of the user that stands before a call at the beginning. */
const body = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}): Loose => {
  const { wire, losses } = write(more, dialect)
  const written: Loose = wire.body
  const isOpened =
    more.messages?.[0]?.role === 'assistant' && losses.some(one => one.reason === 'the-user-speaks-first')
  return isOpened ? { ...written, contents: written.contents.slice(1) } : written
}
const turns = (...messages: Message[]): Loose => body({ messages }).contents
const read = (wire: JsonObject): CanonicalRequest =>
  reader.request!({ path: '/v1beta/models/m:generateContent', query: {}, headers: {}, body: wire })

const answer = (...candidates: JsonObject[]): CanonicalResult =>
  reader.result!({ status: 200, headers: {}, body: { candidates, responseId: 'r' } }, REQUEST)
const said = (...parts: JsonObject[]): JsonObject => ({ content: { role: 'model', parts }, finishReason: 'STOP' })
const event = (parts: JsonObject[], more: JsonObject = {}, top: JsonObject = {}) => ({
  data: JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], ...top }),
})
const END = { finishReason: 'STOP' }
const stream = (...events: { data: string }[]): CanonicalEvent[] => drain(reader.events!(REQUEST), events)
const parts = (result: CanonicalResult): readonly Part[] => result.candidates[0]!.content
const result = (content: Part[], more: Partial<CanonicalResult> = {}): CanonicalResult => ({
  ...{ id: 'r', model: 'm', createdAt: 1 },
  candidates: [{ content, finish: { reason: 'stop' } }],
  ...more,
})
const written = (from: CanonicalResult): Loose => writer.result!(from, REQUEST).wire.body
const chunks = (from: CanonicalResult): Loose[] =>
  drain(writer.events!(REQUEST), unfold(from)).map(({ data }) => JSON.parse(data))
const call = (id: string, name = 'f', args = '{"x":1}'): Part => ({ type: 'tool-call', id, name, arguments: args })
const proof = (value: string, format = 'contents'): Part => ({
  type: 'reasoning',
  text: '',
  signature: { format, value },
})
const back = (id: string, ...content: Part[]): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, content }],
})
const model = (...content: Part[]): Message => ({ role: 'assistant', content })
const SKIP = 'skip_thought_signature_validator'
const wireCall = (name: string, more: JsonObject = {}): JsonObject => ({ functionCall: { name, args: {}, ...more } })

describe('calls', () => {
  it('trap 5: parallel calls in events of their own stay two calls', () => {
    const got = fold(stream(event([wireCall('f')]), event([wireCall('f')], END)))
    expect(parts(got)).toMatchObject([{ id: 'call_0_f' }, { id: 'call_1_f' }])
  })

  it('trap 6: one id for all calls, or none, becomes an id for each, and results find their calls again', () => {
    const ids = (candidate: JsonObject) => parts(answer(candidate)).map(part => (part as { id: string }).id)
    expect(ids(said(wireCall('f', { id: 'r' }), wireCall('f', { id: 'r' })))).toEqual(['r', 'call_1_f'])
    const { messages } = read({
      contents: [
        { role: 'model', parts: [wireCall('f'), wireCall('g'), wireCall('f')] },
        {
          role: 'user',
          parts: ['g', 'f', 'f'].map(name => ({ functionResponse: { name, response: { result: name } } })),
        },
      ],
    })
    expect(messages[1]!.content.map(part => (part as { id: string }).id)).toEqual(['call_1_g', 'call_0_f', 'call_2_f'])
  })

  it('trap 6: an id minted for an answer is none the history has', () => {
    const history: CanonicalRequest = { ...REQUEST, messages: [model(call('call_1_f'))] }
    const wire = { candidates: [said(wireCall('f'))] }
    const got = reader.result!({ status: 200, headers: {}, body: wire }, history)
    expect(parts(got)).toMatchObject([{ id: 'call_2_f' }])
  })

  it('trap 8: a call without arguments has an empty object, once', () => {
    expect(parts(answer(said({ functionCall: { name: 'f' } })))).toMatchObject([{ arguments: '{}' }])
    expect(turns(model(call('a', 'f', '')))[0].parts[0].functionCall.args).toEqual({})
  })

  it('trap 9: an event with both text and finish loses neither', () => {
    const got = fold(stream(event([{ text: 'Hi' }], END, { usageMetadata: { promptTokenCount: 1 } })))
    expect(got).toMatchObject({
      candidates: [{ content: [text('Hi')], finish: { reason: 'stop' } }],
      usage: { input: 1 },
    })
  })

  it('trap 13: calls are the reason to stop, whatever the upstream says', () => {
    expect(answer(said(wireCall('f'))).candidates[0]!.finish).toEqual({ reason: 'tool-calls', raw: 'STOP' })
    expect(fold(stream(event([wireCall('f')], END))).candidates[0]!.finish?.reason).toBe('tool-calls')
    const { candidates } = written(
      result([call('a')], { candidates: [{ content: [call('a')], finish: { reason: 'tool-calls' } }] }),
    )
    expect(candidates[0].finishReason).toBe('STOP')
  })

  it('trap 82: arguments that come in pieces become one text', () => {
    const piece = (jsonPath: string, value: JsonObject) => ({ jsonPath, ...value })
    const grow = (...partialArgs: JsonObject[]) => event([{ functionCall: { partialArgs, willContinue: true } }])
    const events = stream(
      event([{ functionCall: { name: 'f', willContinue: true }, thoughtSignature: 'c2ln' }]),
      grow(piece('$.city', { stringValue: 'Bo', willContinue: true })),
      grow(piece('$.city', { stringValue: 'ston' }), piece('$.days[0].n', { numberValue: 2 })),
      grow(piece("$['a b'].c", { boolValue: true }), piece('$.none', { nullValue: null })),
      event([{ functionCall: {} }], END),
    )
    expect(parts(fold(events))).toMatchObject([
      { type: 'reasoning', signature: { value: 'c2ln' } },
      { name: 'f', arguments: '{"city":"Boston","days":[{"n":2}],"a b":{"c":true},"none":null}' },
    ])
  })
})

describe('finish', () => {
  it('trap 15: a blocked prompt is a refusal, complete and streamed', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } }
    const whole = reader.result!({ status: 200, headers: {}, body: blocked }, REQUEST)
    const streamed = fold(stream({ data: JSON.stringify(blocked) }))
    for (const got of [whole, streamed]) {
      expect(got.candidates).toMatchObject([{ content: [], finish: { reason: 'refused', raw: 'SAFETY' } }])
      expect(got.usage?.input).toBe(3)
    }
    expect(written(whole)).toEqual(blocked)
  })

  it('trap 15: a malformed call is an error, and SAFETY a refusal with its words', () => {
    const reason = (word: string) => answer({ ...said(), finishReason: word }).candidates[0]!.finish?.reason
    expect(['MALFORMED_FUNCTION_CALL', 'SAFETY', 'IMAGE_SAFETY', 'MAX_TOKENS', 'NEW'].map(reason)).toEqual([
      ...['error', 'refused', 'refused', 'length', 'other'],
    ])
    const refused = answer({ finishReason: 'SAFETY', finishMessage: 'No.' })
    expect(parts(refused)).toEqual([{ type: 'refusal', text: 'No.' }])
  })

  it('trap 60: every candidate is written, complete and streamed', () => {
    const two = result([], {
      candidates: ['a', 'b'].map(one => ({ content: [text(one)], finish: { reason: 'stop' } })),
    })
    expect(written(two).candidates.map((one: Loose) => [one.index, one.content.parts[0].text])).toEqual([
      [0, 'a'],
      [1, 'b'],
    ])
    expect(
      chunks(two)
        .at(-1)
        .candidates.map((one: Loose) => one.finishReason),
    ).toEqual(['STOP', 'STOP'])
    expect(body({ output: { candidates: 3 } }).generationConfig.candidateCount).toBe(3)
  })
})

describe('usage', () => {
  it('trap 23: the last counts of a stream stand', () => {
    const counts = (candidatesTokenCount: number) => ({ usageMetadata: { promptTokenCount: 5, candidatesTokenCount } })
    const got = fold(stream(event([{ text: 'a' }], {}, counts(1)), event([{ text: 'b' }], END, counts(2))))
    expect(got.usage).toMatchObject({ input: 5, output: 2 })
  })

  it('trap 24: thoughts are output, and the prompts of hosted tools input', () => {
    const usageMetadata = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 4,
    }
    const got = reader.result!({ status: 200, headers: {}, body: { candidates: [said()], usageMetadata } }, REQUEST)
    expect(got.usage).toMatchObject({ input: 15, output: 7, reasoning: 4 })
    const usage = { input: 15, cacheRead: 2, output: 7, reasoning: 4 }
    expect(written(result([], { usage })).usageMetadata).toEqual({
      ...{ promptTokenCount: 15, cachedContentTokenCount: 2, candidatesTokenCount: 3, thoughtsTokenCount: 4 },
      totalTokenCount: 22,
    })
  })

  it('trap 24: thoughts are part of the output, so that no count is below zero and the sum is right', () => {
    const usage = { input: 1, output: 2, reasoning: 5 }
    const { candidatesTokenCount, thoughtsTokenCount, totalTokenCount } = written(result([], { usage })).usageMetadata
    expect([candidatesTokenCount, thoughtsTokenCount, totalTokenCount]).toEqual([0, 2, 3])
  })

  it('tiers of other formats that this one has no word for stay away', () => {
    const usage = { input: 1, output: 2 }
    expect(written(result([], { usage, serviceTier: 'on_demand' })).usageMetadata).not.toHaveProperty('serviceTier')
    expect(written(result([], { usage, serviceTier: 'default' })).usageMetadata.serviceTier).toBe('standard')
  })
})

describe('signatures', () => {
  it('trap 29: a signature alone stays alone, with or without an empty text', () => {
    for (const part of [{ thoughtSignature: 'c2ln' }, { text: '', thoughtSignature: 'c2ln' }]) {
      const wire = { contents: [{ role: 'model', parts: [{ text: 'Hi' }, part] }] }
      const asked = read(wire)
      expect(asked.messages[0]!.content[1]).toMatchObject({ type: 'reasoning', text: '', signature: { value: 'c2ln' } })
      expect(writer.request!(asked, NATIVE).wire.body).toEqual(wire)
    }
  })

  it('trap 30: another issuer’s signature never reaches this upstream, not even wrapped', () => {
    const asked = {
      messages: [model({ type: 'reasoning', text: 'Hm.', signature: { format: 'messages', value: 's' } })],
    }
    expect(turns(...asked.messages)).toEqual([{ role: 'model', parts: [{ text: 'Hm.', thought: true }] }])
    const enclosed = Buffer.from('il:messages:s').toString('base64')
    const native = read({ contents: [{ role: 'model', parts: [{ ...wireCall('f'), thoughtSignature: enclosed }] }] })
    const parts = [{ ...wireCall('f'), thoughtSignature: SKIP }]
    expect(writer.request!(native, NATIVE).wire.body['contents']).toEqual([{ role: 'model', parts }])
  })

  it('trap 31: a signature goes back on the part it came on; the first call of a group without one gets the word for none', () => {
    const [turn] = turns(model(text('Hm.'), call('a'), call('b')))
    expect(turn.parts.map((part: Loose) => part.thoughtSignature)).toEqual([undefined, SKIP, undefined])
    const [signed] = turns(model(proof('c2ln'), call('a'), call('b')))
    expect(signed.parts.map((part: Loose) => part.thoughtSignature)).toEqual(['c2ln', undefined])
  })

  it('trap 31: the word for none is no signature when it comes from a caller', () => {
    const wire = { contents: [{ role: 'model', parts: [{ ...wireCall('f'), thoughtSignature: SKIP }] }] }
    const asked = read(wire)
    expect(asked.messages[0]!.content).toMatchObject([{ type: 'tool-call' }])
    expect(asked.messages[0]!.content).toHaveLength(1)
    expect(writer.request!(asked, NATIVE).wire.body).toEqual(wire)
  })

  it('trap 32: a signature after the text keeps its place', () => {
    const got = fold(stream(event([{ text: 'Hi' }]), event([{ text: '', thoughtSignature: 'c2ln' }], END)))
    expect(parts(got)).toMatchObject([text('Hi'), { type: 'reasoning', text: '', signature: { value: 'c2ln' } }])
  })

  it('trap 27: redacted reasoning of another issuer returns redacted, and signatures return to their complete reasoning', () => {
    const secret: Part = { type: 'reasoning', text: '', redacted: true, signature: { format: 'messages', value: 's' } }
    const thought: Part = { type: 'reasoning', text: 'Hm, yes.', signature: { format: 'messages', value: 't' } }
    const contents = drain(writer.events!(REQUEST), [...unfold(result([secret, text('x')]))]).map(
      ({ data }) => JSON.parse(data).candidates[0].content,
    )
    expect(read({ contents }).messages[0]!.content[0]).toMatchObject(secret)

    const head = { type: 'result-start' } as const
    const at = { candidate: 0, part: 0 }
    const streamed: readonly CanonicalEvent[] = [
      ...[head, { type: 'part-start', at, part: { type: 'reasoning', text: '' } } as const],
      ...['Hm,', ' yes.'].map(append => ({ type: 'part-delta', at, append }) as const),
      { type: 'part-patch', at, signature: thought.signature! },
      { type: 'part-end', at },
      { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } },
      { type: 'result-end' },
    ]
    const live = drain(writer.events!(REQUEST), streamed)
    const echoed = live.map(({ data }) => JSON.parse(data).candidates[0].content)
    expect(read({ contents: echoed }).messages.flatMap(({ content }) => content)).toMatchObject([thought])
  })
})

describe('turns', () => {
  it('trap 42: leading system messages are the instruction, later ones the user’s text', () => {
    const system = (said: string): Message => ({ role: 'system', content: [text(said)] })
    const wire = body({ messages: [system('A'), { ...system('B'), role: 'developer' }, user(text('Hi')), system('C')] })
    expect(wire.systemInstruction).toEqual({ parts: [{ text: 'A' }, { text: 'B' }] })
    expect(wire.contents).toEqual([{ role: 'user', parts: [{ text: 'Hi' }, { text: 'C' }] }])
  })

  it('trap 43: neighbours of one role are one content, and all results of a turn one of their own', () => {
    const contents = turns(
      user(text('a')),
      user(text('b')),
      model(call('1'), call('2')),
      back('1', text('x')),
      back('2', text('y')),
      user(text('c')),
    )
    expect(contents.map(({ role, parts }: Loose) => [role, parts.length])).toEqual([
      ['user', 2],
      ['model', 2],
      ['user', 2],
      ['user', 1],
    ])
  })

  it('trap 43: results come first and in the order of their calls, wherever the caller had them', () => {
    const messages = [model(call('1'), call('2')), back('2', text('y')), user(text('and')), back('1', text('x'))]
    const said = (dialect: JsonObject) =>
      body({ messages }, dialect).contents.map(({ parts }: Loose) =>
        parts.map((part: Loose) => part.functionResponse?.response.result ?? part.text),
      )
    for (const dialect of [{}, { vertex: true }]) expect(said(dialect).slice(1)).toEqual([['x', 'y'], ['and']])
    expect(write({ messages }).losses).toContainEqual(expect.objectContaining({ kind: 'moved', order: [0, 3, 1, 2] }))
  })

  it('trap 45: a result has the name of its call', () => {
    const [, turn] = turns(model(call('1', 'look.up')), back('1', text('x')))
    const [first] = turns(model(call('1', 'look.up')))
    expect(turn.parts[0].functionResponse).toMatchObject({ id: '1', name: first.parts[0].functionCall.name })
  })

  it('trap 47: names a function may not have are made legal, and known for the way back', () => {
    const { wire, renamed } = write({ tools: [{ type: 'function', name: 'mcp/server.tool' }] })
    const name = (wire.body as Loose).tools[0].functionDeclarations[0].name
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(renamed?.get(name)).toEqual({ name: 'mcp/server.tool' })
  })

  it('trap 48: pictures of a result stand beside its text', () => {
    const picture: Part = {
      type: 'media',
      kind: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: 'AA==' },
    }
    const [, turn] = turns(model(call('1')), back('1', text('See:'), picture))
    expect(turn.parts[0].functionResponse).toMatchObject({
      response: { result: 'See:' },
      parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }],
    })
    const asked = read({ contents: turns(model(call('1')), back('1', text('See:'), picture)) })
    expect(asked.messages[1]!.content[0]).toMatchObject({ content: [text('See:'), picture] })
  })

  it('trap 48: pictures of results follow all of them in a turn of the user if results hold none', () => {
    const picture: Part = {
      type: 'media',
      kind: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: 'AA==' },
    }
    const messages = [model(call('1'), call('2')), back('1', picture), back('2', text('Two.')), user(text('And?'))]
    const [, results, turn] = body({ messages }, { result_media: false }).contents
    expect(results.parts.map(({ functionResponse }: Loose) => functionResponse.response)).toEqual([
      { result: '' },
      { result: 'Two.' },
    ])
    expect(JSON.stringify(results)).not.toContain('inlineData')
    expect(turn).toEqual({
      role: 'user',
      parts: [
        { text: 'Result of tool call 1:' },
        { inlineData: { mimeType: 'image/png', data: 'AA==' } },
        { text: 'And?' },
      ],
    })
  })

  it('trap 48: a result has bytes beside its text and no places, which are said in words', () => {
    const picture: Part = { type: 'media', kind: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }
    const { functionResponse } = turns(model(call('1')), back('1', text('See:'), picture))[1].parts[0]
    expect(functionResponse.response.result).toContain('https://a.example/b.png')
    expect(functionResponse).not.toHaveProperty('parts')
    const cloud = body({ messages: [model(call('1')), back('1', picture)] }, { vertex: true })
    expect(cloud.contents[1].parts[0].functionResponse.parts[0].fileData.fileUri).toBe('https://a.example/b.png')
  })

  it('trap 49: a failed result says so', () => {
    const failed: Message = {
      role: 'tool',
      content: [{ type: 'tool-result', id: '1', content: [text('No.')], failed: true }],
    }
    const contents = turns(model(call('1')), failed)
    expect(contents[1].parts[0].functionResponse.response).toEqual({ error: 'No.' })
    expect(read({ contents }).messages[1]!.content[0]).toMatchObject({ failed: true, content: [text('No.')] })
  })

  it('traps 50, 51, 52: media of every kind go as bytes or by their place, with a media type', () => {
    const media = (kind: 'image' | 'audio' | 'file', source: object): Part => ({ type: 'media', kind, source }) as Part
    const [turn] = turns(
      user(
        media('image', { type: 'url', url: 'https://example.com/a.png' }),
        media('audio', { type: 'base64', mediaType: 'audio/wav', data: 'AA==' }),
        media('file', { type: 'base64', mediaType: 'application/pdf', data: 'AA==' }),
      ),
    )
    expect(turn.parts).toEqual([
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
      { inlineData: { mimeType: 'audio/wav', data: 'AA==' } },
      { inlineData: { mimeType: 'application/pdf', data: 'AA==' } },
    ])
    const { losses } = write({ messages: [user(media('file', { type: 'file-id', format: 'responses', id: 'f' }))] })
    expect(losses).toMatchObject([{ kind: 'dropped', path: ['messages', 0, 'content', 0] }])
  })

  it('trap 50: bytes in the alphabet of URLs are bytes like any other', () => {
    const wire = { contents: [{ role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: '_-8=' } }] }] }
    const asked = read(wire)
    expect(asked.messages[0]!.content[0]).toMatchObject({ source: { data: '/+8=' } })
    expect(writer.request!(asked, NATIVE).wire.body).toEqual(wire)
  })
})

describe('settings', () => {
  it('trap 18: stop sequences go along, as many as there may be', () => {
    const stop = ['a', 'b', 'c', 'd', 'e', 'f']
    const { wire, losses } = write({ sampling: { stop } })
    expect((wire.body as Loose).generationConfig.stopSequences).toEqual(stop.slice(0, 5))
    expect(losses).toMatchObject([{ kind: 'dropped', path: ['sampling', 'stop', 5] }])
  })

  it('trap 54: choices of tools keep their meaning', () => {
    const tools = [{ type: 'function', name: 'f' }] as const
    const config = (toolChoice: Loose) => body({ tools, toolChoice }).toolConfig.functionCallingConfig
    expect(config({ mode: 'required' })).toEqual({ mode: 'ANY' })
    expect(config({ mode: 'none' })).toEqual({ mode: 'NONE' })
    expect(config({ mode: 'required', only: ['f'] })).toEqual({ mode: 'ANY', allowedFunctionNames: ['f'] })
    expect(config({ mode: 'auto', only: ['f'] })).toEqual({ mode: 'VALIDATED', allowedFunctionNames: ['f'] })
  })

  it('hosted tools alone have no choice, which Gemini refuses', () => {
    const tools = [{ type: 'hosted', kind: 'web-search' }] as const
    const sent = (toolChoice: Loose) => {
      const { wire, losses } = write({ tools, toolChoice })
      const { toolConfig, tools: offered } = wire.body as Loose
      return { toolConfig, offers: offered !== undefined, shown: shownLosses(losses).map(({ path }) => path.join('.')) }
    }
    const forced = { toolConfig: undefined, offers: true, shown: ['toolChoice'] }
    expect(sent({ mode: 'required', hosted: 'web-search' })).toEqual(forced)
    expect(sent({ mode: 'required' })).toEqual(forced)
    expect(sent({ mode: 'auto' })).toEqual({ toolConfig: undefined, offers: true, shown: [] })
    expect(sent({ mode: 'none' })).toEqual({ toolConfig: undefined, offers: false, shown: ['tools.0'] })
  })

  it('trap 55: schemas go as JSON Schema, or narrowed where the upstream takes no more', () => {
    const parameters = { type: 'object', properties: { a: { const: 'x' } }, additionalProperties: false }
    const tools = [{ type: 'function', name: 'f', parameters }] as const
    expect(body({ tools }).tools[0].functionDeclarations[0].parametersJsonSchema).toEqual(parameters)
    expect(body({ tools }, { schema: 'openapi' }).tools[0].functionDeclarations[0].parameters).toEqual({
      type: 'OBJECT',
      properties: { a: { type: 'STRING', enum: ['x'] } },
    })
  })

  it('trap 57: no ids of calls to the cloud surface, not even a caller’s own', () => {
    const contents = [{ role: 'model', parts: [wireCall('f', { id: 'x' })] }]
    const { wire } = writer.request!(read({ contents }), { dialect: { vertex: true }, native: true })
    expect(wire.body).toEqual({ contents: [{ role: 'model', parts: [wireCall('f')] }] })
  })

  it('trap 58: an answer of a given shape is asked for natively', () => {
    const schema = { type: 'object', properties: {} }
    const { generationConfig, tools } = body({ output: { text: { shape: 'schema', schema, name: 'n' } } })
    expect(generationConfig).toEqual({ responseMimeType: 'application/json', responseJsonSchema: schema })
    expect(tools).toBeUndefined()
  })

  it('trap 61: log probabilities there and back', () => {
    expect(body({ sampling: { logprobs: 2 } }).generationConfig).toEqual({ responseLogprobs: true, logprobs: 2 })
    const logprobsResult = { chosenCandidates: [{ token: 'a', logProbability: -1 }] }
    expect(answer({ ...said({ text: 'a' }), logprobsResult }).candidates[0]!.logprobs).toEqual([
      { token: 'a', logprob: -1 },
    ])
  })

  it('trap 65: tools of plain text are wrapped, all in one entry with the others', () => {
    const tools = [{ type: 'function', name: 'f' } as const, { type: 'freeform', name: 'patch' } as const]
    const wire = body({ tools })
    expect(wire.tools).toHaveLength(1)
    expect(wire.tools[0].functionDeclarations[1].parametersJsonSchema.required).toEqual(['input'])
  })
})

describe('streams and errors', () => {
  it('trap 75: an error in the middle ends the stream as an error, both ways', () => {
    const error = { error: { code: 503, message: 'Busy.', status: 'UNAVAILABLE' } }
    const events = stream(event([{ text: 'Hi' }]), { data: JSON.stringify(error) }, event([{ text: 'no' }], END))
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { kind: 'overloaded', message: 'Busy.' } })
    const out = drain(writer.events!(REQUEST), events).map(({ data }) => JSON.parse(data))
    expect(out.at(-1)).toEqual(error)
    expect(JSON.stringify(out)).not.toContain('finishReason')
  })

  it('trap 77: an error under a status of 200 is an error', () => {
    const body = { error: { code: 429, message: 'Slow down.', details: [{ retryDelay: '3.5s' }] } }
    expect(() => reader.result!({ status: 200, headers: {}, body }, REQUEST)).toThrow(GatewayError)
    const read = reader.error!({ status: 429, headers: {}, body })
    expect(read).toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 3.5 })
  })

  it('trap 76: a wrong key is 401 with Google’s own reason, and understood as a wrong key', () => {
    const answer = writer.error!({ kind: 'unauthenticated', message: 'Wrong key.' }, 'req')
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 401, status: 'UNAUTHENTICATED' } } })
    expect(reader.error!(answer).kind).toBe('unauthenticated')
  })

  it('trap 81: no empty texts but that of the last event, which has finish and usage, and no end mark', () => {
    const usage = { input: 1, output: 2 }
    const out = chunks(result([text(''), text('Hi'), text(''), call('a')], { usage }))
    const written = out.slice(0, -1).flatMap(({ candidates }) => candidates[0].content.parts)
    expect(written.filter(part => part.text === '')).toEqual([])
    expect(out.filter(({ candidates }) => candidates[0].finishReason !== undefined)).toEqual([out.at(-1)])
    expect(out.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], usageMetadata: { totalTokenCount: 3 } })
  })

  it('trap 81: a stream that never says a finish reason was cut short', () => {
    expect(stream(event([{ text: 'Hi' }])).at(-1)).toMatchObject({ type: 'error', error: { kind: 'upstream-failed' } })
    const out = drain(writer.events!(REQUEST), [{ type: 'result-start' }]).map(({ data }) => JSON.parse(data))
    expect(out).toMatchObject([{ error: { code: 502 } }])
  })

  it('trap 82: what grounds a streamed text becomes its citations, by characters', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 4, endIndex: 8, text: 'wörl' }, groundingChunkIndices: [0] }],
    }
    const bytes = { startIndex: 4, endIndex: 9, text: 'wörl' }
    groundingMetadata.groundingSupports[0]!.segment = bytes
    const got = fold(stream(event([{ text: 'Hé ' }]), event([{ text: 'wörld' }], { ...END, groundingMetadata })))
    expect(parts(got)).toMatchObject([
      { text: 'Hé wörld', annotations: [{ url: 'https://a.example', title: 'A', start: 3, end: 7 }] },
    ])
    const chat = WRITERS['chat']!.result!({ ...got, id: 'x', model: 'm', createdAt: 1 }, REQUEST).wire.body as Loose
    expect(chat.choices[0].message.annotations[0].url_citation).toMatchObject({ start_index: 3, end_index: 7 })
  })

  it('trap 82: what grounds a streamed text may come with or after its signature, or with a call', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example' } }],
      groundingSupports: [{ segment: { endIndex: 2, text: 'Hi' }, groundingChunkIndices: [0] }],
    }
    const signed = [{ text: '', thoughtSignature: 'c2ln' }]
    const annotations = [{ url: 'https://a.example', start: 0, end: 2 }]
    const cited = (...events: { data: string }[]) => parts(fold(stream(event([{ text: 'Hi!' }]), ...events)))
    // Gemini 3 ends every stream with an empty text that has the signature.
    for (const events of [
      [event(signed, { ...END, groundingMetadata })],
      [event(signed), event([], { ...END, groundingMetadata })],
    ])
      expect(cited(...events)).toMatchObject([{ text: 'Hi!', annotations }, { signature: { value: 'c2ln' } }])
    const grounded = (...more: JsonObject[]) => event([...more, wireCall('f')], { ...END, groundingMetadata })
    const called = [{ text: 'Hi!', annotations }, { name: 'f' }]
    expect(cited(grounded())).toMatchObject(called)
    expect(parts(fold(stream(grounded({ text: 'Hi!' }))))).toMatchObject(called)
    expect(parts(fold(stream(event([{ text: 'Hi' }]), grounded({ text: '!' }))))).toMatchObject(called)
  })

  it('trap 82: what grounds several texts comes last, and cites those that have ended, too', () => {
    const [first, second] = ['Hé!', 'wörld']
    const support = (startIndex: number, endIndex: number, text: string, chunk: number) => ({
      segment: { startIndex, endIndex, text },
      groundingChunkIndices: [chunk],
    })
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example' } }, { web: { uri: 'https://b.example' } }],
      groundingSupports: [support(0, 4, first!, 0), support(4, 10, second!, 1)],
    }
    const code = { executableCode: { language: 'PYTHON', code: '1' } }
    const texts = [
      { text: first, annotations: [{ url: 'https://a.example', start: 0, end: 3 }] },
      { text: second, annotations: [{ url: 'https://b.example', start: 0, end: 5 }] },
    ]
    for (const [name, between] of [
      ['code', code],
      ['a thought', { text: 'Hm.', thought: true }],
      ['a call', wireCall('f')],
    ] as const) {
      const pieces = [{ text: first }, between, { text: second }]
      const grounded = { ...END, groundingMetadata }
      for (const events of [
        stream(...pieces.slice(0, 2).map(piece => event([piece])), event([{ text: second }], grounded)),
        stream(...pieces.map(piece => event([piece])), event([], grounded)),
        stream(...pieces.map(piece => event([piece])), event([wireCall('g')]), event([], grounded)),
      ]) {
        expect(grammarFault(events), name).toBeUndefined()
        const got = fold(events)
        expect(parts(got).filter(({ type }) => type === 'text')).toMatchObject(texts)
        const whole = answer({ ...said(...pieces), groundingMetadata })
        const chat = (from: CanonicalResult): Loose => WRITERS['chat']!.result!(from, REQUEST).wire.body
        expect(chat(got).choices[0].message.annotations).toEqual(chat(whole).choices[0].message.annotations)
      }
    }
  })

  it('trap 82: grounding behind the words and a call reaches callers of every format', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [{ segment: { endIndex: 3, text: 'Hi!' }, groundingChunkIndices: [0] }],
    }
    const late = [event([{ text: 'Hi!' }]), event([wireCall('f')]), event([], { ...END, groundingMetadata })]
    for (const format of ['chat', 'responses', 'messages', 'contents']) {
      const out = drain(WRITERS[format]!.events!(REQUEST), stream(...late)).map(({ data }) => data)
      expect(out.filter(data => data.includes('https://a.example')).length, format).toBeGreaterThan(0)
    }
    const last = drain(WRITERS['responses']!.events!(REQUEST), stream(...late)).at(-2)!
    expect(JSON.parse(last.data).response.output[0].content[0].annotations).toMatchObject([
      { url: 'https://a.example', start_index: 0, end_index: 3 },
    ])
  })

  it('trap 32: text after a signature alone is another text', () => {
    const streamed = stream(
      event([{ text: 'a' }]),
      event([{ text: '', thoughtSignature: 'c2ln' }]),
      event([{ text: 'b' }], END),
    )
    expect(parts(fold(streamed))).toMatchObject([{ text: 'a' }, { signature: { value: 'c2ln' } }, { text: 'b' }])
  })

  it('trap 82: another format’s citations ground the text here', () => {
    const annotations = [{ type: 'citation', url: 'https://a.example', start: 3, end: 7 }] as const
    const cited: Part = { type: 'text', text: 'Hé wörld', annotations }
    const { groundingMetadata } = written(result([cited])).candidates[0]
    expect(groundingMetadata.groundingSupports).toEqual([
      { segment: { startIndex: 4, endIndex: 9, text: 'wörl' }, groundingChunkIndices: [0] },
    ])
    expect(chunks(result([cited])).at(-1).candidates[0].groundingMetadata).toEqual(groundingMetadata)
  })

  it('trap 16: words of refusal are why it finished, not the answer', () => {
    const refused = result([], {
      candidates: [{ content: [{ type: 'refusal', text: 'No.' }], finish: { reason: 'refused' } }],
    })
    expect(written(refused).candidates[0]).toMatchObject({ finishReason: 'SAFETY', finishMessage: 'No.' })
    expect(chunks(refused)).toMatchObject([{ candidates: [{ finishReason: 'SAFETY', finishMessage: 'No.' }] }])
  })

  it('trap 33 and chat: a signature found on chat’s own surface goes back to Google', () => {
    const chat = READERS['chat']!.request!({
      path: '/chat/completions',
      query: {},
      headers: {},
      body: {
        model: 'm',
        messages: [
          {
            role: 'assistant',
            tool_calls: [
              {
                id: 'a',
                type: 'function',
                function: { name: 'f', arguments: '{}' },
                extra_content: { google: { thought_signature: 'c2ln' } },
              },
            ],
          },
        ],
      },
    })
    expect(turns(...chat.messages)[0].parts[0]).toMatchObject({ thoughtSignature: 'c2ln', functionCall: { name: 'f' } })
  })
})
