import fc from 'fast-check'
import { isObject, type JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, json, object, record, schema, word } from '../arbitrary.ts'
import { absurd } from '../counts.ts'
import { maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Converse values as clients and upstreams write them, with random unknown fields. */

/** A block of one kind. */
const block = (kind: string, value: fc.Arbitrary<unknown>) => value.map(one => ({ [kind]: one }) as JsonObject)

/** A block with fields beside its kind. */
const odd = (kind: string, value: fc.Arbitrary<unknown>) => plus(record({ [kind]: value }))

const text = block('text', word)
const cachePoint = block(
  'cachePoint',
  plus(record({ type: fc.constantFrom('default', 'x_point') }, { ttl: maybeNull(fc.constantFrom('5m', '1h')) })),
)

const source = (...others: fc.Arbitrary<unknown>[]) =>
  fc.oneof(
    record({ bytes }),
    record({ s3Location: plus(record({ uri: fc.constant('s3://files/one') }, { bucketOwner: word })) }),
    record({ x_source: json }),
    ...others,
  )
const media = (kind: string, ...formats: string[]) =>
  block(kind, plus(record({ source: source() }, { format: maybeNull(fc.constantFrom(...formats, 'x_format')) })))
const image = media('image', 'png', 'jpeg')
const video = media('video', 'mp4', 'three_gp')
const audio = media('audio', 'mp3', 'wav')
const document = block(
  'document',
  plus(
    record(
      {
        source: source(record({ text: word }), record({ content: fc.array(record({ text: word }), { maxLength: 2 }) })),
      },
      {
        format: maybeNull(fc.constantFrom('pdf', 'txt', 'md', 'docx')),
        name: maybeNull(word),
        context: maybeNull(word),
        citations: object(fc.boolean()),
      },
    ),
  ),
)
/** A signature, never one that the gateway wrapped, because it would be unwrapped on the way. */
const proof = fc
  .oneof(fc.constant('EqQBCkYIBRgC'), fc.base64String({ maxLength: 8 }))
  .filter(value => !value.startsWith('aWw6'))
const reasoning = block(
  'reasoningContent',
  fc.oneof(
    record({ reasoningText: plus(record({ text: word }, { signature: maybeNull(proof) })) }),
    record({ redactedContent: proof }),
    plus(record({ redactedContent: proof })),
    record({ x_reasoning: json }),
  ),
)
const citation = plus(
  record(
    {},
    {
      title: maybeNull(word),
      source: word,
      sourceContent: maybeNull(fc.array(record({ text: word }), { maxLength: 2 })),
      location: fc.oneof(
        record({ web: record({ url: fc.webUrl() }, { domain: word }) }),
        record({ web: record({ url: fc.webUrl() }) }),
        record({ documentChar: record({ documentIndex: fc.nat(3), start: fc.nat(9), end: fc.nat(9) }) }),
      ),
    },
  ),
)
const cited = block(
  'citationsContent',
  plus(
    record(
      {},
      {
        content: maybeNull(fc.array(record({}, { text: word }), { maxLength: 1 })),
        citations: maybeNull(fc.array(citation, { maxLength: 2 })),
      },
    ),
  ),
)
const toolUse = block(
  'toolUse',
  plus(
    record(
      { toolUseId: filled, name: filled },
      { input: maybeNull(object(json)), type: maybeNull(fc.constantFrom('server_tool_use', 'tool_use')) },
    ),
  ),
)
const searchResult = block(
  'searchResult',
  plus(record({ source: word, title: word, content: fc.array(record({ text: word }), { maxLength: 2 }) })),
)
const toolResult = block(
  'toolResult',
  plus(
    record(
      { toolUseId: filled },
      {
        content: maybeNull(
          fc.array(fc.oneof(text, block('json', object(json)), image, video, document, searchResult), { maxLength: 3 }),
        ),
        status: maybeNull(fc.constantFrom('success', 'error', 'x_status')),
        type: maybeNull(fc.constant('x_result')),
      },
    ),
  ),
)
const other = fc.oneof(
  block('guardContent', record({ text: record({ text: word }) })),
  block('toolAddition', record({ tool: object(word) })),
  odd('text', word),
  odd('x_block', json),
)

const turn = (role: string, one: fc.Arbitrary<unknown>) =>
  plus(record({ role: fc.constant(role), content: fc.array(one, { maxLength: 4 }) }))
const message = fc.oneof(
  turn('user', fc.oneof(text, image, video, audio, document, searchResult, toolResult, cachePoint, other)),
  turn('assistant', fc.oneof(text, reasoning, toolUse, cited, cachePoint, other)),
  turn('system', fc.oneof(text, other)),
)

const tool = fc.oneof(
  block(
    'toolSpec',
    plus(
      record(
        { name: filled },
        {
          description: maybeNull(word),
          inputSchema: maybeNull(record({}, { json: maybeNull(schema), x_other: word })),
          strict: maybeNull(fc.boolean()),
        },
      ),
    ),
  ),
  cachePoint,
  block('systemTool', record({ name: fc.constant('nova_grounding') })),
  odd('toolSpec', record({ name: filled })),
)
const toolChoice = fc.oneof(
  record({ auto: plus(record({})) }),
  record({ auto: fc.constant({}) }),
  record({ any: fc.constant({}) }),
  record({ tool: plus(record({ name: filled })) }),
  record({ tool: record({ name: filled }) }),
  record({ x_choice: json }),
)
const thinking = fc.oneof(
  record({ type: fc.constant('enabled') }, { budget_tokens: fc.integer({ min: 1, max: 9000 }) }),
  record({ type: fc.constantFrom('adaptive', 'disabled') }, { display: fc.constantFrom('summarized', 'omitted') }),
  plus(record({ type: fc.constantFrom('adaptive', 'x_thinking') })),
  word,
)
const textFormat = plus(
  record(
    {},
    {
      type: maybeNull(fc.constantFrom('json_schema', 'x_format')),
      structure: maybeNull(
        record(
          {},
          {
            jsonSchema: maybeNull(
              record(
                {
                  schema: fc.oneof(
                    schema.map(one => JSON.stringify(one)),
                    word,
                  ),
                },
                { name: maybeNull(word), description: maybeNull(word), x_other: word },
              ),
            ),
          },
        ),
      ),
    },
  ),
)
const effort = fc.constantFrom('none', 'low', 'medium', 'high')
/** Efforts in the fields of models of other vendors. */
const modelEfforts = {
  reasoning_effort: fc.oneof(effort, word),
  reasoning: fc.oneof(record({}, { effort, other: word }), word),
  reasoningConfig: fc.oneof(
    record({}, { type: fc.constantFrom('enabled', 'disabled'), maxReasoningEffort: effort }),
    word,
  ),
}
const conversation = {
  messages: maybeNull(fc.array(message, { maxLength: 4 })),
  system: maybeNull(fc.array(fc.oneof(text, cachePoint, other), { maxLength: 3 })),
  toolConfig: maybeNull(
    plus(record({}, { tools: maybeNull(fc.array(tool, { maxLength: 3 })), toolChoice: maybeNull(toolChoice) })),
  ),
  additionalModelRequestFields: maybeNull(
    plus(
      record(
        {},
        { thinking, top_k: fc.oneof(fc.nat(99), word), reasoning_config: fc.oneof(word, effort), ...modelEfforts },
      ),
    ),
  ),
}
const body = plus(
  record(
    {},
    {
      ...conversation,
      inferenceConfig: maybeNull(
        plus(
          record(
            {},
            {
              maxTokens: maybeNull(fc.nat()),
              temperature: maybeNull(fc.nat(1)),
              topP: maybeNull(fc.nat(1)),
              stopSequences: maybeNull(fc.array(word, { maxLength: 3 })),
            },
          ),
        ),
      ),
      outputConfig: maybeNull(
        plus(
          record({}, { effort: maybeNull(fc.constantFrom('low', 'max', 'x_huge')), textFormat: maybeNull(textFormat) }),
        ),
      ),
      guardrailConfig: object(word),
      requestMetadata: maybeNull(object(word)),
      serviceTier: maybeNull(plus(record({}, { type: maybeNull(fc.constantFrom('default', 'flex', 'x_tier')) }))),
      performanceConfig: record({ latency: fc.constant('optimized') }),
    },
  ),
)
const counting = plus(record({ input: plus(record({ converse: plus(record({}, conversation)) })) }))

const model = fc.constantFrom('amazon.nova-pro-v1:0', 'us.anthropic.claude-sonnet-4-6', 'arn:aws:bedrock:eu:1:x/y')
const at = (operation: string) => (body: JsonObject, model: string) => ({
  path: `/model/${encodeURIComponent(model)}/${operation}`,
  query: {},
  headers: {},
  body,
})
const made = (one: fc.Arbitrary<JsonObject>, operation: string): fc.Arbitrary<WireRequest> =>
  fc.tuple(one, model).map(([given, name]) => at(operation)(given, name))

export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  { weight: 2, arbitrary: made(body, 'converse') },
  { weight: 2, arbitrary: made(body, 'converse-stream') },
  { weight: 1, arbitrary: made(counting, 'count-tokens') },
)

export const answers = { count: plus(record({ inputTokens: fc.nat() })) }

/** Token counts, sometimes invalid ones. */
const tokens = fc.oneof({ weight: 9, arbitrary: fc.nat(99) }, { weight: 1, arbitrary: absurd })
const usage = plus(
  record(
    { inputTokens: tokens, outputTokens: tokens },
    {
      totalTokens: maybeNull(tokens),
      cacheReadInputTokens: maybeNull(tokens),
      cacheWriteInputTokens: maybeNull(fc.nat(99)),
      cacheDetails: maybeNull(fc.array(record({ ttl: fc.constant('5m'), inputTokens: fc.nat(9) }), { maxLength: 1 })),
      serverToolUsage: fc.constant({}),
    },
  ),
)
const STOPS = [
  ...['end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'guardrail_intervened', 'content_filtered'],
  ...['malformed_model_output', 'model_context_window_exceeded', 'x_bored'],
]
/** Returns the id of a call. A repeated id in an answer is replaced, even for callers of this format (trap 6). */
const idOfCall = (block: unknown): unknown => {
  const call = (block as JsonObject)['toolUse']
  return isObject(call) ? call['toolUseId'] : block
}
export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    {
      output: plus(
        record({
          message: plus(
            record({
              role: fc.constant('assistant'),
              content: fc.uniqueArray(fc.oneof(text, reasoning, toolUse, cited, other), {
                maxLength: 4,
                selector: idOfCall,
              }),
            }),
          ),
        }),
      ),
      stopReason: maybeNull(fc.constantFrom(...STOPS)),
      usage,
    },
    {
      metrics: record({ latencyMs: fc.nat(999) }),
      additionalModelResponseFields: object(json),
      trace: object(json),
      serviceTier: maybeNull(plus(record({}, { type: fc.constantFrom('default', 'flex') }))),
    },
  ),
)
