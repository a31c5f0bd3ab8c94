import { FLAGS } from '../dialects/contents.ts'
import { ANYWHERE, modelFields } from './model-field-lists.ts'
import type { FormatRow, MethodEndpoint, ModelMethods } from './row.ts'

const PATH = '/v1beta/models/{model}:generateContent'

const method = (name: string, mark: string, more: Partial<MethodEndpoint> = {}): [string, MethodEndpoint] => [
  name,
  { path: PATH, mark, headers: [], query: ['alt'], ...more },
]

/**
 * Methods of a model, such as `/v1/models/a/b:generateContent`. The method follows the last colon, which some clients
 * encode (docs/wire/contents.md#endpoints).
 */
const METHODS: ModelMethods = {
  path: /^\/v1(?:beta)?\/(.+)(?::|%3[Aa])([A-Za-z]+)$/,
  below: (model, method) => `/v1beta/${model}:${method}`,
  pathOf: (model, method) => `/v1beta/models/${model}:${method}`,
  endpoints: new Map([
    method('generateContent', 'contents'),
    method('streamGenerateContent', 'contents', { streams: true, framing: 'array' }),
    method('embedContent', 'content', { path: '/v1beta/models/{model}:embedContent' }),
    method('batchEmbedContents', 'requests', { path: '/v1beta/models/{model}:batchEmbedContents' }),
    method('countTokens', 'generateContentRequest', { takes: ['contents'] }),
  ]),
}

/** Fields with a model that answers instead of the path's (Vertex AI). */
const ROUTED =
  'generationConfig|generation_config.routingConfig|routing_config.manualMode|manual_mode.modelName|model_name'

/** Fields with a model that ranks retrieved documents (Vertex AI). */
const RANKING =
  'tools.*.retrieval.vertexRagStore|vertex_rag_store.ragRetrievalConfig|rag_retrieval_config.ranking.' +
  'llmRanker|llm_ranker.modelName|model_name'

/** Fields with a request whose tokens should be counted. */
const COUNTED = 'generateContentRequest|generate_content_request'

export const contents: FormatRow = {
  name: { en: 'Contents (Gemini)', zh: 'Contents（Gemini）', short: 'Contents' },
  upstream: {
    does: ['conversation', 'completion', 'count', 'embedding', 'image', 'speech', 'transcription'],
    versioned: 'path',
    auth: 'x-goog-api-key',
    listing: { path: '/v1beta/models', query: { pageSize: '1000' }, headers: {} },
    singleImage: true,
  },
  callers: ['conversation', 'embedding', 'image', 'speech'],
  methods: METHODS,
  otherPaths: /^\/v1(?:beta\/(?!interactions)|\/(?:models|tunedModels)\/)|\/publishers\/google\//,
  modelFields: modelFields(
    [...ANYWHERE, ROUTED, RANKING, `${COUNTED}.${ROUTED}`, `${COUNTED}.${RANKING}`],
    ['model', 'requests.*.model', `${COUNTED}.model`],
  ),
  flags: FLAGS,
}
