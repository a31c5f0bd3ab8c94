import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, json, object, record, schema, word } from '../arbitrary.ts'
import { absurd } from '../counts.ts'
import { maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Values of Google's interactions as clients and upstreams write them, with random unknown fields. */

/** An object of a fixed type with fields that may be missing or null. */
const typed = (
  type: string | fc.Arbitrary<string>,
  needed: { readonly [field: string]: fc.Arbitrary<unknown> } = {},
  optional: { readonly [field: string]: fc.Arbitrary<unknown> } = {},
): fc.Arbitrary<JsonObject> =>
  plus(
    record(
      { type: typeof type === 'string' ? fc.constant(type) : type, ...needed },
      Object.fromEntries(Object.entries(optional).map(([name, value]) => [name, maybeNull(value)])),
    ),
  )

const offsets = { start_index: fc.nat(9), end_index: fc.nat(9) }
const annotation = fc.oneof(
  typed('url_citation', {}, { url: fc.webUrl(), title: word, ...offsets }),
  typed('file_citation', {}, { file_name: word, document_uri: word, page_number: fc.nat(9), ...offsets }),
  typed('place_citation', {}, { name: word, place_id: word, ...offsets }),
  typed('word_info', {}, { text: word, speaker: word, start_offset: word, ...offsets }),
  typed('speech_metadata', {}, { speaker: word, style: word, ...offsets }),
)
const text = typed('text', { text: word }, { annotations: fc.array(annotation, { maxLength: 2 }) })
const uri = fc.oneof(
  fc.webUrl(),
  fc.constantFrom('gs://bucket/a.png', 'https://generativelanguage.googleapis.com/v1beta/files/abc'),
)
const media = typed(
  fc.constantFrom('image', 'audio', 'video', 'document'),
  {},
  {
    data: bytes,
    mime_type: fc.constantFrom('image/png', 'audio/wav', 'audio/l16', 'video/mp4', 'application/pdf'),
    sample_rate: fc.constantFrom<Json>(16_000, 24_000, -1, '8000'),
    uri,
    resolution: fc.constantFrom('low', 'medium', 'high', 'ultra_high'),
    channels: fc.nat(2),
    processing: object(word),
  },
)
const otherContent = typed(fc.constantFrom('x_content', 'constructor'), {}, { payload: json })
const content = fc.oneof(text, media, otherContent)
const contents = (one: fc.Arbitrary<JsonObject>) => fc.oneof(word, fc.array(one, { maxLength: 3 }))

/** A signature, never one that the gateway wrapped, because it would be unwrapped on the way. */
const proof = fc
  .oneof(fc.constantFrom('EqQBCkYIBRgC', ''), fc.base64String({ maxLength: 8 }))
  .filter(value => !value.startsWith('aWw6'))
const signed = { signature: proof }

const summary = fc.oneof(
  record<JsonObject>({ type: fc.constant('text'), text: word }),
  typed('text', { text: word }),
  typed('image', {}, { data: bytes }),
)
const thought = typed('thought', {}, { ...signed, summary: fc.array(summary, { maxLength: 2 }) })
const call = typed('function_call', { id: filled, name: filled }, { ...signed, arguments: object(json) })
const returned = typed(
  'function_result',
  {},
  {
    call_id: filled,
    name: word,
    is_error: fc.boolean(),
    result: fc.oneof(word, fc.array(content, { maxLength: 2 }), object(json), fc.array(fc.nat(9)), fc.nat(9)),
    ...signed,
  },
)
const page = plus(record({ url: fc.webUrl() }, { title: maybeNull(word) }))
const searches = fc.oneof(
  typed(
    'google_search_call',
    { id: filled },
    { ...signed, arguments: plus(record({}, { queries: fc.array(word, { maxLength: 2 }) })), search_type: word },
  ),
  typed(
    'google_search_result',
    { call_id: filled },
    {
      ...signed,
      is_error: fc.boolean(),
      result: fc.array(fc.oneof(page, record<JsonObject>({ search_suggestions: word })), { maxLength: 2 }),
    },
  ),
  typed(fc.constantFrom('google_search_call', 'google_search_result'), {}, { arguments: json, result: json }),
)
const hosted = fc.oneof(
  typed('code_execution_call', { id: filled }, { ...signed, arguments: object(word) }),
  typed('code_execution_result', { call_id: filled }, { ...signed, result: word, is_error: fc.boolean() }),
  typed(fc.constantFrom('retrieval_call', 'processing_call', 'tool_search_call'), { id: filled }, signed),
  typed('url_context_result', { call_id: filled }, { result: fc.array(object(word), { maxLength: 2 }) }),
  typed('mcp_server_tool_call', { id: filled, name: word, server_name: word }, { arguments: object(json) }),
  typed(fc.constantFrom('x_step', 'toString'), {}, { payload: json }),
)
const output = typed('model_output', {}, { content: contents(content), error: object(word) })
const modelStep = fc.oneof(output, thought, call, searches, hosted)
const userStep = typed('user_input', {}, { content: contents(fc.oneof(content, returned)) })
const turn = plus(record({ role: fc.constantFrom('user', 'model') }, { content: maybeNull(contents(text)) }))
const item = fc.oneof(modelStep, userStep, returned, content, turn)

const input = fc.oneof(word, fc.array(item, { maxLength: 6 }), item, fc.array(content, { maxLength: 2 }))

const tool = fc.oneof(
  typed('function', { name: filled }, { description: word, parameters: schema }),
  typed('google_search', {}, { search_types: fc.constantFrom(['web_search'], ['image_search', 'web_search'], []) }),
  typed(fc.constantFrom('url_context', 'code_execution')),
  typed('computer_use', {}, { environment: fc.constant('browser') }),
  typed('mcp_server', {}, { name: word, url: fc.webUrl(), headers: object(word) }),
  typed('tool_search', {}, { execution: fc.constantFrom('server', 'client'), name: word }),
  typed(fc.constantFrom('file_search', 'google_maps', 'retrieval', 'x_tool', 'constructor')),
)
const choice = fc.oneof(
  fc.constantFrom('auto', 'any', 'none', 'validated', 'constructor'),
  record({}, { allowed_tools: plus(record({}, { mode: maybeNull(word), tools: maybeNull(fc.array(filled)) })) }),
  record({ allowed_tools: record({ mode: fc.constantFrom('auto', 'any', 'none'), tools: fc.array(filled) }) }),
  object(json),
)
const sizes = {
  aspect_ratio: maybeNull(fc.constantFrom('1:1', '16:9', '1:8', 'wide')),
  image_size: maybeNull(fc.constantFrom('512', '2K', 'big')),
}
const speaker = record<JsonObject>({}, { voice: word, language: word })
const config = plus(
  record(
    {},
    {
      max_output_tokens: maybeNull(fc.nat()),
      temperature: maybeNull(fc.nat(2)),
      top_p: maybeNull(fc.constantFrom(0.1, 1)),
      seed: maybeNull(fc.nat()),
      stop_sequences: maybeNull(fc.array(word, { maxLength: 3 })),
      thinking_level: maybeNull(fc.constantFrom('minimal', 'low', 'high', 'xhigh', 'none', 'constructor')),
      thinking_summaries: maybeNull(fc.constantFrom('auto', 'none', 'constructor')),
      tool_choice: maybeNull(choice),
      speech_config: maybeNull(
        fc.oneof(fc.array(speaker, { maxLength: 2 }), record({ speakers: fc.array(speaker, { maxLength: 2 }) }), json),
      ),
      image_config: maybeNull(plus(record({}, sizes))),
      video_config: object(word),
      transcription_config: object(word),
    },
  ),
)
const entry = fc.oneof(
  record<JsonObject>(
    { type: fc.constant('text') },
    { mime_type: maybeNull(fc.constantFrom('application/json', 'text/plain', 'x/y')), schema: maybeNull(schema) },
  ),
  record<JsonObject>(
    { type: fc.constant('image') },
    { ...sizes, mime_type: maybeNull(fc.constantFrom('image/jpeg', 'image/png')), delivery: fc.constant('uri') },
  ),
  record<JsonObject>(
    { type: fc.constant('audio') },
    { mime_type: maybeNull(fc.constantFrom('audio/l16', 'audio/mp3', 'audio/alaw')), bit_rate: fc.nat() },
  ),
  typed(fc.constantFrom('text', 'image', 'audio', 'video', 'object', 'constructor')),
  schema,
)

const settings = {
  input: maybeNull(input),
  system_instruction: maybeNull(word),
  tools: maybeNull(fc.array(tool, { maxLength: 3 })),
  generation_config: maybeNull(config),
  response_format: maybeNull(fc.oneof(entry, fc.array(entry, { maxLength: 3 }))),
  response_mime_type: maybeNull(fc.constantFrom('application/json', 'text/plain', 'x/y')),
  response_modalities: maybeNull(
    fc.constantFrom(['text'], ['text', 'image'], ['image'], ['audio'], ['video'], ['TEXT'], []),
  ),
  previous_interaction_id: maybeNull(word),
  store: maybeNull(fc.boolean()),
  background: maybeNull(fc.boolean()),
  stream: maybeNull(fc.boolean()),
  service_tier: maybeNull(fc.constantFrom('standard', 'flex', 'priority', 'deferred', 'x_tier')),
  labels: maybeNull(object(word)),
  safety_settings: fc.array(object(word), { maxLength: 1 }),
  cached_content: word,
  continuation_token: word,
  environment: fc.oneof(word, object(json)),
  webhook_config: object(json),
}
const body = fc.oneof(
  { weight: 5, arbitrary: plus(record({ model: filled }, { ...settings, agent: fc.constant(null) })) },
  { weight: 1, arbitrary: plus(record({ agent: filled }, { ...settings, agent_config: object(json) })) },
)

export const request: fc.Arbitrary<WireRequest> = fc
  .tuple(
    body,
    fc.constantFrom<WireRequest['query']>({}, { alt: 'sse' }),
    fc.constantFrom<WireRequest['headers']>({}, { 'api-revision': '2026-05-20' }),
  )
  .map(([body, query, headers]) => ({ path: '/v1beta/interactions', query, headers, body }))

/** Token counts, sometimes invalid ones. */
const tokens = fc.oneof({ weight: 9, arbitrary: fc.nat(99) }, { weight: 1, arbitrary: absurd })
const byModality = fc.array(
  plus(record({}, { modality: fc.constantFrom('text', 'image', 'document', 'constructor'), tokens })),
  { maxLength: 3 },
)
const usage = plus(
  record(
    {},
    {
      total_input_tokens: maybeNull(tokens),
      input_tokens_by_modality: maybeNull(fc.oneof(byModality, json)),
      total_cached_tokens: maybeNull(tokens),
      cached_tokens_by_modality: byModality,
      total_output_tokens: maybeNull(tokens),
      output_tokens_by_modality: maybeNull(byModality),
      total_tool_use_tokens: maybeNull(tokens),
      total_thought_tokens: maybeNull(tokens),
      total_tokens: maybeNull(tokens),
      grounding_tool_count: maybeNull(
        fc.array(record({ type: fc.constantFrom('google_search', 'google_maps'), count: tokens }), { maxLength: 2 }),
      ),
    },
  ),
)

/** Returns the id of a call. A repeated id in an answer is replaced, even for callers of this format (trap 6). */
const idOfCall = (step: unknown): unknown =>
  (step as JsonObject)['type'] === 'function_call' ? (step as JsonObject)['id'] : step
export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    {
      id: fc.oneof(filled, fc.constant('')),
      status: fc.constantFrom(
        ...['completed', 'requires_action', 'incomplete', 'failed', 'cancelled', 'in_progress', 'queued'],
        ...['budget_exceeded', 'requires_continuation', 'x_status', 'constructor'],
      ),
      steps: fc.uniqueArray(fc.oneof(modelStep, userStep, returned), { maxLength: 4, selector: idOfCall }),
    },
    {
      object: fc.constant('interaction'),
      model: maybeNull(filled),
      agent: maybeNull(filled),
      created: maybeNull(fc.constantFrom('2026-05-15T18:52:03Z', 'yesterday')),
      updated: maybeNull(fc.constant('2026-05-15T18:52:04Z')),
      usage: maybeNull(usage),
      service_tier: maybeNull(fc.constantFrom('standard', 'flex')),
      errors: maybeNull(fc.array(record({}, { code: word, message: word }), { maxLength: 2 })),
      previous_interaction_id: filled,
      environment_id: filled,
    },
  ),
)
