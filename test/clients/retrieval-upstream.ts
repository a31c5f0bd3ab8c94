import type { ServerResponse } from 'node:http'
import type { ChannelConfig } from '../../src/config/index.ts'
import { channelAt, type TestServerOptions } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream, type Seen } from '../builders/upstream.ts'
import type { Loose } from './scene.ts'

/* Hand-written upstreams that rank and embed. They use no code of the gateway. */

export type Kind = 'cohere' | 'jina' | 'voyage' | 'embeddings' | 'contents'

const WORDS = ['capital', 'portugal', 'lisbon', 'porto', 'river', 'douro', 'letter', 'sentence']

/** Returns how often each of a few words occurs. */
const vectorOf = (text: string): number[] => {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? []
  return WORDS.map(word => words.filter(one => one === word).length)
}

export const textOf = (document: Loose): string => (typeof document === 'string' ? document : (document.text ?? ''))

/** Returns the share of a query's words that a document contains. */
function scoreOf(query: string, document: Loose): number {
  const wanted = vectorOf(query)
  const there = vectorOf(textOf(document))
  const hits = wanted.filter((count, at) => count > 0 && there[at]! > 0).length
  return hits / Math.max(1, wanted.filter(count => count > 0).length)
}

const ranked = (query: string, documents: readonly Loose[], top: number | null | undefined) =>
  documents
    .map((document, index) => ({ index, relevance_score: scoreOf(query, document), document }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top ?? undefined)

const bare = ({ index, relevance_score }: Loose) => ({ index, relevance_score })
const allTexts = (documents: readonly Loose[]): boolean => documents.every(one => typeof one === 'string')

type Answer = readonly [status: number, body: Loose]
type Serve = (url: string, body: Loose) => Answer

const cohere: Serve = (url, body) => {
  const meta = { api_version: { version: '2' } }
  if (url === '/v2/rerank') {
    const { model, query, documents, top_n, ...others } = body
    if (!allTexts(documents)) return [400, { id: 'e-1', message: 'documents must be texts' }]
    if ('return_documents' in others) return [400, { id: 'e-1', message: 'unknown field: return_documents' }]
    const results = ranked(query, documents, top_n).map(bare)
    return [200, { id: 'up-1', results, meta: { ...meta, billed_units: { search_units: 1 } } }]
  }
  if (url !== '/v2/embed') return [404, { id: 'e-1', message: `no ${url}` }]
  const { texts = [], inputs = [], input_type, embedding_types, priority } = body
  const things = [...texts, ...inputs.map(({ content }: Loose) => content.map(textOf).join(' '))]
  if (input_type === undefined) return [400, { id: 'e-1', message: 'input_type is required' }]
  if (things.length > 96) return [400, { id: 'e-1', message: 'too many inputs' }]
  const lists = (embedding_types ?? ['float']).map((type: string) => [type, things.map(vectorOf)])
  const embeddings = Object.fromEntries(lists)
  const billed_units = { input_tokens: things.length * 3, image_tokens: 0 }
  const told = priority === undefined ? {} : { texts }
  return [
    200,
    { id: 'up-2', response_type: 'embeddings_by_type', embeddings, ...told, meta: { ...meta, billed_units } },
  ]
}

const jina: Serve = (url, { query, documents, top_n, return_documents, model }) => {
  if (url !== '/v1/rerank') return [404, { detail: 'Not Found' }]
  const told = return_documents ?? true
  const results = ranked(query, documents, top_n).map(one =>
    told ? { ...one, document: { text: textOf(one.document) } } : bare(one),
  )
  return [200, { model, object: 'list', usage: { total_tokens: 40 }, results }]
}

const voyage: Serve = (url, body) => {
  if (url !== '/v1/rerank') return [404, { detail: 'Not Found' }]
  const { query, documents, top_k, return_documents = false, model, truncation: _, ...others } = body
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return [400, { detail: `Argument '${unknown}' is not supported by our API` }]
  if (!allTexts(documents)) return [400, { detail: 'documents must be a list of strings' }]
  if (top_k > documents.length) return [400, { detail: 'top_k is larger than the number of documents' }]
  const data = ranked(query, documents, top_k).map(one => (return_documents ? one : bare(one)))
  return [200, { object: 'list', data, model, usage: { total_tokens: 40 } }]
}

const embeddings: Serve = (url, { input, model, encoding_format }) => {
  if (url !== '/v1/embeddings') return [404, { error: { message: 'no such path' } }]
  if (input.length > 100) return [400, { error: { message: 'too many inputs' } }]
  const said = (vector: number[]) =>
    encoding_format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector
  const data = input.map((text: string, index: number) => ({
    object: 'embedding',
    index,
    embedding: said(vectorOf(text)),
  }))
  const tokens = input.length * 2
  return [200, { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } }]
}

/** Google's API: one method for a single input, and one for several. */
const contents: Serve = (url, body) => {
  const method = /^\/v1beta\/models\/m:(embedContent|batchEmbedContents)$/.exec(url)?.[1]
  if (method === undefined) return [404, { error: { code: 404, message: 'no such method', status: 'NOT_FOUND' } }]
  const asked = method === 'embedContent' ? [body] : body.requests
  const vectors = asked.map(({ content }: Loose) => ({ values: vectorOf(content.parts.map(textOf).join(' ')) }))
  const usageMetadata = { promptTokenCount: asked.length * 2 }
  return [200, { ...(method === 'embedContent' ? { embedding: vectors[0] } : { embeddings: vectors }), usageMetadata }]
}

const SERVES: { readonly [K in Kind]: Serve } = { cohere, jina, voyage, embeddings, contents }

const FORMATS: { readonly [K in Kind]: { readonly format: string; readonly base: string; readonly dialect: Loose } } = {
  cohere: { format: 'cohere', base: '', dialect: { batch: 96 } },
  jina: { format: 'rerank', base: '/v1', dialect: {} },
  voyage: { format: 'rerank', base: '/v1', dialect: { top_field: 'top_k', documents: 'text' } },
  embeddings: { format: 'embeddings', base: '/v1', dialect: { batch: 100 } },
  contents: { format: 'contents', base: '', dialect: { batch: 100 } },
}

/** Such an upstream behind a separate gateway. */
export class Library {
  readonly testServer: TestServer
  private readonly upstream: FakeUpstream

  private constructor(testServer: TestServer, upstream: FakeUpstream) {
    this.testServer = testServer
    this.upstream = upstream
  }

  static async open(
    kind: Kind,
    fields: Partial<ChannelConfig> = {},
    options: TestServerOptions = {},
    quirks: Loose = {},
  ): Promise<Library> {
    const serve = SERVES[kind]
    const upstream = await FakeUpstream.open((response, { url, text }) =>
      answer(response, serve(url, JSON.parse(text))),
    )
    const { format, base, dialect } = FORMATS[kind]
    const formats = [
      {
        format,
        baseUrl: upstream.address + base,
        auth: 'bearer',
        headers: {},
        query: {},
        dialect: { ...dialect, ...quirks },
      } as const,
    ]
    return new Library(
      await TestServer.open([{ ...channelAt(upstream.address), formats, ...fields }], options),
      upstream,
    )
  }

  /** Sets the behaviour from now on. */
  does(script: (response: ServerResponse, seen: Seen) => unknown): void {
    this.upstream.script = script
  }

  fails(status: number, body: Loose): void {
    this.does(response => answer(response, [status, body]))
  }

  get address(): string {
    return this.testServer.server.address
  }

  /** Bodies that the upstream received. */
  get bodies(): readonly Loose[] {
    return this.upstream.seen.map(({ text }) => JSON.parse(text))
  }

  async close(): Promise<void> {
    await this.testServer.server.close(0)
    await this.upstream.close()
  }
}

function answer(response: ServerResponse, [status, body]: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
