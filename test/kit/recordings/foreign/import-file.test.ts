import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readFolder } from '../../../../src/kit/recordings/folder.ts'
import { importFile } from '../../../../src/kit/recordings/foreign/import-file.ts'
import type { Recording } from '../../../../src/kit/recordings/recording.ts'
import { openReplay } from '../../../../src/kit/recordings/replay-server.ts'

interface Imported {
  readonly recordings: readonly Recording[]
  readonly skipped: readonly string[]
}

async function imported(name: string, content: string | Buffer, redact: readonly string[] = []): Promise<Imported> {
  const folder = mkdtempSync(join(tmpdir(), 'import-'))
  const file = join(folder, name)
  writeFileSync(file, content)
  const skipped: string[] = []
  const into = join(folder, 'recordings')
  const count = await importFile(file, { folder: into, redact, onSkipped: message => skipped.push(message) })
  const recordings = count === 0 ? [] : readFolder(into).map(({ recording }) => recording)
  expect(recordings).toHaveLength(count)
  return { recordings, skipped: skipped.map(one => one.replace(`${folder}/`, '')) }
}

/** The message of an import that fails, and whether it wrote nothing. */
async function fault(name: string, content: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'import-'))
  writeFileSync(join(folder, name), content)
  const message = await importFile(join(folder, name), { folder: join(folder, 'recordings') }).then(
    () => 'no fault',
    (thrown: Error) => thrown.message,
  )
  expect(readdirSync(folder)).toEqual([name])
  return message.replaceAll(`${folder}/`, '')
}

const ask = async (url: string, path: string, body: object): Promise<string> => {
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  return (await fetch(url + path, init)).text()
}

const turns = (content: string) => [{ role: 'user', content }]
const chat = (text: string) => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
})

const EVENTS = [
  { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], model: 'm', usage: {} } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
const STREAM = EVENTS.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const QUESTION = { model: 'm', max_tokens: 9, stream: true, messages: turns('Hi') }

const cassette = (body: string, encoding = 'gzip') => `interactions:
- request:
    body: '${JSON.stringify(QUESTION)}'
    headers:
      Content-Type: [application/json]
      X-Api-Key: [sk-ant-secret-1234]
      anthropic-version: ['2023-06-01']
    method: POST
    uri: https://api.example.com/v1/messages?beta=true&session=secret
  response:
    body:
      string: ${body}
    headers:
      Content-Encoding: [${encoding}]
      Content-Type: [text/event-stream]
      Set-Cookie: [session=secret]
      Date: ['Sat, 28 Nov 2026 10:00:00 GMT']
    status: {code: 200, message: OK}
version: 1
`

describe('a cassette of vcrpy', () => {
  test.each([
    ['compressed', cassette(`!!binary ${gzipSync(STREAM).toString('base64')}`)],
    ['plain', cassette(JSON.stringify(STREAM))],
    ['plain', cassette(JSON.stringify(gzipSync(STREAM).toString('latin1')))],
  ])('becomes a recording that answers its request: %s', async (_, text) => {
    const { recordings } = await imported('c.yaml', text)
    expect(recordings).toMatchObject([
      {
        ...{ recorded_at: '2026-11-28T10:00:00.000Z', format: 'messages' },
        request: { path: '/v1/messages', query: { beta: 'true' }, body: { json: QUESTION } },
        answer: { status: 200, content_encoding: 'gzip', chunks: [{ text: STREAM }], complete: true },
      },
    ])
    expect(JSON.stringify(recordings)).not.toContain('secret')
    const replay = await openReplay({ recordings: [{ file: 'a', recording: recordings[0]! }] })
    expect(await ask(replay.url, '/v1/messages', QUESTION)).toBe(STREAM)
    expect(await ask(replay.url, '/v1/chat/completions', { model: 'm', messages: turns('Hi') })).toContain('Grüße')
    await replay.close()
  })

  test('may have JSON bodies instead of texts, be JSON itself, and be compressed', async () => {
    const request = {
      method: 'POST',
      uri: 'https://h/v1/chat/completions',
      parsed_body: { model: 'm', messages: turns('Hi') },
    }
    const text = JSON.stringify({
      interactions: [{ request, response: { status: { code: 200 }, parsed_body: chat('Ja') } }],
    })
    const { recordings } = await imported('c.json.gz', gzipSync(text))
    expect(recordings[0]).toMatchObject({ format: 'chat', answer: { body: { json: chat('Ja') } } })
  })

  test('is redacted by the rules of the command, which the recording keeps', async () => {
    const { recordings } = await imported('c.yaml', cassette(JSON.stringify(STREAM)), ['/Gr.ße/'])
    expect(recordings[0]!.redact).toEqual(['/Gr.ße/'])
    expect(recordings[0]!.answer!.chunks![0]!.text).toContain('"text":"[redacted]"')
  })

  test('with a fault is an error with file and line, and nothing is written', async () => {
    const bad = cassette(JSON.stringify(STREAM)).replace('code: 200', 'code: many')
    expect(await fault('c.yaml', bad)).toBe('c.yaml:18: interactions[0].response.status.code: expected a number')
    expect(await fault('c.yaml', 'interactions:\n- request: {a: "b\n')).toMatch(/^c\.yaml:\d: /)
    expect(await fault('c.yaml', 'interactions:\n- request:\n    method: POST\n')).toContain(
      'c.yaml:2: interactions[0].request.uri: is missing',
    )
  })
})

describe('names that every object inherits, and objects without a string form', () => {
  test('are no ids of events', async () => {
    const events = `data: {"type":"message_start","id":{"toString":1},"index":{"toString":1,"valueOf":1}}\n\n`
    const { recordings } = await imported('a.yaml', cassette(JSON.stringify(events)))
    expect(recordings[0]!.answer!.chunks![0]!.text).toBe(events)
  })

  test('are criteria that a recording cannot express', async () => {
    const text = '{"fixtures":[{"match":{"__proto__":1,"toString":"a","valueOf":1},"response":{"content":"a"}}]}'
    expect((await imported('a.json', text)).recordings).toEqual([])
  })
})

/** One entry as a browser or Polly.JS writes it. */
const entry = (
  more: { readonly request?: object; readonly response?: object; readonly [field: string]: unknown } = {},
) => ({
  startedDateTime: '2026-11-28T10:00:00.000+01:00',
  timings: { blocked: -1, send: 1, wait: 20.5, receive: 4 },
  ...more,
  request: {
    ...{ method: 'POST', url: 'https://api.example.com/v1/chat/completions', headers: [] },
    postData: { mimeType: 'application/json', params: [], text: JSON.stringify({ model: 'm', messages: turns('Hi') }) },
    ...more.request,
  },
  response: {
    ...{ status: 200, headers: [{ name: 'Content-Encoding', value: 'gzip' }] },
    content: { mimeType: 'application/json', text: JSON.stringify(chat('Ja')) },
    ...more.response,
  },
})
const har = (...entries: readonly object[]): string => JSON.stringify({ log: { version: '1.2', entries } }, null, 1)

describe('a HAR file', () => {
  test('of a browser has decoded bodies and times', async () => {
    const headers = [
      { name: ':authority', value: 'api.example.com' },
      { name: 'Authorization', value: 'Bearer sk-secret-1' },
    ]
    const { recordings, skipped } = await imported(
      'a.har',
      har(entry({ request: { headers } }), entry({ response: { status: 0 } })),
    )
    expect(recordings).toMatchObject([
      {
        recorded_at: '2026-11-28T09:00:00.000Z',
        request: { path: '/v1/chat/completions', headers: { 'content-type': 'application/json' } },
        answer: { ms: 21.5, content_encoding: 'gzip', body: { json: chat('Ja') } },
      },
    ])
    expect(JSON.stringify(recordings)).not.toMatch(/secret|authority/)
    expect(skipped).toEqual([
      expect.stringMatching(/^a\.har:\d+: log\.entries\[1\]\.response\.status: the request has no answer/),
    ])
  })

  test('of a browser may lack bodies, without which a recording would answer nothing', async () => {
    const counted = { size: 812, mimeType: 'text/event-stream' }
    const { recordings, skipped } = await imported(
      'a.har',
      har(
        entry({ response: { content: counted } }),
        entry({ request: { postData: undefined, bodySize: 70_000 } }),
        entry({ response: { content: { size: 0, mimeType: 'text/plain' } } }),
      ),
    )
    expect(recordings).toHaveLength(1)
    expect(skipped).toEqual([
      expect.stringMatching(/entries\[0\]\.response\.content: the file has no body of the answer \(812 bytes\)$/),
      expect.stringMatching(/entries\[1\]\.request: the file has no body of the request \(70000 bytes\)$/),
    ])
  })

  test('of Polly.JS may have encoded pieces or JSON, also in YAML', async () => {
    const packed = gzipSync(JSON.stringify(chat('Ja')))
    const pieces = [packed.subarray(0, 9), packed.subarray(9)].map(piece => piece.toString('base64'))
    const content = { encoding: 'base64', mimeType: 'application/json', text: JSON.stringify(pieces), _isBinary: true }
    const postData = { mimeType: 'application/json', textJSON: { model: 'm', messages: turns('Hi') } }
    const { recordings } = await imported('recording.har', har(entry({ request: { postData }, response: { content } })))
    expect(recordings[0]).toMatchObject({ format: 'chat', answer: { body: { json: chat('Ja') } } })
    const yaml = `log:
  entries:
    - startedDateTime: 2026-11-28T10:00:00.000Z
      request:
        {method: POST, url: "https://h/v1/messages", headers: [], postData: {mimeType: application/json, textJSON: ${JSON.stringify(QUESTION)}}}
      response:
        status: 200
        content: {mimeType: text/event-stream, text: ${JSON.stringify(STREAM)}}
`
    const [one] = (await imported('recording.har.yaml', yaml)).recordings
    expect(one).toMatchObject({ format: 'messages', answer: { chunks: [{ text: STREAM }] } })
  })

  test('has the messages of a WebSocket session as Chrome writes them', async () => {
    const time = Date.parse('2026-11-28T10:00:00.000+01:00') / 1000
    const messages = [
      { type: 'send', time: time + 0.5, opcode: 1, data: '{"a":1}' },
      { type: 'receive', time: time + 1, opcode: 2, data: '/w==' },
    ]
    const request = { method: 'GET', url: 'wss://h/v1/realtime?model=m', postData: undefined }
    const { recordings } = await imported('s.har', har(entry({ request, _webSocketMessages: messages })))
    expect(recordings[0]).toMatchObject({
      request: { method: 'GET', path: '/v1/realtime', query: { model: 'm' } },
      session: {
        frames: [
          { ms: 500, from: 'caller', text: '{"a":1}' },
          { ms: 1000, from: 'upstream', base64: '/w==' },
        ],
      },
    })
  })

  test('with a fault is an error with file and line, and nothing is written', async () => {
    const bad = har(entry(), entry({ startedDateTime: 'yesterday' }))
    const line = bad.split('\n').findIndex(one => one.includes('yesterday')) + 1
    expect(await fault('a.har', bad)).toBe(`a.har:${line}: log.entries[1].startedDateTime: expected a date and time`)
    expect(await fault('a.har', bad.slice(0, -20))).toBe(
      `a.har:${bad.slice(0, -20).split('\n').length}: the file is cut off: its JSON has no end`,
    )
    const endless = har(entry(), entry({ timings: { wait: 1 } })).replace('"wait": 1\n', '"wait": 1e999\n')
    expect(await fault('a.har', endless)).toMatch(/^a\.har:\d+: log\.entries\[1\]\.timings\.wait: expected a number$/)
    const later = har(entry(), entry({ startedDateTime: '+200000-01-01T00:00:00Z' }))
    expect(await fault('a.har', later)).toContain('log.entries[1].startedDateTime: expected a date and time')
    const rules = har(entry(), entry({ _interlingua: { redact: ['/(/'] } }))
    expect(await fault('a.har', rules)).toContain('_interlingua.redact[0]: is neither a path nor a valid /expression/')
    expect(await fault('a.json', '{"version":1}')).toBe(
      'a.json:1: is neither a HAR file (log), a cassette (interactions or http_interactions) nor a fixture file (fixtures)',
    )
  })
})

test('an exchange that no recording can hold is skipped with its reason, and the others are imported', async () => {
  const base64 = (...bytes: readonly number[]) => ({ encoding: 'base64', text: Buffer.from(bytes).toString('base64') })
  const headers = [{ name: 'content-encoding', value: 'snappy' }]
  const faulty = [
    entry({ response: { headers, content: base64(0x1f, 0x8b, 1, 2) } }),
    entry({ request: { postData: { mimeType: 'application/json', text: '['.repeat(20_000) + ']'.repeat(20_000) } } }),
  ]
  const { recordings, skipped } = await imported('a.har', har(entry(), ...faulty, entry()))
  expect(recordings).toHaveLength(2)
  expect(skipped).toEqual([
    expect.stringContaining('cannot be decoded'),
    expect.stringContaining('Maximum call stack size exceeded'),
  ])
})

test('a folder that cannot be written is an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'import-'))
  writeFileSync(join(folder, 'a.har'), har(entry()))
  const into = join(folder, 'a.har')
  await expect(importFile(join(folder, 'a.har'), { folder: into })).rejects.toThrow(
    /a\.har: cannot record .*EEXIST|ENOTDIR/,
  )
})

test('a list of encoded pieces that is none is a text', async () => {
  for (const text of ['["a', '["a",1]', '["aGk=" '])
    expect(
      (await imported('a.har', har(entry({ response: { content: { encoding: 'base64', text } } })))).skipped,
    ).toEqual([])
})

test('statuses that are not those of answers are skipped, because a client would wait for the answer', async () => {
  const statuses = [0, 100, 101, 199, 200.5, 600].map(status => entry({ response: { status } }))
  const { recordings, skipped } = await imported('a.har', har(entry(), ...statuses))
  expect(recordings).toHaveLength(1)
  expect(skipped).toHaveLength(statuses.length)
  const cassette = (code: number) =>
    JSON.stringify({
      interactions: [{ request: { method: 'GET', uri: 'https://h/a' }, response: { status: { code } } }],
    })
  expect(await fault('c.json', cassette(103))).toContain('response.status.code: expected a status')
  const fixture = (status: number) =>
    JSON.stringify({ fixtures: [{ match: { userMessage: 'a' }, response: { content: 'b', status } }] })
  expect(await fault('f.json', fixture(102))).toContain('response.status: expected a status')
})

test('a HAR file is searched for lines once, however many of its entries are skipped', async () => {
  const time = async (count: number): Promise<number> => {
    const text = har(...Array.from({ length: count }, () => entry({ response: { status: 0 } })))
    const start = performance.now()
    expect((await imported('a.har', text)).skipped).toHaveLength(count)
    return performance.now() - start
  }
  await time(5)
  const [small, large] = [await time(20), await time(160)]
  expect(large).toBeLessThan(24 * Math.max(small, 20))
}, 60_000)

describe('a fixture file of aimock', () => {
  const fixtures = [
    { match: { userMessage: 'joke', sequenceIndex: 1 }, response: { content: 'Second' } },
    { match: { userMessage: 'joke', sequenceIndex: 0 }, response: { content: 'First' } },
    {
      match: { userMessage: 'weather', model: 'm' },
      response: { toolCalls: [{ name: 'get', arguments: { city: 'Rome' } }] },
    },
    { match: { inputText: 'words' }, response: { embedding: [0.5, 1] } },
    { match: { userMessage: 'fail' }, response: { error: { message: 'Too fast.' }, status: 429 } },
    { match: { toolCallId: 'call_1' }, response: { content: 'Done' } },
  ]

  test('answers the first turns that it states, with any settings; other fixtures are skipped', async () => {
    const text = JSON.stringify({ fixtures }, null, 2)
    const line = text.split('\n').findIndex(one => one.includes('toolCallId')) + 1
    const { recordings, skipped } = await imported('f.json', text)
    const replay = await openReplay({ recordings: recordings.map((recording, at) => ({ file: `${at}`, recording })) })
    const joke = {
      model: 'x',
      messages: turns('joke'),
      temperature: 1,
      tools: [{ type: 'function', function: { name: 'f' } }],
    }
    expect(await ask(replay.url, '/v1/chat/completions', joke)).toContain('First')
    expect(await ask(replay.url, '/v1/chat/completions', joke)).toContain('Second')
    expect(await ask(replay.url, '/v1/messages', { ...QUESTION, messages: turns('weather') })).toContain('"tool_use"')
    expect(await ask(replay.url, '/v1/chat/completions', { model: 'other', messages: turns('weather') })).toContain(
      'No recording',
    )
    expect(await ask(replay.url, '/v1/embeddings', { model: 'e', input: 'words' })).toContain('[0.5,1]')
    expect(await ask(replay.url, '/v1/chat/completions', { model: 'e', messages: turns('fail') })).toContain(
      'Too fast.',
    )
    await replay.close()
    expect(skipped).toEqual([`f.json:${line}: fixtures[5].match.toolCallId: a recording cannot express this criterion`])
  })

  test('with a fault is an error with file and line', async () => {
    expect(await fault('f.json', '{"fixtures": [\n {"match": {"userMessage": "a"}}]}')).toBe(
      'f.json:2: fixtures[0].response: is missing',
    )
  })
})
