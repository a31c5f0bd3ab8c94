import * as v from 'valibot'
import { fields, free, list, oneOf, parameters, positive, said, some, text, yes } from './strict.ts'

/* The fields of a request of Converse, with Claude (docs/wire/converse.md#request). */

const name = v.pipe(text, v.regex(/^[a-zA-Z0-9_-]{1,64}$/, 'failed to satisfy constraint: [a-zA-Z0-9_-]+'))

/** A text that upstreams do not refuse as blank. */
const shown = v.pipe(
  text,
  v.check(value => value.trim() !== '', 'The text field in the ContentBlock object is blank.'),
)

const source = fields({ bytes: said }, {})
const image = fields({ format: oneOf('png', 'jpeg', 'gif', 'webp'), source }, {})
const document = fields(
  { format: said, name: v.pipe(text, v.regex(/^[a-zA-Z0-9[\]()-]+( [a-zA-Z0-9[\]()-]+)*$/, 'is no name')), source },
  { context: text, citations: fields({ enabled: yes }, {}) },
)
const cachePoint = fields({ type: v.literal('default') }, { ttl: oneOf('5m', '1h') })

const resultPart = v.union([
  fields({ text: shown }, {}),
  fields({ json: free }, {}),
  fields({ image }, {}),
  fields({ document }, {}),
])

const block = v.union([
  fields({ text: shown }, {}),
  fields({ image }, {}),
  fields({ document }, {}),
  fields({ cachePoint }, {}),
  fields({ toolUse: fields({ toolUseId: name, name, input: free }, { type: text }) }, {}),
  fields(
    { toolResult: fields({ toolUseId: name, content: list(resultPart) }, { status: oneOf('success', 'error') }) },
    {},
  ),
  fields({ reasoningContent: fields({ reasoningText: fields({ text }, { signature: said }) }, {}) }, {}),
  fields({ reasoningContent: fields({ redactedContent: said }, {}) }, {}),
])

const tool = v.union([
  fields(
    { toolSpec: fields({ name, inputSchema: fields({ json: parameters }, {}) }, { description: said, strict: yes }) },
    {},
  ),
  fields({ cachePoint }, {}),
])

const nothing = fields({}, {})
const choice = v.union([
  fields({ auto: nothing }, {}),
  fields({ any: nothing }, {}),
  fields({ tool: fields({ name }, {}) }, {}),
])

export const requestTable = fields(
  { messages: some(fields({ role: oneOf('user', 'assistant'), content: some(block) }, {})) },
  {
    system: some(v.union([fields({ text: shown }, {}), fields({ cachePoint }, {})])),
    inferenceConfig: fields(
      {},
      { maxTokens: positive, temperature: v.number(), topP: v.number(), stopSequences: list(said) },
    ),
    toolConfig: fields({ tools: some(tool) }, { toolChoice: choice }),
    ...{ additionalModelRequestFields: free, requestMetadata: v.record(text, text) },
    outputConfig: fields({}, { textFormat: free, effort: oneOf('low', 'medium', 'high', 'xhigh', 'max') }),
    serviceTier: fields({ type: text }, {}),
  },
)
