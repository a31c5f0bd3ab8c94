import { createCohere } from '@ai-sdk/cohere'
import { embedMany, rerank } from 'ai'
import { CohereClient, CohereError } from 'cohere-ai'
import { afterEach, describe, expect, test } from 'vitest'
import { KEY } from '../builders/config.ts'
import { type Kind, Library } from './retrieval-upstream.ts'

const QUERY = 'What is the capital of Portugal?'
const DOCUMENTS = [
  'A capital letter begins a sentence.',
  'Lisbon is the capital of Portugal.',
  'Porto lies on a river.',
]
const KINDS: readonly Kind[] = ['cohere', 'jina', 'voyage', 'embeddings', 'contents']

let library: Library
afterEach(() => library.close())

const cohere = () => new CohereClient({ token: KEY, environment: library.address, maxRetries: 0 })
const order = (results: readonly { readonly index: number }[]): number[] => results.map(({ index }) => index)

describe.each(KINDS)('documents ranked by an upstream of the kind %s', kind => {
  const byCosine = kind === 'embeddings' || kind === 'contents'

  test('for Cohere’s client, first version', async () => {
    library = await Library.open(kind)
    const { data, rawResponse } = await cohere()
      .rerank({ model: 'm', query: QUERY, documents: DOCUMENTS, topN: 2 })
      .withRawResponse()
    expect(order(data.results)).toEqual([1, 0])
    expect(data.results[0]!.relevanceScore).toBeGreaterThan(data.results[1]!.relevanceScore)
    expect(data.results[0]).not.toHaveProperty('document')
    if (kind === 'cohere') expect(data.meta?.billedUnits?.searchUnits).toBe(1)
    else expect(data.meta?.billedUnits?.inputTokens).toBe(byCosine ? 8 : 40)
    expect(rawResponse.headers.get('interlingua-loss')).toBe(byCosine ? 'documents ranked-by-cosine' : null)
  })

  test('for Cohere’s client, first version, with the documents', async () => {
    library = await Library.open(kind)
    const { results } = await cohere().rerank({
      model: 'm',
      query: QUERY,
      documents: DOCUMENTS.map((text, at) => ({ id: `d${at}`, text })),
      returnDocuments: true,
    })
    expect(order(results)).toEqual([1, 0, 2])
    expect(results.map(({ document }) => document?.text)).toEqual([1, 0, 2].map(index => DOCUMENTS[index]))
  })

  test('for Cohere’s client, second version', async () => {
    library = await Library.open(kind)
    const { results } = await cohere().v2.rerank({ model: 'm', query: QUERY, documents: DOCUMENTS, topN: 1 })
    expect(order(results)).toEqual([1])
    expect(Object.keys(results[0]!).sort()).toEqual(['index', 'relevanceScore'])
  })

  test('for the AI SDK', async () => {
    library = await Library.open(kind)
    const model = createCohere({ baseURL: `${library.address}/v2`, apiKey: KEY }).reranking('m')
    const { ranking, rerankedDocuments } = await rerank({ model, query: QUERY, documents: DOCUMENTS, topN: 2 })
    expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([1, 0])
    expect(rerankedDocuments[0]).toBe(DOCUMENTS[1])
  })

  test('by the fields of objects without a text', async () => {
    library = await Library.open(kind)
    const documents = DOCUMENTS.map((title, id) => ({ id, title }))
    const body = { model: 'm', query: QUERY, documents, return_documents: false }
    const whole = await library.testServer.ask('/v1/rerank', body)
    const byFields = await library.testServer.ask('/v1/rerank', { ...body, rank_fields: ['id', 'title'] })
    if (kind === 'jina') return
    expect(order(whole.json.results)).toEqual([1, 0, 2])
    expect(order(byFields.json.results)).toEqual([1, 0, 2])
    const sent = library.bodies.flatMap(one => one.documents ?? one.input ?? [])
    if (kind === 'cohere' || kind === 'voyage') {
      for (const at of [1, 4]) expect(sent[at]).toBe(`1\n${DOCUMENTS[1]}`)
    }
  })

  test('for a client of Jina’s, which is told the documents again', async () => {
    library = await Library.open(kind)
    const body = { model: 'm', query: QUERY, documents: DOCUMENTS, top_n: 2 }
    const { status, headers, json } = await library.testServer.ask('/v1/rerank', body)
    expect(status).toBe(200)
    const searches = kind === 'cohere' ? 'usage/searches no-count-of-searches' : undefined
    expect(headers['interlingua-loss']).toBe(byCosine ? 'documents ranked-by-cosine' : searches)
    expect(json).toMatchObject({ model: 'm', object: 'list' })
    expect(json.results.map(({ index, document }: never) => [index, document])).toEqual([
      [1, { text: DOCUMENTS[1] }],
      [0, { text: DOCUMENTS[0] }],
    ])
    // Searches are no tokens, and clients add up the counts that are present.
    expect(json.usage).toEqual({ total_tokens: kind === 'cohere' ? 0 : byCosine ? 8 : 40 })
    const short = await library.testServer.ask('/v1/rerank', { ...body, return_documents: false })
    expect(short.json.results[0]).not.toHaveProperty('document')
  })

  test.each([
    ['true', true],
    ['false', false],
  ])('for RAGFlow as a client of Xinference, whose flag is the text %s', async (return_documents, told) => {
    library = await Library.open(kind)
    // Voyage refuses unknown fields.
    const others = kind === 'voyage' ? {} : { return_len: 'true' }
    const body = { model: 'm', query: QUERY, return_documents, ...others, documents: DOCUMENTS }
    const { status, json } = await library.testServer.ask('/v1/rerank', body)
    expect(status).toBe(200)
    expect(order(json.results)).toEqual([1, 0, 2])
    expect('document' in json.results[0]).toBe(told)
    for (const sent of library.bodies) expect(sent.return_documents ?? told).toBe(told)
  })

  test('for a client of Voyage’s', async () => {
    library = await Library.open(kind)
    const body = { model: 'm', query: QUERY, documents: DOCUMENTS, top_k: 1, truncation: true, return_documents: true }
    const { json } = await library.testServer.ask('/v1/rerank', body)
    expect(json).toMatchObject({ object: 'list', data: [{ index: 1, document: DOCUMENTS[1] }] })
    expect(json.usage.total_tokens).toEqual(expect.any(Number))
    const bare = await library.testServer.ask('/v1/rerank', { ...body, return_documents: undefined, top_k: null })
    expect(bare.json.data.map(Object.keys)).toEqual([1, 0, 2].map(() => ['index', 'relevance_score']))
  })

  test('for the AI SDK’s provider for Voyage, which omits the number of ranks', async () => {
    library = await Library.open(kind)
    const body = { model: 'm', query: QUERY, documents: DOCUMENTS, return_documents: false, truncation: true }
    const headers = { 'user-agent': 'ai-sdk/provider-utils/5.0.1 runtime/node.js/22' }
    const { json } = await library.testServer.ask('/v1/rerank', body, { headers })
    expect((await library.testServer.ask('/v1/rerank', body)).json.results).toHaveLength(3)
    expect(json).toMatchObject({ object: 'list', model: 'm', usage: { total_tokens: expect.any(Number) } })
    expect(order(json.data)).toEqual([1, 0, 2])
  })

  test('for the AI SDK’s provider for Together, which demands each of its counts', async () => {
    library = await Library.open(kind)
    const body = { model: 'm', query: QUERY, documents: DOCUMENTS, top_n: 2, return_documents: false }
    const headers = { 'user-agent': 'ai/7.0.173 ai-sdk/togetherai/2.0.84 runtime/node.js/22' }
    const { json } = await library.testServer.ask('/v1/rerank', body, { headers })
    expect(order(json.results)).toEqual([1, 0])
    const total = kind === 'cohere' ? 0 : byCosine ? 8 : 40
    expect(json.usage).toEqual({ prompt_tokens: total, completion_tokens: 0, total_tokens: total })
  })
})

describe('an upstream that only embeds ranks', () => {
  test('the query and the documents as what they are, where it can be told', async () => {
    library = await Library.open('embeddings', {}, {}, { purpose_field: 'input_type' })
    const { results } = await cohere().v2.rerank({ model: 'm', query: QUERY, documents: DOCUMENTS })
    expect(order(results)).toEqual([1, 0, 2])
    expect(library.bodies.map(({ input, input_type }) => [input_type, input])).toEqual([
      ['query', [QUERY]],
      ['document', DOCUMENTS],
    ])
  })

  test('more documents than it embeds at once', async () => {
    library = await Library.open('embeddings')
    const documents = Array.from({ length: 250 }, (_, at) =>
      at === 240 ? 'Lisbon, capital of Portugal' : `Text ${at}`,
    )
    const { json, headers } = await library.testServer.ask('/v1/rerank', {
      model: 'm',
      query: QUERY,
      documents,
      top_n: 3,
    })
    expect(order(json.results)).toEqual([240, 0, 1])
    expect(library.bodies.map(({ input }) => input.length).sort()).toEqual([100, 100, 51])
    expect(json.usage.total_tokens).toBe(502)
    expect(headers['interlingua-loss-count']).toBe('1')
  })

  test('not for a caller who wants nothing lost', async () => {
    library = await Library.open('embeddings')
    const body = { model: 'm', query: QUERY, documents: DOCUMENTS }
    const { status, json } = await library.testServer.ask('/v1/rerank', body, {
      headers: { 'interlingua-on-loss': 'refuse' },
    })
    expect(status).toBe(422)
    expect(json.message).toContain('ranked-by-cosine')
    expect(library.bodies).toEqual([])
  })

  test('with vectors as base64, and of no direction', async () => {
    library = await Library.open('embeddings')
    library.does((response, { text }) => {
      const { input } = JSON.parse(text)
      const vector = (at: number) =>
        Buffer.from(Float32Array.from(at === 1 ? [0, 0] : [1, at]).buffer).toString('base64')
      const data = input.map((_: string, index: number) => ({ object: 'embedding', index, embedding: vector(index) }))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }))
    })
    const { json } = await library.testServer.ask('/v1/rerank', { model: 'm', query: QUERY, documents: ['a', 'b'] })
    expect(json.results.map(({ index, relevance_score }: never) => [index, relevance_score])).toEqual([
      [1, expect.closeTo(1 / Math.sqrt(5), 6)],
      [0, 0],
    ])
    expect(json.usage).toEqual({ total_tokens: 0 })
  })

  test('nothing where a vector is missing', async () => {
    library = await Library.open('embeddings')
    library.fails(200, { object: 'list', data: [], model: 'm' })
    const { status, json } = await library.testServer.ask('/v1/rerank', {
      model: 'm',
      query: QUERY,
      documents: DOCUMENTS,
    })
    expect(status).toBe(502)
    expect(json.message).toContain('For 4 inputs, the upstream returned 0 embeddings')
  })
})

describe('vectors at the endpoint of Cohere’s second version', () => {
  test.each(['cohere', 'embeddings'] as const)('for Cohere’s client, from %s', async kind => {
    library = await Library.open(kind)
    const { embeddings, meta } = await cohere().v2.embed({
      model: 'm',
      texts: ['Lisbon', 'Porto'],
      inputType: 'search_document',
      embeddingTypes: ['float'],
    })
    expect(embeddings.float).toEqual([
      [0, 0, 1, 0, 0, 0, 0, 0],
      [0, 0, 0, 1, 0, 0, 0, 0],
    ])
    expect(meta?.billedUnits?.inputTokens).toBe(kind === 'cohere' ? 6 : 4)
  })

  test.each(KINDS.filter(kind => kind !== 'jina' && kind !== 'voyage'))(
    'for Cohere’s client, first version, from %s',
    async kind => {
      library = await Library.open(kind)
      const asked = { model: 'm', texts: ['Lisbon', 'Porto'], inputType: 'search_document' as const }
      const vectors = [
        [0, 0, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0],
      ]
      const plain = await cohere().embed(asked)
      expect(plain.responseType).toBe('embeddings_floats')
      expect(plain.embeddings).toEqual(vectors)
      const typed = await cohere().embed({ ...asked, embeddingTypes: ['float'] })
      if (typed.responseType !== 'embeddings_by_type') expect.fail(typed.responseType)
      expect(typed.embeddings.float).toEqual(vectors)
    },
  )

  test('for Cohere’s client, first version, more than Cohere takes at once, without a type of input', async () => {
    library = await Library.open('cohere')
    const texts = Array.from({ length: 100 }, (_, at) => `Lisbon ${at}`)
    const { json } = await library.testServer.ask('/v1/embed', { model: 'm', texts, truncate: 'END' })
    expect([json.response_type, json.embeddings.length]).toEqual(['embeddings_floats', 100])
    expect(library.bodies.map(({ truncate, input_type }) => [truncate, input_type])).toEqual([
      ['END', 'search_document'],
      ['END', 'search_document'],
    ])
  })

  test.each(['cohere', 'embeddings'] as const)('for the AI SDK, from %s', async kind => {
    library = await Library.open(kind)
    const model = createCohere({ baseURL: `${library.address}/v2`, apiKey: KEY }).embedding('m')
    const { embeddings, usage } = await embedMany({ model, values: ['Lisbon', 'Porto'] })
    expect(embeddings).toHaveLength(2)
    expect(usage.tokens).toBe(kind === 'cohere' ? 6 : 4)
  })

  test('more than Cohere takes at once, in several types and with the texts', async () => {
    library = await Library.open('cohere')
    const texts = Array.from({ length: 100 }, (_, at) => `Lisbon ${at}`)
    const asked = { model: 'm', texts, input_type: 'clustering', embedding_types: ['float', 'int8'], priority: 1 }
    const { json } = await library.testServer.ask('/v2/embed', asked)
    expect(json.texts).toEqual(texts)
    expect([json.embeddings.float.length, json.embeddings.int8.length]).toEqual([100, 100])
    expect(json.meta.billed_units).toEqual({ input_tokens: 300, image_tokens: 0 })
    expect(json.meta.api_version).toEqual({ version: '2' })
  })

  test('from Cohere for a client of OpenAI’s, in batches', async () => {
    library = await Library.open('cohere')
    const input = Array.from({ length: 200 }, () => 'Lisbon')
    const { json, headers } = await library.testServer.ask('/v1/embeddings', { model: 'm', input })
    expect(json.data).toHaveLength(200)
    expect(json.usage.prompt_tokens).toBe(600)
    expect(library.bodies.map(({ texts }) => texts.length).sort()).toEqual([8, 96, 96])
    expect(headers['interlingua-added']).toBe('input_type purpose-required')
  })
})

describe('bad input', () => {
  const GOOD = { model: 'm', query: QUERY, documents: DOCUMENTS }
  const BAD: readonly (readonly [what: string, fields: object, says: string])[] = [
    ['no documents', { documents: undefined }, 'documents'],
    ['an empty list', { documents: [] }, 'There are no documents to rank.'],
    ['a number among the documents', { documents: ['a', 1] }, 'documents'],
    ['none at all to be told', { top_n: 0 }, 'top_n'],
    ['less than none', { top_n: -1 }, 'top_n'],
    ['half a document', { top_n: 1.5 }, 'top_n'],
    ['a number as a text', { top_n: '2' }, 'top_n'],
    ['no query', { query: undefined }, 'query'],
    ['no model', { model: undefined }, 'model'],
    ['a conversation', { query: undefined, documents: undefined, messages: [] }, 'POST /v1/chat/completions'],
  ]

  test.each(BAD)('%s', async (_, fields, says) => {
    library = await Library.open('cohere')
    for (const path of ['/v1/rerank', '/v2/rerank']) {
      const { status, json } = await library.testServer.ask(path, { ...GOOD, ...fields })
      expect(status).toBe(400)
      expect(json.message).toContain(says)
      expect(json.detail).toBe(json.message)
      expect(json.id).toMatch(/^req_/)
    }
    expect(library.bodies).toEqual([])
  })

  test('more wanted than there are', async () => {
    library = await Library.open('embeddings')
    expect((await library.testServer.ask('/v1/rerank', { ...GOOD, top_n: 99 })).json.results).toHaveLength(3)
  })

  test('nothing to embed', async () => {
    library = await Library.open('cohere')
    const { status, json } = await library.testServer.ask('/v2/embed', {
      model: 'm',
      input_type: 'classification',
      texts: [],
    })
    expect([status, json.message]).toEqual([400, 'body: There is nothing to embed.'])
  })

  test('a picture for an upstream that reads texts only is refused, not dropped', async () => {
    library = await Library.open('cohere')
    for (const image of ['data:image/png;base64,iVBORw0KGgo=', 'https://example.com/never-fetched.png']) {
      const documents = [{ image }, 'text']
      const { status, json } = await library.testServer.ask('/v1/rerank', { ...GOOD, documents })
      expect(status).toBe(422)
      expect(json).toMatchObject({ code: 'cannot_express', message: expect.stringContaining('documents-are-text') })
    }
  })
})

test('a request without a body is refused in the endpoint’s format', async () => {
  library = await Library.open('cohere')
  for (const path of ['/v1/rerank', '/v2/rerank', '/v1/embed', '/v2/embed', '/v2/nothing']) {
    const { status, json } = await library.testServer.ask(path, undefined, { method: 'GET' })
    expect([404, 405]).toContain(status)
    expect(json).toMatchObject({ id: expect.any(String), message: expect.any(String) })
  }
})

describe('errors of upstreams, an error under 200 among them (trap 77)', () => {
  const BODIES: readonly (readonly [Kind, number, object, number, string])[] = [
    ['cohere', 400, { id: 'e-1', message: 'model is not there' }, 400, 'model is not there'],
    ['cohere', 429, { message: 'slow down' }, 429, 'slow down'],
    ['cohere', 498, { message: 'invalid token' }, 503, "The upstream does not serve the gateway's account at present."],
    ['jina', 422, { detail: [{ loc: ['body', 'top_n'], msg: 'too small', type: 'x' }] }, 400, 'top_n: too small'],
    ['jina', 503, { detail: 'overloaded' }, 503, 'overloaded'],
    ['voyage', 400, { detail: 'too many tokens' }, 400, 'too many tokens'],
    ['jina', 200, { detail: 'out of luck' }, 502, 'out of luck'],
    ['voyage', 500, { error: { message: 'broken' } }, 502, 'broken'],
  ]

  test.each(BODIES)('%s %i %j', async (kind, status, body, seen, says) => {
    library = await Library.open(kind)
    library.fails(status, body)
    const thrown: unknown = await cohere()
      .rerank({ model: 'm', query: QUERY, documents: DOCUMENTS })
      .catch(error => error)
    expect(thrown).toBeInstanceOf(CohereError)
    const { statusCode, body: told } = thrown as CohereError
    expect(statusCode).toBe(seen)
    expect(told).toMatchObject({ message: says, detail: says })
  })
})
