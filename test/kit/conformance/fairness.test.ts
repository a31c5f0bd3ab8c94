import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../src/kit/conformance/cells.ts'
import { CheckList } from '../../../src/kit/conformance/check-list.ts'
import { compare } from '../../../src/kit/conformance/compare.ts'
import { answerAsRead, requestAsRead } from '../../../src/kit/conformance/formats/contents/proto-json.ts'
import { CONVERSATIONS, FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { requestFacts as transcriptionFacts } from '../../../src/kit/conformance/formats/transcriptions/request.ts'
import type { Json, JsonObject } from '../../../src/kit/conformance/json.ts'
import { judgeAnswer } from '../../../src/kit/conformance/judge-answer.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { answerFindings, schemaFindings } from '../../../src/kit/conformance/schema.ts'

/* Spellings that a provider accepts are no faults of a gateway. */

const { contents, messages, chat } = CONVERSATIONS as Required<typeof CONVERSATIONS>

describe('requests of generateContent', () => {
  const FREE = { some_name: null, type: 'object', properties: null }
  const written: JsonObject = {
    system_instruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: 'AAAA' } }] },
      { role: 'model', parts: [{ function_call: { name: 'a', args: FREE }, thought_signature: 'c2ln' }] },
    ],
    tools: [
      {
        function_declarations: [
          { name: 'a_b', parameters: { type: 'object', properties: { type: { type: 'string' }, a_b: null } } },
        ],
      },
    ],
    tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['a_b'] } },
    generationConfig: { max_output_tokens: 5, thinking_config: { thinking_level: 'low' }, seed: null },
    safetySettings: null,
  }
  const read: JsonObject = {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      { role: 'model', parts: [{ functionCall: { name: 'a', args: FREE }, thoughtSignature: 'c2ln' }] },
    ],
    tools: [
      {
        functionDeclarations: [
          { name: 'a_b', parameters: { type: 'OBJECT', properties: { type: { type: 'STRING' } } } },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a_b'] } },
    generationConfig: { maxOutputTokens: 5, thinkingConfig: { thinkingLevel: 'LOW' } },
  }

  test('may have the names of the proto files, enums in lower case and nulls', () => {
    expect(requestAsRead(written)).toEqual(read)
    expect(requestAsRead(read)).toEqual(read)
    const schema = contents!.schemas.request
    expect(schemaFindings('contents', schema, requestAsRead(written), [])).toEqual({ faults: [], absent: [] })
  })

  test('a wrong value stays wrong', () => {
    const wrong = requestAsRead({ ...written, generation_config: { max_output_tokens: 'many' } })
    expect(schemaFindings('contents', contents!.schemas.request, wrong, []).faults).not.toEqual([])
  })
})

test('answers of generateContent may have nulls, but one spelling of names', () => {
  const answer = { candidates: [{ finishReason: null, content: { parts: [{ functionCall: { args: { a: null } } }] } }] }
  expect(answerAsRead(answer)).toEqual({
    candidates: [{ content: { parts: [{ functionCall: { args: { a: null } } }] } }],
  })
  expect(answerAsRead({ finish_reason: 'stop' })).toEqual({ finish_reason: 'stop' })
})

describe('a required field that may be null, and is absent', () => {
  const event = (delta: JsonObject): JsonObject => ({ type: 'message_delta', delta, usage: { output_tokens: 1 } })
  const { schemas, exceptions } = messages!

  test('is advice', () => {
    const findings = schemaFindings('messages', schemas.event, event({ stop_reason: 'end_turn' }), exceptions)
    expect(findings.faults).toEqual([])
    expect(findings.absent.join()).toContain('stop_sequence')
    const list = new CheckList({ id: 'a', scenario: { id: 'b' } })
    list.schema('stream', 'messages', [findings])
    expect(list.checks.map(({ rule, status }) => [rule, status])).toEqual([
      ['stream.schema', 'pass'],
      ['stream.schema.nullable', 'advice'],
    ])
  })

  test('fails where null is no value of it', () => {
    const message = { role: 'assistant', content: 'a', refusal: null }
    const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }]
    const answer = { object: 'chat.completion', created: 1, model: 'm', choices }
    const { faults, absent } = schemaFindings('chat', chat!.schemas.answer, answer, [])
    expect(faults.join()).toContain("must have required property 'id'")
    expect(absent).toEqual([])
  })
})

describe('an optional field of an answer that is null', () => {
  const usage = (details: Json): JsonObject => ({
    ...{ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    ...{ prompt_tokens_details: details },
  })
  const message = { role: 'assistant', content: 'a', refusal: null }
  const answer = (details: Json, id: Json = 'a'): JsonObject => ({
    ...{ id, object: 'chat.completion', created: 1, model: 'm', usage: usage(details) },
    choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
  })
  const found = (value: JsonObject) => answerFindings('chat', chat!.schemas.answer, value, [])

  test('is advice', () =>
    expect(found(answer(null))).toEqual({ faults: [], absent: ['/usage/prompt_tokens_details is null'] }))

  test('fails in a request, in a required field, and beside another value', () => {
    expect(schemaFindings('chat', chat!.schemas.answer, answer(null), []).faults).not.toEqual([])
    expect(found(answer(null, null)).faults.join()).toContain('/id must be string')
    expect(found(answer('none')).faults.join()).toContain('/usage/prompt_tokens_details must be object')
  })
})

test.each([
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave; codecs=1', 'audio/wav'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/flac', 'audio/flac'],
])('a recording of the type %s is one of %s', (type, usual) => {
  const file = { field: 'file', name: 'a', type, bytes: Buffer.from('a') }
  expect(transcriptionFacts({}, '/audio/transcriptions', [file]).sound?.type).toBe(usual)
})

test.each([
  ['{"temperature":21}', '{ "temperature": 21 }', 'kept'],
  ['{"a":1,"b":2}', '{"b":2,"a":1}', 'kept'],
  ['{"temperature":21}', '{"temperature":22}', 'changed'],
  ['21', '21.0', 'changed'],
])('an object as result of a tool has any spelling in another format: %s and %s', (sent, found, fate) => {
  const path = 'turns[2].results[0].text'
  const sides = { source: new Map([[path, sent]]), reachable: new Map<string, Json>(), found: new Map([[path, found]]) }
  expect(compare({ ...sides, isNative: false }).map(one => one.fate)).toEqual([fate])
  expect(compare({ ...sides, isNative: true }).map(one => one.fate)).toEqual(['changed'])
})

describe('JSON schemas of tools', () => {
  const fate = (expected: Json, found: Json) =>
    compare({
      source: new Map([['tools.a.parameters', expected]]),
      reachable: new Map(),
      found: new Map([['tools.a.parameters', found]]),
      isNative: false,
    })[0]!.fate
  const SCHEMA = {
    type: 'object',
    properties: { required: { type: 'string', enum: ['$schema'] } },
    required: ['required'],
  }

  test('may gain or lose keywords without effect', () => {
    expect(fate(SCHEMA, { $schema: 'https://json-schema.org', ...SCHEMA, $defs: {} })).toBe('kept')
    expect(fate({ type: 'object' }, { type: 'object', properties: {}, required: [] })).toBe('kept')
  })

  test('change with any other', () => {
    expect(fate(SCHEMA, { ...SCHEMA, additionalProperties: false })).toBe('changed')
    expect(fate(SCHEMA, { ...SCHEMA, required: [] })).toBe('changed')
    expect(fate({ default: { $defs: {} } }, { default: {} })).toBe('changed')
  })
})

describe('results of tools', () => {
  const fate = (expected: string, found: string, isNative = false) => {
    const path = 'turns[2].results[0].text'
    const [source, other] = [new Map([[path, expected]]), new Map([[path, found]])]
    return compare({ source, reachable: source, found: other, isNative })[0]!.fate
  }

  test('may stand in an object between formats', () => {
    expect(fate('18 degrees', '{"content":"18 degrees"}')).toBe('kept')
    expect(fate('{"output":"18 degrees"}', '18 degrees')).toBe('kept')
  })

  test('may be joined by line feeds between formats', () => {
    expect(fate('It rains. It is cold.', 'It rains. \n\nIt is cold.')).toBe('kept')
    expect(fate('It rains.\nIt is cold.', 'It rains.It is cold.')).toBe('changed')
    expect(fate('It rains. It is cold.', 'It rains. \nIt is cold.', true)).toBe('changed')
  })

  test('may have their media behind them, which adds nothing', () => {
    const source = new Map<string, Json>([['turns[2].results[0].media[0].type', 'image/png']])
    const found = (type: string) => new Map<string, Json>([['turns[2].media[0].type', type]])
    const fates = (type: string) =>
      compare({ source, reachable: source, found: found(type), isNative: false }).map(one => one.fate)
    expect(fates('image/png')).toEqual(['kept'])
    expect(fates('image/gif')).toEqual(['lost', 'added'])
  })

  test('are the same text', () => {
    expect(fate('18 degrees', '{"content":"19 degrees"}')).toBe('changed')
    expect(fate('18 degrees', '{"content":"18 degrees","unit":"C"}')).toBe('changed')
    expect(fate('18 degrees', '{"content":"18 degrees"}', true)).toBe('changed')
  })
})

describe('requests of Responses', () => {
  const responses = CONVERSATIONS['responses']!
  const faults = (item: JsonObject): readonly string[] => {
    const body = { model: 'm', input: [item] }
    return schemaFindings('responses', responses.schemas.request, responses.asRead!.request(body), []).faults
  }
  const content = [{ type: 'output_text', text: 'Hello.' }]

  test('may repeat an answer without its id, status and annotations', () => {
    expect(faults({ role: 'assistant', content })).toEqual([])
    expect(faults({ type: 'message', role: 'assistant', id: 'msg_1', content })).toEqual([])
  })

  test('may leave out the detail of an image, and nothing else', () => {
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' }
    expect(faults({ role: 'user', content: [image] })).toEqual([])
    expect(faults({ role: 'user', content: [{ ...image, detail: 'sharp' }] })).not.toEqual([])
    expect(faults({ role: 'user', content: [{ type: 'input_text' }] })).not.toEqual([])
  })

  test('have no other texts of an answer', () => {
    expect(faults({ role: 'user', content })).not.toEqual([])
    expect(faults({ role: 'assistant', content: [{ type: 'output_text' }] })).not.toEqual([])
  })
})

test('a path may have a query, as the beta SDK of messages sends it', () => {
  expect(messages!.recognise('/v1/messages?beta=true', { model: 'm' }, 'POST')).toEqual({ model: 'm', stream: false })
  expect(messages!.recognise('/v1/messages/batches', {}, 'POST')).toBeUndefined()
})

test('events of Responses are numbered one by one, from any number', () => {
  const broken = (...numbers: readonly (number | undefined)[]) => {
    const grammar = CONVERSATIONS['responses']!.grammar({ body: {} })
    for (const number of numbers) {
      const data: JsonObject = {
        type: 'response.created',
        ...(number === undefined ? {} : { sequence_number: number }),
      }
      grammar.event({ name: 'response.created', data: JSON.stringify(data) } as never, data)
    }
    return grammar.end(true).filter(({ rule }) => rule === 'sequence').length
  }
  expect(broken(0, 1, 2)).toBe(0)
  expect(broken(1, 2, 3)).toBe(0)
  expect(broken(0, 2)).toBe(1)
  expect(broken(undefined)).toBe(1)
})

test('an empty text adds nothing', () => {
  const added = (text: string) =>
    compare({ source: new Map(), reachable: new Map(), found: new Map([['turns[1].text', text]]), isNative: false })
  expect(added('')).toEqual([])
  expect(added('a').map(({ fate }) => fate)).toEqual(['added'])
})

test('a fact of an answer that only an extension of the format has is advice, if it is lost on the way from another format', () => {
  const path = 'candidates[0].reasoning[0].text'
  const leaves = new Map<string, Json>([[path, 'Two is prime.']])
  const sides = { source: leaves, reachable: leaves, found: new Map<string, Json>(), extensions: chat!.extensions }
  const sayable = (isNative: boolean) => compare({ ...sides, isNative }).map(one => one.expressible)
  expect(sayable(false)).toEqual([false])
  expect(sayable(true)).toEqual([true])
})

test.each([
  [{ prompt_tokens_details: { cache_write_tokens: 512 } }],
  [{ prompt_tokens_details: { cached_creation_tokens: 512 } }],
  [{ prompt_tokens_details: { cache_creation_tokens: 512 } }],
  [{ prompt_tokens_details: { cached_tokens: 9 }, cache_creation_input_tokens: 512 }],
])('tokens written to a cache have several names in chat completions: %j', usage =>
  expect(chat!.answer({ usage })).toMatchObject({ usage: { cacheWrite: 512 } }),
)

test('an event with the name of an error is an error of messages, whatever its data are', () => {
  const grammar = messages!.grammar({ body: {} })
  grammar.event({ name: 'error', data: 'a cut line\n{"type":"error"}' } as never, undefined)
  expect(grammar.ending).toBe('error')
  expect(grammar.end(true).map(({ rule }) => rule)).toEqual(['json'])
})

test('types of parametersJsonSchema may be in capitals, as those of parameters are', () => {
  const parameters = (field: string) => {
    const tool = { name: 'a', [field]: { type: 'OBJECT', properties: { b: { type: 'STRING' } } } }
    const body = contents!.asRead!.request({ tools: [{ functionDeclarations: [tool] }] })
    return contents!.request(body, '').tools!['a']!.parameters
  }
  expect(parameters('parametersJsonSchema')).toEqual(parameters('parameters'))
})

describe('embeddings of Google', () => {
  const { adaptAnswer: answered } = FORMATS['contents.embeddings']!
  const [one, other] = [{ values: [1] }, { values: [2] }]

  test('have one vector for embedContent and a list for batchEmbedContents, whichever the scenario has', () => {
    const path = (method: string) => `/v1beta/models/a:${method}`
    expect(answered!({ embeddings: [one, other], usageMetadata: {} }, path('embedContent'))).toEqual({
      ...{ embedding: one, usageMetadata: {} },
    })
    expect(answered!({ embedding: one }, path('batchEmbedContents'))).toEqual({ embeddings: [one] })
    const written = { embeddings: [one] }
    expect(answered!(written, path('batchEmbedContents'))).toBe(written)
  })
})

test('a whole answer where a stream was requested fails once, by its content type, and its facts arrived', () => {
  const scenario = readScenario('text')
  const cell = cellsOf({ scenarios: [scenario], callers: ['chat'], upstreams: ['chat'], only: '*/stream' })[0]!
  const body = scenario.wires['chat']!.whole!
  const list = new CheckList(cell)
  const got = { status: 200, headers: { 'content-type': 'application/json' }, body, isComplete: true }
  const asked = { method: 'POST', path: '/chat/completions', body: {}, headers: {} }
  judgeAnswer(cell, { got } as never, list, { request: asked, losses: [], isLocal: false } as never)
  const failed = list.checks.filter(({ status }) => status === 'fail').map(({ rule }) => rule)
  expect(failed).toEqual(['answer.http.content-type'])
  expect(list.checks.filter(({ meaning }) => meaning === 'kept').length).toBeGreaterThan(3)
})

test('an error in a stream in the place of an error fails by status and type, and its message arrived', () => {
  const cell = cellsOf({
    ...{ scenarios: [readScenario('error-400')], callers: ['messages'], upstreams: ['messages'] },
    only: '*/stream',
  })[0]!
  const error = cell.scenario.wires['messages']!.error!.body
  const body = Buffer.from(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
  const got = { status: 200, headers: { 'content-type': 'text/event-stream' }, body, isComplete: true }
  const list = new CheckList(cell)
  const asked = { method: 'POST', path: '/messages', body: {}, headers: {} }
  judgeAnswer(cell, { got } as never, list, { request: asked, losses: [], isLocal: false } as never)
  const failed = list.checks.filter(({ status }) => status === 'fail').map(({ rule }) => rule)
  expect(failed).toEqual([
    ...['answer.http.status', 'answer.http.content-type'],
    ...['error.meaning:status', 'error.meaning:kind'],
  ])
})

test.each([-1, 0.5, 2])('a delta of a call with the index %s is a fault of the target, not of the kit', index => {
  const grammar = chat!.grammar({ body: {} })
  const delta = { tool_calls: [{ index, function: { arguments: '{}' } }] }
  const chunk = { id: 'a', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] }
  grammar.event({ name: undefined, data: '' } as never, chunk)
  expect(grammar.end(true).map(({ rule }) => rule)).toContain('call-index')
  expect(() => chat!.answer(chat!.assemble([chunk]))).not.toThrow()
})
