import type { Format } from '../canonical/node.ts'

/**
 * Paths at which a request of a format may name a model. Fields are joined by dots, `*` stands for the items of a list,
 * `|` separates spellings of one field, and `hosted:` precedes a field that only tools run by the upstream have.
 */
export interface ModelFields {
  /** The requested model, as the format's reader finds it. */
  readonly requested: readonly string[]
  /** Models that may answer in addition to the requested one or instead of it. */
  readonly others: readonly string[]
  /** Upstream models that only assist, such as a transcriber. A channel need not name them. */
  readonly helpers: readonly string[]
}

/**
 * A field whose content replaces fields of the object around it, at any depth: LiteLLM merges it into the body it
 * sends.
 */
export const EXTRA_BODY = 'extra_body'

/** Fields of every endpoint: fallbacks of LiteLLM, OpenRouter and Anthropic, and Azure's deployment. */
const ANYWHERE = [
  ...['models.*', 'fallbacks.*', 'context_window_fallbacks.*', 'content_policy_fallbacks.*'],
  'deployment_id',
]

/**
 * Fields of conversations: OpenRouter's plugins and server tools, Anthropic's advisor, and other models beside the main
 * one.
 */
const CONVERSATION = [
  ...ANYWHERE,
  ...['tools.*.model', 'tools.*.container.model', 'tools.*.svg.model'],
  ...['tools.*.hosted:parameters.model', 'tools.*.hosted:parameters.analysis_models.*'],
  ...['plugins.*.model', 'plugins.*.analysis_models.*'],
  ...['mcp_servers.*.model', 'container.model', 'context_management.*.model', 'context_management.edits.*.model'],
  'draft_model',
]

const PROMPTED = [...CONVERSATION, 'prompt.model']

/**
 * Fields of the responses format. Tools may also be items of the input, as Codex sends them, and be inside a namespace.
 */
const RESPONSES = [
  ...PROMPTED,
  ...PROMPTED.filter(path => path.startsWith('tools.')).flatMap(path => [
    `tools.*.${path}`,
    `input.*.${path}`,
    `input.*.tools.*.${path}`,
  ]),
]

/** The model that answers instead of the one in the path (Vertex AI). */
const ROUTED =
  'generationConfig|generation_config.routingConfig|routing_config.manualMode|manual_mode.modelName|model_name'

/** The model that ranks retrieved documents (Vertex AI). */
const RANKING =
  'tools.*.retrieval.vertexRagStore|vertex_rag_store.ragRetrievalConfig|rag_retrieval_config.ranking.' +
  'llmRanker|llm_ranker.modelName|model_name'

/** The field with the request whose tokens are counted. */
const COUNTED = 'generateContentRequest|generate_content_request'

const fields = (others: readonly string[] = ANYWHERE, more: Partial<ModelFields> = {}): ModelFields => ({
  requested: ['model'],
  others,
  helpers: [],
  ...more,
})

/**
 * The fields of every caller format, from the vendors' API descriptions of November 2026. Models that do not answer are
 * not included (`moderation.model`).
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
