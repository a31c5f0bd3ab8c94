import type { Format } from '../canonical/node.ts'

/**
 * Paths at which a request of a format may name a model: fields joined by dots, `*` for the items of a list, `|` between
 * spellings of one field, `hosted:` before a field that only tools run by the upstream have.
 */
export interface ModelFields {
  /** The requested model, which the format's reader looks at. */
  readonly requested: readonly string[]
  /** Models that may answer beside it, or instead. */
  readonly others: readonly string[]
  /** Models of the upstream that only help it, such as a transcriber; a channel need not name them. */
  readonly helpers: readonly string[]
}

/** A field that replaces fields of the body it stands in, at any depth: LiteLLM writes it over what it sends. */
export const EXTRA_BODY = 'extra_body'

/** Fallbacks of LiteLLM, which takes them at all its endpoints, and of OpenRouter and Anthropic; Azure's deployment. */
const ANYWHERE = [
  ...['models.*', 'fallbacks.*', 'context_window_fallbacks.*', 'content_policy_fallbacks.*'],
  'deployment_id',
]

/** OpenRouter's plugins and server tools, Anthropic's advisor, and what else a conversation runs beside its model. */
const CONVERSATION = [
  ...ANYWHERE,
  ...['tools.*.model', 'tools.*.container.model', 'tools.*.svg.model'],
  ...['tools.*.hosted:parameters.model', 'tools.*.hosted:parameters.analysis_models.*'],
  ...['plugins.*.model', 'plugins.*.analysis_models.*'],
  ...['mcp_servers.*.model', 'container.model', 'context_management.*.model', 'context_management.edits.*.model'],
  'draft_model',
]

const PROMPTED = [...CONVERSATION, 'prompt.model']

/** Tools may also be an item of the input, as Codex sends them, and stand in a namespace. */
const RESPONSES = [
  ...PROMPTED,
  ...PROMPTED.filter(path => path.startsWith('tools.')).flatMap(path => [
    `tools.*.${path}`,
    `input.*.${path}`,
    `input.*.tools.*.${path}`,
  ]),
]

/** The model that answers instead of the path's (Vertex AI). */
const ROUTED =
  'generationConfig|generation_config.routingConfig|routing_config.manualMode|manual_mode.modelName|model_name'

/** What ranks the documents that were retrieved (Vertex AI). */
const RANKING =
  'tools.*.retrieval.vertexRagStore|vertex_rag_store.ragRetrievalConfig|rag_retrieval_config.ranking.' +
  'llmRanker|llm_ranker.modelName|model_name'

/** A request that is to be counted. */
const COUNTED = 'generateContentRequest|generate_content_request'

const fields = (others: readonly string[] = ANYWHERE, more: Partial<ModelFields> = {}): ModelFields => ({
  requested: ['model'],
  others,
  helpers: [],
  ...more,
})

/**
 * A row per format that callers speak; the paths are those of the publishers' descriptions of November 2026. A model that
 * answers nothing is not among them (`moderation.model`).
 */
export const MODEL_FIELDS: ReadonlyMap<Format, ModelFields> = new Map([
  ['chat', fields(PROMPTED)],
  ['completions', fields(CONVERSATION)],
  ['messages', fields(PROMPTED)],
  ['responses', fields(RESPONSES)],
  [
    'contents',
    fields([...ANYWHERE, ROUTED, RANKING, `${COUNTED}.${ROUTED}`, `${COUNTED}.${RANKING}`], {
      requested: ['model', 'requests.*.model', `${COUNTED}.model`],
    }),
  ],
  ['embeddings', fields()],
  ['rerank', fields()],
  ['cohere', fields()],
  ['images', fields([...ANYWHERE, 'svg.model'])],
  ['speech', fields()],
  ['transcriptions', fields()],
  ['videos', fields()],
  ['generations', fields()],
  ['kling', fields(ANYWHERE, { requested: ['model_name', 'model'] })],
  [
    'realtime',
    {
      requested: ['session|response.model'],
      others: ['session|response.tools.*.model', 'session|response.prompt.model'],
      helpers: ['session|response.audio.input.transcription.model', 'session|response.input_audio_transcription.model'],
    },
  ],
])
