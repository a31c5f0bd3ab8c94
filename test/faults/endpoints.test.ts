import { describe, expect, test } from 'vitest'
import { FORM, form } from '../builders/media.ts'
import { opener } from '../builders/opener.ts'
import type { Script } from '../builders/upstream.ts'

const { open } = opener()

/** Returns the answer of a gateway with one upstream of the format at an endpoint. */
async function ask(format: string, path: string, body: unknown, script: Script, headers = {}) {
  const models = { named: new Map([['m', 'secret-model']]), patterns: [] }
  const { testServer } = await open(script, {}, { format, models })
  const answer = await testServer.ask(path, body, { headers })
  expect(JSON.stringify(testServer.lines)).not.toContain('upstream-key')
  expect(answer.text).not.toMatch(/secret-(model|channel)|upstream-key|127\.0\.0\.1/)
  return answer
}

const says =
  (text: unknown, type = 'application/json'): Script =>
  response =>
    void response.writeHead(200, { 'content-type': type }).end(typeof text === 'string' ? text : JSON.stringify(text))

const EMBED = { model: 'm', input: ['a', 'b'] }
const RANK = { model: 'm', query: 'q', documents: ['a', 'b'] }
const DRAW = { model: 'm', prompt: 'p' }
const vector = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding })

describe('an upstream that says all is well and sends nothing of it', () => {
  test.each<[string, string, string, unknown, unknown]>([
    ['too few vectors', 'embeddings', '/v1/embeddings', EMBED, { data: [vector(0, [1])] }],
    ['too many vectors', 'embeddings', '/v1/embeddings', EMBED, { data: [0, 1, 2].map(at => vector(at, [1])) }],
    ['entries that hold nothing', 'embeddings', '/v1/embeddings', EMBED, { data: [{}, {}] }],
    ['texts for numbers', 'embeddings', '/v1/embeddings', EMBED, { data: [vector(0, ['1']), vector(1, ['2'])] }],
    ['nulls for numbers', 'embeddings', '/v1/embeddings', EMBED, { data: [vector(0, [null]), vector(1, [1])] }],
    ['no number', 'embeddings', '/v1/embeddings', EMBED, '{"data":[{"embedding":[NaN]},{"embedding":[1]}]}'],
    ['vectors of nothing', 'embeddings', '/v2/embed', { model: 'm', texts: ['a'] }, { data: [vector(0, [])] }],
    [
      'floats that are none',
      'embeddings',
      '/v2/embed',
      { model: 'm', texts: ['a'] },
      { data: [vector(0, 'AADAfw==')] },
    ],
    ['lists of null', 'cohere', '/v2/embed', { model: 'm', texts: ['a'] }, { embeddings: { float: null } }],
    ['an empty ranking', 'rerank', '/v1/rerank', RANK, { results: [] }],
    ['ranks of no document', 'rerank', '/v1/rerank', RANK, { results: [{ index: 7, relevance_score: 1 }] }],
    ['ranks in words', 'cohere', '/v2/rerank', RANK, { results: [{ index: '0', relevance_score: 'NaN' }] }],
    ['no picture', 'images', '/v1/images/generations', DRAW, { created: 1, data: [] }],
    ['a picture without its bytes', 'images', '/v1/images/generations', DRAW, { created: 1, data: [{}] }],
    ['no choice', 'completions', '/v1/completions', DRAW, { choices: [] }],
    [
      'no choice where a stream is asked for',
      'completions',
      '/v1/completions',
      { ...DRAW, stream: true },
      { choices: [] },
    ],
  ])('%s', async (_, format, path, body, said) => {
    const answer = await ask(format, path, body, says(said))
    expect(answer.status).toBe(502)
  })

  test.each(['[]', '[ ]', '""'])('a vector of %s among others', async nothing => {
    const said = `{"data":[{"embedding":[1]},{"embedding":${nothing}}]}`
    for (const encoding_format of ['float', 'base64']) {
      const answer = await ask('embeddings', '/v1/embeddings', { ...EMBED, encoding_format }, says(said))
      expect(answer.status).toBe(502)
    }
  })

  test('no sound', async () => {
    const body = { model: 'm', input: 'hi', voice: 'alloy' }
    const answer = await ask('speech', '/v1/audio/speech', body, says('', 'audio/mpeg'))
    expect(answer.status).toBe(502)
    expect(answer.json.error.type).toBe('upstream_error')
  })

  test.each(['embeddings', 'rerank', 'cohere'])('a stream where %s has none', async format => {
    const [path, body] = format === 'embeddings' ? ['/v1/embeddings', EMBED] : ['/v1/rerank', RANK]
    const answer = await ask(format, path as string, body, says('data: {}\n\n', 'text/event-stream'))
    expect(answer.status).toBe(502)
  })
})

describe('a transcript', () => {
  const PAGE = '<!doctype html><p>secret-channel at 127.0.0.1</p>'
  test.each([
    ['a page', 'json', PAGE, 'text/html'],
    ['a page for a text', 'text', PAGE, 'text/html; charset=utf-8'],
    ['a page that calls itself a text', 'text', PAGE, 'text/plain'],
    ['nothing at all', 'json', '', 'text/plain'],
    ['an error that calls itself a text', 'json', '{"error":{"message":"No."}}', 'text/plain'],
  ])('is not %s', async (_, format, text, type) => {
    const answer = await ask('transcriptions', '/v1/audio/transcriptions', form(format), says(text, type), FORM)
    expect(answer.status).toBe(502)
  })

  test('may be an object that calls itself a text', async () => {
    const script = says('{"text":"Hello."}', 'text/plain')
    const answer = await ask('transcriptions', '/v1/audio/transcriptions', form('json'), script, FORM)
    expect(answer.json.text).toBe('Hello.')
  })

  test('may be empty where a text is asked for: nobody said a word', async () => {
    const answer = await ask('transcriptions', '/v1/audio/transcriptions', form('text'), says('', 'text/plain'), FORM)
    expect([answer.status, answer.text]).toEqual([200, ''])
  })
})

test('a server of /v2/rerank that names its model does not tell the caller', async () => {
  const said = { id: 'r', model: 'secret-model', results: [{ index: 0, relevance_score: 1 }] }
  const answer = await ask('cohere', '/v2/rerank', RANK, says(said))
  expect(answer.json).toMatchObject({ model: 'm', results: said.results })
})

test('a count that is none is estimated', async () => {
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hello there.' }] }] }
  const script = says({ detail: 'secret-channel at 127.0.0.1' })
  const answer = await ask('contents', '/v1beta/models/m:countTokens', body, script)
  expect(answer.status).toBe(200)
  expect(answer.headers['interlingua-estimate']).toBe('true')
  expect(answer.json.totalTokens).toBeGreaterThan(0)
})

describe('an edit without an image', () => {
  test.each<[string, string, unknown, object]>([
    ['in JSON', '/v1/images/edits', { model: 'm', prompt: 'p' }, {}],
    ['in JSON with an empty list', '/v1/images/edits', { model: 'm', prompt: 'p', images: [] }, {}],
    [
      'in a form',
      '/v1/images/variations',
      '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--x--\r\n',
      FORM,
    ],
  ])('%s', async (_, path, body, headers) => {
    const answer = await ask('images', path, body, says({ created: 1, data: [{ b64_json: 'AAAA' }] }), headers)
    expect(answer.status).toBe(400)
    expect(answer.json.error.message).toContain('An image to edit is required')
  })
})

test('an upstream that says the key it refuses is logged without it', async () => {
  const script: Script = (response, { headers }) =>
    response.writeHead(401).end(JSON.stringify({ error: { message: `Wrong key: ${headers.authorization}` } }))
  expect((await ask('embeddings', '/v1/embeddings', EMBED, script)).status).toBe(503)
})
