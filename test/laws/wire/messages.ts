import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { objectsIn } from '../../builders/streams.ts'
import { bytes, filled, json, object, record, schema, word } from '../arbitrary.ts'
import { absurd } from '../counts.ts'
import { maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Messages values as clients and upstreams write them, with random unknown fields. */
/** An object of a fixed type with fields that may be missing. */
const typed = (type: string, needed: object = {}, optional: object = {}) =>
  plus(record({ type: fc.constant(type), ...needed }, { ...optional }))

const marker = {
  cache_control: maybeNull(
    plus(record({}, { type: fc.constantFrom('ephemeral', 'lasting'), ttl: maybeNull(fc.constantFrom('5m', '1h')) })),
  ),
}

const citation = fc.oneof(
  typed(
    'web_search_result_location',
    { url: fc.webUrl() },
    { title: maybeNull(word), cited_text: word, encrypted_index: word },
  ),
  typed('char_location', { cited_text: word, document_index: fc.nat(3) }),
  typed('page_location', { start_page_number: fc.nat(3) }),
)
const text = typed(
  'text',
  { text: word },
  { ...marker, citations: maybeNull(fc.array(citation, { maxLength: 2 })) },
).filter(block => !hasUnproved(block))

/** Whether a block has citations of the gateway, which have an empty index and go to no upstream (trap 82). */
const hasUnproved = ({ citations }: JsonObject): boolean =>
  objectsIn(citations).some(({ encrypted_index }) => encrypted_index === '')

/** A client's note for the upstream's billing. */
const billing = typed('text', { text: word.map(note => `x-anthropic-billing-header: ${note}`) })

const source = fc.oneof(
  typed('base64', { media_type: fc.constantFrom('image/png', 'application/pdf'), data: bytes }),
  typed('url', { url: fc.webUrl() }),
  typed('file', { file_id: filled }),
  typed('x_source', { where: json }),
)
const textSource = typed('text', { media_type: fc.constant('text/plain'), data: word })
const image = typed('image', { source }, { ...marker, transformations: object(word) })
const document = typed(
  'document',
  {
    source: fc.oneof(
      source,
      textSource,
      typed('content', { content: fc.oneof(word, fc.array(text, { maxLength: 2 })) }),
    ),
  },
  { ...marker, title: maybeNull(word), context: maybeNull(word), citations: maybeNull(object(fc.boolean())) },
)
const searchResult = typed(
  'search_result',
  { source: word, title: word, content: fc.array(text, { maxLength: 2 }) },
  marker,
)
/** A signature, never one that the gateway wrapped, because it would be unwrapped on the way. */
const proof = fc
  .oneof(fc.constant('EqQBCkYIBRgC'), fc.base64String({ maxLength: 8 }))
  .filter(value => !value.startsWith('aWw6'))
const thinking = typed('thinking', { thinking: word }, { signature: maybeNull(proof) })
const redacted = typed('redacted_thinking', { data: proof })
const caller = fc.oneof(
  fc.constant({ type: 'direct' }),
  plus(fc.constant({ type: 'direct' })),
  record({ type: fc.constant('code_execution_20260120'), tool_id: filled }),
)
const toolUse = typed(
  'tool_use',
  { id: filled, name: filled },
  { ...marker, input: maybeNull(object(json)), caller, toolset_name: word },
)
/** Never without a proof, as the gateway writes pages that another upstream found: they go to no upstream. */
const page = typed(
  'web_search_result',
  { url: fc.webUrl(), title: word, encrypted_content: filled },
  { page_age: maybeNull(word) },
)
const server = fc.oneof(
  typed('server_tool_use', { id: filled, name: fc.constant('web_search'), input: record({ query: word }) }, { caller }),
  typed('web_search_tool_result', { tool_use_id: filled, content: fc.array(page, { maxLength: 2 }) }, { caller }),
  typed('server_tool_use', { id: filled, name: fc.constant('web_search'), input: object(json) }, { caller }),
  typed('web_search_tool_result', { tool_use_id: filled, content: json }),
  typed('compaction', { content: maybeNull(word) }),
  typed('x_block', {}, { text: json }),
)
const toolResult = typed(
  'tool_result',
  { tool_use_id: filled },
  {
    ...marker,
    content: maybeNull(
      fc.oneof(
        word,
        fc.array(fc.oneof(text, image, document, searchResult, typed('tool_reference', { tool_name: word })), {
          maxLength: 3,
        }),
      ),
    ),
    is_error: maybeNull(fc.boolean()),
  },
)

const content = (block: fc.Arbitrary<unknown>) => fc.oneof(word, fc.array(block, { maxLength: 4 }))
const turn = (role: string, block: fc.Arbitrary<unknown>) =>
  plus(record({ role: fc.constant(role), content: content(block) }))
const message = fc.oneof(
  turn('user', fc.oneof(text, image, document, searchResult, toolResult, server)),
  turn('assistant', fc.oneof(text, thinking, redacted, toolUse, server)),
  turn('system', fc.oneof(text, typed('tool_addition', { tool: object(word) }))),
)

const tool = fc.oneof(
  plus(
    record(
      { name: filled },
      {
        ...marker,
        type: maybeNull(fc.constant('custom')),
        description: maybeNull(word),
        input_schema: schema,
        strict: maybeNull(fc.boolean()),
        defer_loading: fc.boolean(),
      },
    ),
  ),
  plus(
    record(
      {
        type: fc.constantFrom(
          'web_search_20250305',
          'web_search_20260318',
          'web_fetch_20250910',
          'code_execution_20260521',
        ),
      },
      {
        ...marker,
        name: fc.constantFrom('web_search', 'web_fetch', 'code_execution', 'x_name'),
        allowed_domains: maybeNull(fc.array(word, { maxLength: 2 })),
        blocked_domains: maybeNull(fc.array(word, { maxLength: 2 })),
        max_uses: maybeNull(fc.nat(9)),
        user_location: maybeNull(
          plus(record({ type: fc.constant('approximate') }, { city: maybeNull(word), country: word })),
        ),
        citations: object(fc.boolean()),
      },
    ),
  ),
  typed('bash_20250124', { name: fc.constant('bash') }),
  typed('computer_toolset_20260801'),
)
const parallel = { disable_parallel_tool_use: maybeNull(fc.boolean()) }
const toolChoice = fc.oneof(
  typed('auto', {}, parallel),
  typed('any', {}, parallel),
  typed('none', {}, parallel),
  typed('tool', { name: fc.oneof(filled, fc.constant('web_search')) }, parallel),
  typed('x_choice'),
)
const display = { display: maybeNull(fc.constantFrom('summarized', 'omitted', 'x_shown')) }
const thought = fc.oneof(
  typed('enabled', {}, { ...display, budget_tokens: fc.integer({ min: 1, max: 9000 }) }),
  typed('adaptive', {}, display),
  typed('disabled', {}, display),
  typed('between_tools', {}, display),
  typed('x_thinking', {}, display),
)
const format = fc.oneof(
  typed('json_schema', { schema }),
  typed('json_schema', { schema }, { name: word }),
  typed('x_format'),
)
const outputConfig = plus(
  record(
    {},
    {
      effort: maybeNull(fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max', 'x_huge')),
      format: maybeNull(format),
      task_budget: object(word),
    },
  ),
)

const body = plus(
  record(
    { model: filled, max_tokens: fc.nat(), messages: fc.array(message, { maxLength: 4 }) },
    {
      system: maybeNull(content(fc.oneof(text, billing))),
      stream: fc.boolean(),
      temperature: maybeNull(fc.nat(1)),
      top_p: fc.nat(1),
      top_k: fc.nat(),
      stop_sequences: maybeNull(fc.array(word, { maxLength: 3 })),
      tools: fc.array(tool, { maxLength: 2 }),
      tool_choice: maybeNull(toolChoice),
      thinking: maybeNull(thought),
      output_config: maybeNull(outputConfig),
      output_format: maybeNull(format),
      metadata: maybeNull(plus(record({}, { user_id: maybeNull(word) }))),
      service_tier: fc.constantFrom('auto', 'standard_only', 'default', 'x_tier'),
      container: maybeNull(fc.oneof(word, object(json))),
      mcp_servers: fc.array(object(word), { maxLength: 1 }),
      context_management: object(json),
      betas: fc.array(word, { maxLength: 2 }),
      ...marker,
    },
  ),
)

const answering: fc.Arbitrary<WireRequest> = fc
  .tuple(
    body,
    fc.constantFrom({}, { beta: 'true' }),
    fc.constantFrom('2023-06-01', '2026-10-21'),
    fc.option(fc.constantFrom('a-2026-01-01', 'a-2026-01-01,b-2026-02-02')),
  )
  .map(([body, query, version, betas]) => ({
    path: '/v1/messages',
    query,
    headers: { 'anthropic-version': version, ...(betas === null ? {} : { 'anthropic-beta': betas }) },
    body,
  }))

const counting = fc.tuple(answering, fc.boolean()).map(([{ body, ...asked }, limited]): WireRequest => {
  const { max_tokens: _, ...unlimited } = body
  return { ...asked, path: '/v1/messages/count_tokens', body: limited ? body : unlimited }
})

export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  { weight: 4, arbitrary: answering },
  { weight: 1, arbitrary: counting },
)

export const answers = { count: plus(record({ input_tokens: fc.nat() })) }

/** Token counts, sometimes invalid ones. */
const tokens = fc.oneof({ weight: 9, arbitrary: fc.nat(99) }, { weight: 1, arbitrary: absurd })
const usage = plus(
  record(
    { input_tokens: tokens, output_tokens: tokens },
    {
      cache_creation_input_tokens: maybeNull(fc.nat(99)),
      cache_read_input_tokens: maybeNull(tokens),
      cache_creation: maybeNull(record({ ephemeral_5m_input_tokens: fc.nat(9), ephemeral_1h_input_tokens: fc.nat(9) })),
      output_tokens_details: maybeNull(plus(record({}, { thinking_tokens: fc.nat(99) }))),
      server_tool_use: maybeNull(plus(record({}, { web_search_requests: fc.nat(9), web_fetch_requests: fc.nat(9) }))),
      service_tier: maybeNull(fc.constantFrom('standard', 'priority', 'batch')),
      inference_geo: maybeNull(word),
    },
  ),
)
const details = fc.oneof(
  typed('refusal', { category: maybeNull(word) }, { explanation: maybeNull(word) }),
  typed('x_details'),
)
/** Returns the id of a call. A repeated id in an answer is replaced, even for callers of this format (trap 6). */
const idOfCall = (block: unknown): unknown =>
  (block as JsonObject)['type'] === 'tool_use' ? (block as JsonObject)['id'] : block
export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    {
      id: filled,
      type: fc.constant('message'),
      role: fc.constant('assistant'),
      model: filled,
      content: fc.uniqueArray(fc.oneof(text, thinking, redacted, toolUse, server), {
        maxLength: 4,
        selector: idOfCall,
      }),
      stop_reason: maybeNull(
        fc.constantFrom(
          ...['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', 'compaction', 'x_bored'],
        ),
      ),
      stop_sequence: maybeNull(filled),
      usage,
    },
    {
      stop_details: maybeNull(details),
      container: maybeNull(object(word)),
      context_management: maybeNull(object(json)),
    },
  ),
)
