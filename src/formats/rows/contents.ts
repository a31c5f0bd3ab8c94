import { FLAGS } from '../dialects/contents.ts'
import { COMMON_MODEL_FIELDS, modelFields } from './model-field-lists.ts'
import type { FormatRow, MethodEndpoint, ModelMethods } from './row.ts'

const PATH = '/v1beta/models/{model}:generateContent'

const method = (name: string, mark: string, overrides: Partial<MethodEndpoint> = {}): [string, MethodEndpoint] => [
  name,
  { path: PATH, mark, headers: [], query: ['alt'], ...overrides },
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
    method('predict', 'instances', { path: '/v1beta/models/{model}:predict' }),
    method('countTokens', 'generateContentRequest', { takes: ['contents'] }),
  ]),
}

/** Fields with a model that answers instead of the path's (Vertex AI). */
const ROUTING_FIELDS =
  'generationConfig|generation_config.routingConfig|routing_config.manualMode|manual_mode.modelName|model_name'

/** Fields with a model that ranks retrieved documents (Vertex AI). */
const RANKING_FIELDS =
  'tools.*.retrieval.vertexRagStore|vertex_rag_store.ragRetrievalConfig|rag_retrieval_config.ranking.' +
  'llmRanker|llm_ranker.modelName|model_name'

/** Fields with a request whose tokens should be counted. */
const COUNT_REQUEST_FIELDS = 'generateContentRequest|generate_content_request'

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
    [
      ...COMMON_MODEL_FIELDS,
      ROUTING_FIELDS,
      RANKING_FIELDS,
      `${COUNT_REQUEST_FIELDS}.${ROUTING_FIELDS}`,
      `${COUNT_REQUEST_FIELDS}.${RANKING_FIELDS}`,
    ],
    ['model', 'requests.*.model', `${COUNT_REQUEST_FIELDS}.model`],
  ),
  flags: FLAGS,
}
