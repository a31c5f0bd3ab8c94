import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import type { TestServer } from '../builders/gateway.ts'
import { FORM, form } from '../builders/media.ts'
import { opener } from '../builders/opener.ts'
import { pathsOf, withValueAt } from '../builders/rubbish.ts'
import type { FakeUpstream, Script } from '../builders/upstream.ts'

/* A caller with a key, and upstreams, send arbitrary values to every endpoint for media. */

const { open } = opener()
const answerOf = (format: string, name = 'hello'): JsonObject =>
  JSON.parse(readFileSync(`fixtures/${format}/${name}.result.json`, 'utf8'))

const DEPTH = 5000
const DEEP = '['.repeat(DEPTH) + ']'.repeat(DEPTH)
const MARK = '"deep value"'

const RUBBISH: readonly Json[] = [
  ...[null, -1, 1e308, '', '\u0000\ud800', true, 'deep value', '__proto__', [null], {}, [1, 'a']],
  ...['data:image/png;base64,%%%', 'http://127.0.0.1:1/x'],
]

/** Yields the variants of a body with each of its fields replaced by rubbish, left out, or repeated. */
function* mutated(body: JsonObject): Generator<string> {
  for (const path of pathsOf(body, { deep: 5, wide: 12 })) {
    for (const value of RUBBISH) yield JSON.stringify(withValueAt(body, path, value)).replaceAll(MARK, DEEP)
    yield JSON.stringify(withValueAt(body, path, undefined))
  }
  for (const name of ['__proto__', 'constructor', 'toString', 'model', ''])
    yield JSON.stringify(body).replace('{', `{"${name}":{"a":1},`)
  for (const text of ['', '{', 'null', '[]', '"x"', '1', '{}', '\ufeff{}', JSON.stringify(body).slice(0, -3), DEEP])
    yield text
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='
const PICTURE = `data:image/png;base64,${PNG}`

type Case = readonly [path: string, body: JsonObject, formats: readonly string[]]

const CASES: readonly Case[] = [
  [
    '/v1/embeddings',
    { model: 'm', input: ['a', [1, 2]], dimensions: 8, encoding_format: 'float', user: 'u' },
    ['embeddings', 'contents', 'cohere'],
  ],
  [
    '/v2/embed',
    { model: 'm', texts: ['a'], input_type: 'search_query', embedding_types: ['float'] },
    ['cohere', 'embeddings'],
  ],
  [
    '/v1beta/models/m:batchEmbedContents',
    { requests: [{ model: 'models/m', content: { parts: [{ text: 'a' }] }, taskType: 'x', outputDimensionality: 3 }] },
    ['contents', 'embeddings'],
  ],
  [
    '/v1/rerank',
    { model: 'm', query: 'q', documents: ['a', { text: 'b' }], top_n: 1, return_documents: true },
    ['rerank', 'cohere', 'embeddings'],
  ],
  ['/v2/rerank', { model: 'm', query: 'q', documents: ['a'], top_n: 1, max_tokens_per_doc: 3 }, ['cohere', 'rerank']],
  [
    '/v1/images/generations',
    {
      model: 'm',
      prompt: 'p',
      n: 1,
      size: '1x1',
      quality: 'q',
      style: 's',
      response_format: 'b64_json',
      background: 'auto',
      output_format: 'png',
      output_compression: 3,
    },
    ['images', 'contents', 'responses', 'chat'],
  ],
  [
    '/v1/images/edits',
    { model: 'm', prompt: 'p', images: [{ image_url: PICTURE }], mask: { image_url: PICTURE }, n: 1 },
    ['images', 'contents'],
  ],
  [
    '/v1/audio/speech',
    {
      model: 'm',
      input: 'i',
      voice: 'alloy',
      instructions: 'x',
      response_format: 'wav',
      speed: 1,
      stream_format: 'audio',
    },
    ['speech', 'contents', 'chat', 'elevenlabs'],
  ],
  [
    '/v1/videos',
    { model: 'm', prompt: 'p', seconds: '4', size: '720x1280', input_reference: { image_url: PICTURE } },
    ['videos', 'veo', 'kling', 'generations'],
  ],
  [
    '/v1/video/generations',
    { model: 'm', prompt: 'p', duration: 5, image: PICTURE, metadata: { a: 1 } },
    ['generations', 'videos'],
  ],
  [
    '/videovendor/v1/videos/image2video',
    {
      model: 'm',
      prompt: 'p',
      image: PNG,
      duration: '5',
      cfg_scale: 0.5,
      camera_control: { type: 'simple', config: { pan: 1 } },
    },
    ['kling', 'videos'],
  ],
]
const EVERY = CASES.flatMap(([path, body, formats]) => formats.map(format => [path, format, body] as const))

/** An upstream that has failed. Any other fault must be answered with 4xx. */
const saying: Script = response => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')

/** Checks that there is no internal fault, and that the answer does not mention the upstream. */
function check(testServer: TestServer, upstream: FakeUpstream, sent: string, answer: { status: number; text: string }) {
  const shown = sent.length > 300 ? `${sent.slice(0, 300)}…` : sent
  expect.soft(answer.status === 500 || answer.text.includes('failed to handle'), `${shown}: ${answer.text}`).toBe(false)
  expect.soft(answer.text, shown).not.toMatch(new RegExp(`upstream-key|${upstream.address.slice(7)}`))
  expect(testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
}

let rejections: unknown[] = []
const note = (why: unknown): void => void rejections.push(why)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.off('unhandledRejection', note))

describe('a caller that sends rubbish', () => {
  test.each(EVERY)(
    'to %s before %s',
    async (path, format, body) => {
      rejections = []
      const { testServer, upstream } = await open(saying, {}, { format })
      for (const text of mutated(body)) {
        const answer = await testServer.ask(path, text)
        check(testServer, upstream, text, answer)
        if (answer.status >= 500 && upstream.seen.length === 0)
          expect.soft([answer.status, text.slice(0, 300)], answer.text).toEqual([])
        upstream.seen.length = 0
        testServer.lines.length = 0
      }
      expect(rejections).toEqual([])
    },
    120_000,
  )
})

const TRANSCRIBED = {
  text: 't',
  language: 'en',
  duration: 1,
  segments: [{ id: 0, start: 0, end: 1, text: 't' }],
  words: [{ word: 't', start: 0, end: 1 }],
  usage: {
    type: 'tokens',
    input_tokens: 1,
    output_tokens: 1,
    total_tokens: 2,
    input_token_details: { text_tokens: 1, audio_tokens: 0 },
  },
}
const ELEVEN = {
  language_code: 'en',
  language_probability: 1,
  text: 't',
  words: [{ text: 't', type: 'word', start: 0, end: 1, speaker_id: 's', logprob: 0 }],
}
const DEEPGRAM = {
  metadata: { duration: 1 },
  results: {
    channels: [
      {
        alternatives: [
          {
            transcript: 't',
            confidence: 1,
            words: [{ word: 't', punctuated_word: 'T', start: 0, end: 1, speaker: 0 }],
            paragraphs: { paragraphs: [{ sentences: [{ text: 't', start: 0, end: 1 }] }] },
          },
        ],
        detected_language: 'en',
      },
    ],
    utterances: [{ transcript: 't', start: 0, end: 1, speaker: 0 }],
  },
}

const SPEAK = { model: 'm', input: 'i', voice: 'alloy' }
const TALK = '/v1/audio/transcriptions'

interface Headers {
  readonly [name: string]: string
}

/** An endpoint, the body sent to it, the upstream's format, and a correct answer of the upstream. */
type Exchange = [path: string, body: unknown, format: string, said: JsonObject, headers?: Headers]

const ANSWERED: readonly Exchange[] = [
  [
    '/v1/embeddings',
    { model: 'm', input: 'a' },
    'embeddings',
    {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [1, 2] }],
      model: 'x',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  ],
  ['/v1/embeddings', { model: 'm', input: ['a', 'b'] }, 'contents', answerOf('contents', 'embed-batch')],
  [
    '/v1/embeddings',
    { model: 'm', input: ['a', 'b'], encoding_format: 'base64' },
    'cohere',
    answerOf('cohere', 'embed'),
  ],
  ['/v2/embed', { model: 'm', texts: ['a', 'b'], input_type: 'search_query' }, 'cohere', answerOf('cohere', 'embed')],
  ['/v1/rerank', { model: 'm', query: 'q', documents: ['a', 'b', 'c', 'd'] }, 'rerank', answerOf('rerank')],
  ['/v1/rerank', { model: 'm', query: 'q', documents: ['a', 'b', 'c', 'd'] }, 'cohere', answerOf('cohere', 'rerank')],
  ['/v2/rerank', { model: 'm', query: 'q', documents: ['a', 'b', 'c', 'd'] }, 'rerank', answerOf('rerank')],
  ['/v1/images/generations', { model: 'm', prompt: 'p', response_format: 'b64_json' }, 'images', answerOf('images')],
  ['/v1/images/generations', { model: 'm', prompt: 'p' }, 'images', answerOf('images', 'address')],
  ['/v1/images/generations', { model: 'm', prompt: 'p', stream: true }, 'images', answerOf('images')],
  [
    '/v1/images/generations',
    { model: 'm', prompt: 'p' },
    'contents',
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 1 },
    },
  ],
  [
    '/v1/images/generations',
    { model: 'm', prompt: 'p' },
    'responses',
    {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [{ type: 'image_generation_call', id: 'ig', status: 'completed', result: PNG, size: '1x1' }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
  ['/v1/audio/speech', { ...SPEAK, response_format: 'wav' }, 'contents', answerOf('contents', 'speech')],
  [
    '/v1/audio/speech',
    { ...SPEAK, response_format: 'pcm', stream_format: 'sse' },
    'contents',
    answerOf('contents', 'speech'),
  ],
  ['/v1/audio/speech', SPEAK, 'elevenlabs', { audio_base64: 'SUQz', alignment: { characters: ['a'] } }],
  [TALK, form('json'), 'transcriptions', TRANSCRIBED, FORM],
  [TALK, form('verbose_json'), 'transcriptions', TRANSCRIBED, FORM],
  [TALK, form('srt'), 'elevenlabs', ELEVEN, FORM],
  [TALK, form('vtt'), 'deepgram', DEEPGRAM, FORM],
  [TALK, form('text'), 'contents', answerOf('contents'), FORM],
  [TALK, form('json'), 'chat', answerOf('chat'), FORM],
  [
    '/v1/videos',
    { model: 'm', prompt: 'p' },
    'videos',
    {
      id: 'v',
      object: 'video',
      status: 'queued',
      progress: 0,
      created_at: 1,
      model: 'x',
      seconds: '4',
      size: 's',
      error: null,
    },
  ],
  ['/v1/videos', { model: 'm', prompt: 'p' }, 'veo', { name: 'models/m/operations/o', done: false, metadata: {} }],
  [
    '/v1/videos',
    { model: 'm', prompt: 'p' },
    'kling',
    {
      code: 0,
      message: 's',
      request_id: 'r',
      data: { task_id: 't', task_status: 'submitted', created_at: 1, updated_at: 1 },
    },
  ],
]

describe('an upstream that answers rubbish', () => {
  test.each<Exchange>(ANSWERED)(
    'at %s to %j in %s',
    async (path, body, format, said, headers = {}) => {
      rejections = []
      let text = ''
      const { testServer, upstream } = await open(
        response => response.writeHead(200, { 'content-type': 'application/json' }).end(text),
        {},
        { format },
      )
      text = JSON.stringify(said)
      const right = await testServer.ask(path, body, { headers })
      expect(right.status, right.text).toBe(200)
      for (text of mutated(said)) {
        const answer = await testServer.ask(path, body, { headers })
        check(testServer, upstream, text, answer)
        testServer.lines.length = 0
        upstream.seen.length = 0
      }
      expect(rejections).toEqual([])
    },
    120_000,
  )
})

/** Returns the form with one more field at its start. */
const withField = (name: string, value: string): string =>
  `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n${form('json')}`

/** Forms that are invalid or unusual. */
const FORMS: readonly (readonly [body: string, headers?: { readonly [name: string]: string }])[] = [
  [''],
  ['--x'],
  ['--x--'],
  ['--x--\r\n--x--\r\n'],
  ['--x\r\n\r\n--x--\r\n'],
  [form('json').slice(0, -8)],
  [form('json').slice(0, 60)],
  [form('json').replaceAll('\r\n', '\n')],
  [form('json'), { 'content-type': 'multipart/form-data' }],
  [form('json'), { 'content-type': 'multipart/form-data; boundary=' }],
  [form('json'), { 'content-type': `multipart/form-data; boundary="${'x'.repeat(500)}"` }],
  [form('json'), { 'content-type': 'multipart/form-data; boundary=y' }],
  [form('json'), { 'content-type': 'multipart/mixed; boundary=x' }],
  [form('json'), { 'content-type': 'application/x-www-form-urlencoded' }],
  [form('json'), { ...FORM, 'content-encoding': 'gzip' }],
  [form('json'), { ...FORM, 'content-encoding': 'nonsense' }],
  [form('json').replace('"model"', '"__proto__"')],
  [form('json').replace('"model"', '"model"; filename="m.txt"')],
  [form('json').replace('name="file"; ', '')],
  [form('json').replace('name="file"', 'name="constructor"')],
  [form('json').replace('name="file"', 'name="model"')],
  [form('json').replace('name="file"', 'name=""')],
  [form('json').replace('filename="a.mp3"', 'filename="../../etc/passwd"')],
  [form('json').replace('filename="a.mp3"', 'filename="a\\r\\nx: y"')],
  [form('json').replace('filename="a.mp3"', "filename*=utf-8''%ff%00")],
  [form('json').replace('audio/mpeg', 'text/html\r\nx-a: b')],
  [form('json').replace('sound', '')],
  [form('json').replace('json', '\u0000')],
  [withField('model', 'm')],
  [withField('temperature', '1e999')],
  [withField('stream', 'maybe')],
  [withField('include[]', '{')],
  ['--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(300) + form('json')],
  [JSON.stringify({ model: 'm', file: 'x' }), { 'content-type': 'application/json' }],
]

describe('a caller that sends odd forms', () => {
  const DOORS = [
    [TALK, 'transcriptions'],
    [TALK, 'contents'],
    ['/v1/images/edits', 'images'],
    ['/v1/images/edits', 'contents'],
    ['/v1/videos', 'videos'],
    ['/v1/videos', 'kling'],
  ] as const

  test.each(DOORS)('to %s before %s', async (path, format) => {
    rejections = []
    const { testServer, upstream } = await open(saying, {}, { format })
    for (const [body, headers = FORM] of FORMS) {
      const answer = await testServer.ask(path, body, { headers })
      check(testServer, upstream, body, answer)
      if (answer.status >= 500) expect.soft(upstream.seen, `${body.slice(0, 300)}: ${answer.text}`).not.toEqual([])
      testServer.lines.length = 0
      upstream.seen.length = 0
    }
    expect(rejections).toEqual([])
  })
})
