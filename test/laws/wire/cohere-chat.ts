import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { filled, json, object, record, schema, word } from '../arbitrary.ts'
import { absurd } from '../counts.ts'
import { dataUrl, maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Values of Cohere's chat as clients and upstreams write them, with random unknown fields. */

const text = plus(record({ type: fc.constant('text'), text: word }))
const thinking = plus(record({ type: fc.constant('thinking'), thinking: word }))
const image = plus(
  record({
    type: fc.constant('image_url'),
    image_url: plus(
      record({ url: fc.oneof(dataUrl, fc.webUrl()) }, { detail: maybeNull(fc.constantFrom('low', 'high')) }),
    ),
  }),
)
const document = plus(
  record({
    type: fc.constant('document'),
    document: plus(record({}, { id: maybeNull(filled), data: maybeNull(fc.oneof(object(json), word)) })),
  }),
)
const other = plus(record({ type: fc.constantFrom('x_block', 'audio') }, { payload: json }))

const content = (one: fc.Arbitrary<unknown>) => maybeNull(fc.oneof(word, fc.array(one, { maxLength: 3 })))

const called = plus(
  record({ name: filled }, { arguments: maybeNull(fc.oneof(word, fc.constantFrom('{"a":1}', 'null', '{}'))) }),
)
/** A call. Only callers leave ids out: those of an answer are made up by the gateway then. */
const call = (id: fc.Arbitrary<unknown>) =>
  fc.oneof(
    plus(record({ id: filled, type: fc.constant('function'), function: called })),
    plus(record({ id, function: called })),
    plus(record({ type: fc.constant('x_call') }, { id: filled, payload: json })),
  )
const calls = (id: fc.Arbitrary<unknown>) =>
  fc.uniqueArray(call(id), { maxLength: 3, selector: one => one['id'] ?? null })

const page = plus(record({ url: fc.webUrl() }, { id: filled, title: maybeNull(word), snippet: maybeNull(word) }))
const source = fc.oneof(
  plus(record({ type: fc.constant('document'), document: fc.oneof(page, object(word)) }, { id: maybeNull(filled) })),
  plus(record({ type: fc.constant('tool'), tool_output: object(word) }, { id: filled })),
)
const citation = plus(
  record(
    {},
    {
      start: fc.nat(9),
      end: fc.nat(9),
      text: word,
      sources: maybeNull(fc.array(source, { maxLength: 2 })),
      content_index: maybeNull(fc.nat(3)),
      type: maybeNull(fc.constantFrom('TEXT_CONTENT', 'PLAN', 'THINKING_CONTENT', 'X_PLACE')),
    },
  ),
)
const spoken = (id: fc.Arbitrary<unknown>) => ({
  content: content(fc.oneof(text, thinking, other)),
  tool_plan: maybeNull(word),
  tool_calls: maybeNull(calls(id)),
  citations: maybeNull(fc.array(citation, { maxLength: 2 })),
})

const message = fc.oneof(
  plus(record({ role: fc.constantFrom('system', 'user'), content: content(fc.oneof(text, image, other)) })),
  plus(record({ role: fc.constant('assistant') }, spoken(maybeNull(filled)))),
  plus(
    record(
      { role: fc.constant('tool'), content: content(fc.oneof(text, document, other)) },
      { tool_call_id: maybeNull(filled) },
    ),
  ),
)

const tool = fc.oneof(
  plus(
    record(
      { function: plus(record({ name: filled }, { description: maybeNull(word), parameters: maybeNull(schema) })) },
      { type: maybeNull(fc.constant('function')) },
    ),
  ),
  plus(record({ type: fc.constantFrom('function', 'x_tool') })),
)
const format = fc.oneof(
  plus(record({ type: fc.constantFrom('text', 'json_object', 'x_format') }, { json_schema: maybeNull(schema) })),
  plus(record({}, { json_schema: word })),
)
const thoughts = plus(
  record(
    {},
    { type: maybeNull(fc.constantFrom('enabled', 'disabled', 'x_deep')), token_budget: maybeNull(fc.nat(9000)) },
  ),
)

const body = plus(
  record(
    { model: filled, messages: fc.array(message, { maxLength: 4 }) },
    {
      stream: maybeNull(fc.boolean()),
      documents: maybeNull(
        fc.array(fc.oneof(word, plus(record({}, { id: filled, data: fc.oneof(object(json), word) }))), {
          maxLength: 2,
        }),
      ),
      tools: maybeNull(fc.array(tool, { maxLength: 3 })),
      tool_choice: maybeNull(fc.constantFrom('REQUIRED', 'NONE', 'X_ANY')),
      strict_tools: maybeNull(fc.boolean()),
      max_tokens: maybeNull(fc.nat()),
      temperature: maybeNull(fc.nat(1)),
      p: maybeNull(fc.constantFrom(0.01, 0.75, 0.99)),
      k: maybeNull(fc.nat(500)),
      seed: maybeNull(fc.nat()),
      frequency_penalty: maybeNull(fc.nat(1)),
      presence_penalty: maybeNull(fc.nat(1)),
      stop_sequences: maybeNull(fc.array(word, { maxLength: 3 })),
      logprobs: maybeNull(fc.boolean()),
      response_format: maybeNull(format),
      thinking: maybeNull(thoughts),
      citation_options: record({ mode: fc.constantFrom('FAST', 'OFF') }),
      safety_mode: fc.constantFrom('CONTEXTUAL', 'STRICT'),
      priority: fc.nat(9),
    },
  ),
)
export const request: fc.Arbitrary<WireRequest> = body.map(one => ({
  path: '/v2/chat',
  query: {},
  headers: {},
  body: one,
}))

/** Token counts, sometimes invalid ones. */
const tokens = fc.oneof({ weight: 9, arbitrary: fc.nat(99) }, { weight: 1, arbitrary: absurd })
const usage = plus(
  record(
    {},
    {
      billed_units: maybeNull(
        plus(
          record({}, { input_tokens: tokens, output_tokens: tokens, search_units: tokens, classifications: tokens }),
        ),
      ),
      tokens: maybeNull(plus(record({}, { input_tokens: maybeNull(tokens), output_tokens: maybeNull(tokens) }))),
      cached_tokens: maybeNull(tokens),
    },
  ),
)
const logprob = plus(
  record(
    { token_ids: fc.array(fc.nat(99), { maxLength: 2 }) },
    { text: word, logprobs: fc.array(fc.double({ max: 0, min: -9, noNaN: true }), { maxLength: 2 }) },
  ),
)

export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    {
      id: filled,
      message: plus(record({ role: fc.constant('assistant') }, spoken(filled))),
      finish_reason: maybeNull(
        fc.constantFrom('COMPLETE', 'STOP_SEQUENCE', 'MAX_TOKENS', 'TOOL_CALL', 'ERROR', 'TIMEOUT', 'X_BORED'),
      ),
    },
    { usage: maybeNull(usage), logprobs: maybeNull(fc.array(logprob, { maxLength: 3 })) },
  ),
)
