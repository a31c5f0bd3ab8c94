import type { Format } from '../canonical/node.ts'

/** A path into a body, field by field; `*` is every item of a list, or its only one, and a list is a field's spellings. */
export type Place = readonly (string | readonly string[])[]

/** Fallbacks are names, or objects whose further settings stand for those of the body. */
const LISTS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const
const OF_LITELLM: readonly Place[] = LISTS.map(list => [list, '*'])

/** What stands in `extra_body` LiteLLM writes over the body that it sends, which may be one for OpenRouter. */
const withExtraBody = (places: readonly Place[]): readonly Place[] => [
  ...places,
  ...[['model'], ['models', '*'], ...places].map(place => ['extra_body', ...place]),
]

const FALLBACKS = withExtraBody(OF_LITELLM)

/** Lists of forms: LiteLLM takes the brackets off the names of their fields. */
const OF_FORMS: readonly Place[] = [...FALLBACKS, ...LISTS.map(list => [`${list}[]`, '*'] as const)]

const OF_CHATS: readonly Place[] = [
  ...OF_LITELLM,
  ['models', '*'],
  ['tools', '*', 'model'],
  ['tools', '*', 'parameters', 'model'],
  ['tools', '*', 'parameters', 'analysis_models', '*'],
  ['plugins', '*', 'model'],
  ['plugins', '*', 'analysis_models', '*'],
]

const PLACES = withExtraBody(OF_CHATS)

/** Codex sends its tools in an item of the input (trap 89); tools of a namespace stand in it. */
const OF_RESPONSES = withExtraBody([
  ...OF_CHATS,
  ['tools', '*', 'tools', '*', 'model'],
  ['input', '*', 'tools', '*', 'model'],
  ['input', '*', 'tools', '*', 'tools', '*', 'model'],
])

const ROUTED = [
  ['routingConfig', 'routing_config'],
  ['manualMode', 'manual_mode'],
  ['modelName', 'model_name'],
] as const

/** A request that is to be counted. */
const COUNTED = ['generateContentRequest', 'generate_content_request'] as const

/** The model that answers instead of the path's, and the one that ranks what was retrieved. */
const OF_GENERATION: readonly Place[] = [
  ['generationConfig', ...ROUTED],
  ['generation_config', ...ROUTED],
  [
    ...(['tools', '*', 'retrieval'] as const),
    ['vertexRagStore', 'vertex_rag_store'],
    ['ragRetrievalConfig', 'rag_retrieval_config'],
    'ranking',
    ['llmRanker', 'llm_ranker'],
    ['modelName', 'model_name'],
  ],
]

const OF_CONTENTS: readonly Place[] = [...OF_GENERATION, ...OF_GENERATION.map(place => [COUNTED, ...place])]

/**
 * The places where bodies of a format name models beside the requested one: OpenRouter's `models` and those of its
 * plugins and server tools, the `fallbacks` of LiteLLM (at all its endpoints) and of Anthropic, the models that generate
 * images (OpenAI) and advise (Anthropic) among tools, and those that Google's cloud routes to and ranks with (2026-11).
 */
export const NAMED_MODELS: ReadonlyMap<Format, readonly Place[]> = new Map([
  ['chat', PLACES],
  ['completions', PLACES],
  ['messages', PLACES],
  ['responses', OF_RESPONSES],
  ['contents', OF_CONTENTS],
  ['embeddings', FALLBACKS],
  ['rerank', FALLBACKS],
  ['cohere', FALLBACKS],
  ['images', OF_FORMS],
  ['speech', FALLBACKS],
  ['transcriptions', OF_FORMS],
  ['videos', OF_FORMS],
])

/** Where bodies of a format name the requested model, once or for each of several things. */
const OWN: ReadonlyMap<Format, readonly Place[]> = new Map<Format, readonly Place[]>([
  ['kling', [['model_name'], ['model']]],
  ['contents', [['model'], ['requests', '*', 'model'], [COUNTED, 'model']]],
])

/** Their places in one format; readers refuse another model in them. */
export const ownModelPlaces = (format: Format): readonly Place[] => OWN.get(format) ?? [['model']]
