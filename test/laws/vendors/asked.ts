import type { Format, JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { hi, type Loose } from './vendor.ts'

/* Requests with one schema, of a tool or of the answer. */

const QUESTION: CanonicalRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  output: {},
  sampling: {},
  stream: false,
}

export const askedWithTool = (parameters: JsonObject, strict?: boolean): CanonicalRequest => ({
  ...QUESTION,
  tools: [{ type: 'function', name: 'f', parameters, ...(strict === undefined ? {} : { strict }) }],
})

export const askedForAnswer = (schema: JsonObject): CanonicalRequest => ({
  ...QUESTION,
  output: { text: { shape: 'schema', name: 'a', schema, strict: true } },
})

/** Bodies with a tool as clients of each format write them. */
export const BODIES_WITH_TOOL: { readonly [format: Format]: (schema: JsonObject) => JsonObject } = {
  chat: parameters => ({ ...hi, tools: [{ type: 'function', function: { name: 'f', parameters } }] }),
  responses: parameters => ({ input: 'hi', tools: [{ type: 'function', name: 'f', parameters, strict: false }] }),
  messages: input_schema => ({ ...hi, max_tokens: 100, tools: [{ name: 'f', input_schema }] }),
  contents: parametersJsonSchema => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema }] }],
  }),
}

/** Returns the schemas of the tools of a body in any of these formats. */
export const schemasOfTools = ({ tools = [] }: Loose): Loose[] =>
  tools.flatMap((tool: Loose) =>
    [
      tool.function?.parameters ?? tool.parameters ?? tool.input_schema ?? tool.toolSpec?.inputSchema?.json ?? [],
      (tool.functionDeclarations ?? []).flatMap((one: Loose) => one.parametersJsonSchema ?? []),
    ].flat(),
  )
