import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, json, object, record, schema, word } from '../arbitrary.ts'
import { CHAT_COUNTS, usageIn } from '../counts.ts'
import { dataUrl, maybeNull } from '../loose.ts'

/* Chat-completions values as clients and upstreams write them, with random unknown fields. */

const vendorKey = fc.constantFrom('x_vendor', 'x_more', 'constructor')
const strange = fc
  .array(fc.tuple(vendorKey, fc.oneof(json, fc.constant(null))), { maxLength: 2 })
  .map(entries => Object.fromEntries(entries) as JsonObject)

/** An object with additional fields of unknown names. */
export const plus = (known: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> =>
  fc.tuple(strange, known).map(([more, own]) => ({ ...more, ...(own as JsonObject) }))
const marker = { cache_control: plus(record({ type: fc.constant('ephemeral') }, { ttl: fc.constantFrom('5m', '1h') })) }
const textPart = plus(record({ type: fc.constant('text'), text: word }, marker))
const part = fc.oneof(
  textPart,
  plus(
    record({
      type: fc.constant('image_url'),
      image_url: plus(record({ url: fc.oneof(dataUrl, fc.webUrl()) }, { detail: fc.constantFrom('low', 'auto') })),
    }),
  ),
  plus(record({ type: fc.constant('image_url'), image_url: fc.webUrl() })),
  plus(
    record({
      type: fc.constant('input_audio'),
      input_audio: plus(record({ data: bytes, format: fc.constantFrom('wav', 'mp3', 'pcm16') })),
    }),
  ),
  plus(
    record({
      type: fc.constant('file'),
      file: plus(record({}, { file_data: dataUrl, file_id: filled, filename: filled })),
    }),
  ),
  plus(
    record(
      {
        type: fc.constant('document_url'),
        document_url: fc.oneof(fc.webUrl(), dataUrl, plus(record({ url: dataUrl }))),
      },
      { document_name: maybeNull(word), ...marker },
    ),
  ),
  plus(record({ type: fc.constant('video_url'), video_url: plus(record({ url: fc.webUrl() })) })),
  plus(record({ type: fc.constantFrom('x_widget', 'x_other') }, { payload: json })),
)
const call = fc.oneof(
  plus(
    record({
      id: filled,
      type: fc.constant('function'),
      function: plus(record({ name: filled, arguments: fc.oneof(word, fc.constant('{"a":1}')) })),
    }),
  ),
  plus(record({ id: filled, function: plus(record({ name: filled, arguments: word })) })),
  plus(record({ id: filled, type: fc.constant('custom'), custom: plus(record({ name: filled, input: word })) })),
  plus(
    record({
      id: filled,
      type: fc.constant('function'),
      function: record({ name: filled, arguments: word }),
      extra_content: fc.record(
        { google: fc.record({ thought_signature: filled }, { noNullPrototype: true }) },
        { noNullPrototype: true },
      ),
    }),
  ),
)
const content = (one: fc.Arbitrary<unknown>) => fc.oneof(word, fc.array(one, { maxLength: 3 }))
const message = fc.oneof(
  plus(record({ role: fc.constantFrom('system', 'developer', 'user'), content: content(part) }, { name: filled })),
  plus(
    record(
      { role: fc.constant('assistant') },
      {
        content: maybeNull(
          content(fc.oneof(textPart, plus(record({ type: fc.constant('refusal'), refusal: word })), part)),
        ),
        tool_calls: fc.array(call, { maxLength: 2 }),
        refusal: maybeNull(word),
        reasoning_content: word,
        name: filled,
        audio: plus(fc.oneof(record({ id: filled }), record({ data: bytes }, { transcript: word }))),
      },
    ),
  ),
  plus(record({ role: fc.constant('assistant'), reasoning: word }, { content: word })),
  plus(
    record(
      { role: fc.constant('assistant'), function_call: plus(record({ name: filled, arguments: word })) },
      { content: fc.constant(null) },
    ),
  ),
  plus(record({ role: fc.constant('tool'), content: content(part) }, { tool_call_id: filled, name: filled })),
  plus(record({ role: fc.constant('function'), name: filled, content: maybeNull(word) })),
)

const definition = plus(
  record({ name: filled }, { description: word, parameters: schema, strict: maybeNull(fc.boolean()) }),
)
const grammar = fc.oneof(
  fc.constant({ type: 'text' }),
  record({
    type: fc.constant('grammar'),
    grammar: record({ definition: word, syntax: fc.constantFrom('lark', 'regex') }),
  }),
)
const tool = fc.oneof(
  plus(record({ type: fc.constant('function'), function: definition }, marker)),
  plus(record({ function: definition })),
  plus(
    record({
      type: fc.constant('custom'),
      custom: plus(record({ name: filled }, { description: word, format: grammar })),
    }),
  ),
  plus(record({ type: fc.constant('x:advisor') }, { parameters: json })),
  // Cursor's form, the same as in Responses.
  plus(
    record(
      { name: filled },
      { type: fc.constant('function'), description: word, parameters: schema, strict: fc.boolean(), ...marker },
    ),
  ),
  plus(
    record(
      { type: fc.constant('custom'), name: filled },
      {
        description: word,
        format: fc.oneof(
          record({ type: fc.constant('grammar'), syntax: fc.constantFrom('lark', 'regex'), definition: word }),
          object(word),
        ),
      },
    ),
  ),
)
const forced = record({ type: fc.constant('function'), function: record({ name: filled }) })
const toolChoice = fc.oneof(
  fc.constantFrom('auto', 'none', 'required', 'x_any'),
  forced,
  record({ type: fc.constant('custom'), custom: record({ name: filled }) }),
  record({ type: fc.constantFrom('function', 'custom'), name: filled }),
  record({
    type: fc.constant('allowed_tools'),
    allowed_tools: record({ mode: fc.constantFrom('auto', 'required'), tools: fc.array(forced, { maxLength: 2 }) }),
  }),
  plus(record({ type: fc.constant('x_choice') })),
)
const format = fc.oneof(
  plus(fc.constant({ type: 'text' })),
  plus(fc.constant({ type: 'json_object' })),
  plus(
    record({
      type: fc.constant('json_schema'),
      json_schema: plus(record({ name: filled }, { schema, description: word, strict: maybeNull(fc.boolean()) })),
    }),
  ),
  plus(fc.constant({ type: 'x_format' })),
)

const body = plus(
  record(
    { model: filled, messages: fc.array(message, { maxLength: 4 }) },
    {
      stream: fc.boolean(),
      stream_options: maybeNull(plus(record({}, { include_usage: fc.boolean(), include_obfuscation: fc.boolean() }))),
      max_tokens: maybeNull(fc.nat()),
      max_completion_tokens: fc.nat(),
      temperature: maybeNull(fc.nat(2)),
      top_p: fc.nat(1),
      n: fc.integer({ min: 1, max: 4 }),
      seed: fc.nat(),
      stop: fc.oneof(word, fc.array(word, { maxLength: 3 })),
      frequency_penalty: fc.nat(1),
      presence_penalty: fc.nat(1),
      logprobs: fc.boolean(),
      top_logprobs: fc.nat(3),
      tools: fc.array(tool, { maxLength: 2 }),
      functions: fc.array(definition, { maxLength: 2 }),
      tool_choice: toolChoice,
      function_call: fc.oneof(fc.constantFrom('auto', 'none', 'x_any'), plus(record({ name: filled })), forced),
      parallel_tool_calls: fc.boolean(),
      response_format: format,
      reasoning_effort: fc.constantFrom('low', 'high', 'x_huge'),
      reasoning: fc.oneof(
        plus(
          record(
            {},
            {
              effort: fc.constantFrom('low', 'high'),
              max_tokens: fc.nat(),
              exclude: fc.boolean(),
              enabled: fc.boolean(),
            },
          ),
        ),
        object(json),
      ),
      thinking: fc.oneof(
        plus(
          record(
            { type: fc.constantFrom('enabled', 'disabled', 'adaptive', 'x_new') },
            { budget_tokens: fc.nat(), effort: fc.constantFrom('low', 'max'), keep: word },
          ),
        ),
        object(json),
      ),
      enable_thinking: fc.oneof(fc.boolean(), word),
      thinking_budget: fc.nat(),
      chat_template_kwargs: plus(record({}, { enable_thinking: fc.boolean(), thinking: fc.boolean() })),
      include_reasoning: fc.boolean(),
      verbosity: word,
      modalities: fc.array(fc.constantFrom('text', 'audio'), { maxLength: 2 }),
      audio: maybeNull(
        plus(record({}, { voice: fc.oneof(word, object(word)), format: fc.constantFrom('wav', 'pcm16') })),
      ),
      metadata: object(word),
      user: filled,
      safety_identifier: filled,
      service_tier: word,
      store: maybeNull(fc.boolean()),
      prompt_cache_key: filled,
      web_search_options: plus(
        record(
          {},
          {
            search_context_size: word,
            user_location: record({ type: fc.constant('approximate'), approximate: object(word) }),
          },
        ),
      ),
      logit_bias: object(fc.nat()),
      prediction: json,
    },
  ),
)
export const request: fc.Arbitrary<WireRequest> = body.map(body => ({
  path: '/chat/completions',
  query: {},
  headers: {},
  body,
}))

const rival = {
  token: word,
  logprob: fc.constant(-0.5),
  bytes: fc.oneof(fc.constant(null), fc.array(fc.nat(255), { maxLength: 2 })),
}
const token = plus(record({ ...rival, top_logprobs: fc.array(plus(record(rival)), { maxLength: 2 }) }))
const citation = plus(
  record({
    type: fc.constant('url_citation'),
    url_citation: plus(record({ url: fc.webUrl() }, { title: word, start_index: fc.nat(9), end_index: fc.nat(9) })),
  }),
)
/** OpenRouter's form: images beside the content. */
const picture = plus(
  record({
    type: fc.constant('image_url'),
    image_url: fc.oneof(
      fc.webUrl(),
      plus(record({ url: bytes.map(data => `data:image/png;base64,${data}`) }, { detail: fc.constant('high') })),
    ),
  }),
)
/** Calls with unique ids. A repeated id in an answer is replaced, even for callers of this format (trap 6). */
const answerCalls = fc.uniqueArray(call, { maxLength: 2, selector: one => (one as { readonly id: string }).id })
const answer = plus(
  record(
    { role: fc.constant('assistant'), content: maybeNull(word), refusal: maybeNull(word) },
    {
      reasoning_content: word,
      tool_calls: answerCalls,
      audio: maybeNull(plus(record({ id: filled, data: bytes, transcript: word, expires_at: fc.nat() }))),
      images: maybeNull(
        fc.oneof(
          fc.array(picture, { maxLength: 2 }),
          fc.array(fc.oneof(word, plus(fc.constant({ type: 'x_image' }))), { maxLength: 1 }),
        ),
      ),
    },
  ),
).chain(message =>
  typeof message['content'] === 'string'
    ? fc
        .option(fc.array(fc.oneof(citation, plus(fc.constant({ type: 'file' }))), { maxLength: 2 }))
        .map(annotations => (annotations === null ? message : { ...message, annotations }))
    : fc.constant(message),
)
/** Mistral's form: content as a list that includes reasoning. */
const listed = plus(
  record({
    role: fc.constant('assistant'),
    content: fc.array(
      fc.oneof(
        plus(record({ type: fc.constant('text'), text: word })),
        plus(
          record({
            type: fc.constant('thinking'),
            thinking: fc.array(record({ type: fc.constant('text'), text: word }), { maxLength: 2 }),
          }),
        ),
        plus(fc.constant({ type: 'x_reference' })),
      ),
      { maxLength: 3 },
    ),
  }),
)
const choice = (index: number) =>
  plus(
    record(
      {
        index: fc.constant(index),
        message: fc.oneof({ weight: 4, arbitrary: answer }, { weight: 1, arbitrary: listed }),
        finish_reason: maybeNull(fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'x_bored')),
      },
      {
        logprobs: maybeNull(
          record({ content: maybeNull(fc.array(token, { maxLength: 2 })), refusal: fc.constant(null) }),
        ),
      },
    ),
  )
const details = plus(record({}, { cached_tokens: fc.nat(), audio_tokens: maybeNull(fc.nat()), text_tokens: fc.nat() }))
const usage = plus(
  fc.oneof(
    usageIn(CHAT_COUNTS),
    record(
      { prompt_tokens: fc.nat(99), completion_tokens: fc.nat(99), total_tokens: fc.nat(199) },
      {
        prompt_tokens_details: maybeNull(details),
        completion_tokens_details: plus(record({}, { reasoning_tokens: fc.nat() })),
      },
    ),
  ),
)
export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    {
      id: filled,
      object: fc.constant('chat.completion'),
      created: fc.nat(),
      model: filled,
      choices: fc.oneof(fc.tuple(choice(0)), fc.tuple(choice(0), choice(1))),
    },
    {
      ...{ usage: maybeNull(usage), service_tier: maybeNull(word), system_fingerprint: maybeNull(word) },
      citations: maybeNull(fc.array(fc.oneof(fc.webUrl(), word), { maxLength: 2 })),
      search_results: maybeNull(
        fc.array(plus(record({ url: fc.webUrl() }, { title: word, snippet: word, date: maybeNull(word) })), {
          maxLength: 2,
        }),
      ),
    },
  ),
)
