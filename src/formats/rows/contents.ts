import { FLAGS } from '../dialects/contents.ts'
import { ANYWHERE, modelFields } from './model-field-lists.ts'
import type { Endpoint, FormatRow } from './row.ts'

/** The endpoint of a model's method. The path below the base address has the model and the method. */
export const METHOD: Omit<Endpoint, 'below'> = {
  path: '/v1beta/models/{model}:generateContent',
  mark: 'contents',
  headers: [],
  query: ['alt'],
}

/** The supported methods, with how an endpoint of theirs differs. */
export const METHODS: ReadonlyMap<string, Partial<Endpoint>> = new Map<string, Partial<Endpoint>>([
  ['generateContent', {}],
  ['streamGenerateContent', {}],
  ['embedContent', { path: '/v1beta/models/{model}:embedContent', mark: 'content' }],
  ['batchEmbedContents', { path: '/v1beta/models/{model}:batchEmbedContents', mark: 'requests' }],
  ['countTokens', { mark: 'generateContentRequest', takes: ['contents'] }],
])

/** The model that answers instead of the path's (Vertex AI). */
const ROUTED =
  'generationConfig|generation_config.routingConfig|routing_config.manualMode|manual_mode.modelName|model_name'

/** The model that ranks retrieved documents (Vertex AI). */
const RANKING =
  'tools.*.retrieval.vertexRagStore|vertex_rag_store.ragRetrievalConfig|rag_retrieval_config.ranking.' +
  'llmRanker|llm_ranker.modelName|model_name'

/** A request that is to be counted. */
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
  otherPaths: /^\/v1(?:beta\/|\/(?:models|tunedModels)\/)|\/publishers\/google\//,
  modelFields: modelFields(
    [...ANYWHERE, ROUTED, RANKING, `${COUNTED}.${ROUTED}`, `${COUNTED}.${RANKING}`],
    ['model', 'requests.*.model', `${COUNTED}.model`],
  ),
  flags: FLAGS,
}
