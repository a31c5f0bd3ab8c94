import * as v from 'valibot'
import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'
import { fields, free, list, oneOf, positive, said, some, text, whole, yes } from './strict.ts'

/* All fields of a contents request and their types. Any other field is refused. */

const name = v.pipe(text, v.regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, 'Invalid function name'))
const blob = fields({ mimeType: said, data: said }, { displayName: text })
const fileData = fields({ fileUri: said }, { mimeType: said, displayName: text })

const DATA = {
  text,
  inlineData: blob,
  fileData,
  functionCall: fields({ name }, { id: said, args: free }),
  functionResponse: fields({ name, response: free }, { id: said, parts: list(fields({ inlineData: blob }, {})) }),
}

const part = v.pipe(
  fields({}, { ...DATA, thought: yes, thoughtSignature: said, partMetadata: free, videoMetadata: free }),
  v.check(
    value => Object.keys(value).filter(key => key in DATA).length === 1,
    "required oneof field 'data' must have one initialized field",
  ),
)

/** `function` is the role of call results in Google's older SDKs (docs/wire/contents.md#request). */
const content = fields({ parts: some(part) }, { role: oneOf('user', 'model', 'function') })

/** OpenAPI's subset for `parameters`. */
const schema: v.GenericSchema = v.lazy(() =>
  fields(
    {},
    {
      type: oneOf(
        ...['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL', 'TYPE_UNSPECIFIED'],
        ...LOWER,
      ),
      ...{ title: text, description: text, format: text, nullable: yes, enum: list(text), default: v.unknown() },
      ...{ items: schema, prefixItems: list(schema), minItems: v.unknown(), maxItems: v.unknown() },
      ...{ properties: v.record(text, schema), required: list(text), propertyOrdering: list(text) },
      ...{ minProperties: v.unknown(), maxProperties: v.unknown(), minLength: v.unknown(), maxLength: v.unknown() },
      ...{ minimum: v.number(), maximum: v.number(), pattern: text, example: v.unknown(), anyOf: list(schema) },
      ...{ additionalProperties: v.unknown(), ref: text, defs: free },
    },
  ),
)
const LOWER = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const

const declaration = v.pipe(
  fields(
    { name },
    { description: text, parameters: schema, parametersJsonSchema: free, response: schema, responseJsonSchema: free },
  ),
  v.check(
    ({ parameters, parametersJsonSchema }) => parameters === undefined || parametersJsonSchema === undefined,
    'parameters and parametersJsonSchema exclude each other',
  ),
)

const tool = fields(
  {},
  { functionDeclarations: some(declaration), googleSearch: free, urlContext: free, codeExecution: free },
)

const generationConfig = fields(
  {},
  {
    ...{
      temperature: v.number(),
      topP: v.number(),
      topK: v.number(),
      maxOutputTokens: positive,
      candidateCount: positive,
    },
    ...{
      stopSequences: list(said),
      seed: whole,
      responseMimeType: text,
      responseSchema: schema,
      responseJsonSchema: free,
    },
    ...{ responseModalities: list(text), presencePenalty: v.number(), frequencyPenalty: v.number() },
    thinkingConfig: fields(
      {},
      {
        includeThoughts: yes,
        thinkingBudget: v.pipe(v.number(), v.integer(), v.minValue(-1)),
        // Google's own examples write it in lower case.
        thinkingLevel: oneOf('MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'minimal', 'low', 'medium', 'high'),
      },
    ),
  },
)

export const requestTable = fields(
  { contents: some(content) },
  {
    systemInstruction: fields({ parts: some(part) }, { role: text }),
    ...{ tools: list(tool), generationConfig, safetySettings: list(free), cachedContent: text, model: text },
    toolConfig: fields(
      {},
      {
        functionCallingConfig: fields(
          {},
          { mode: oneOf('AUTO', 'ANY', 'NONE', 'VALIDATED'), allowedFunctionNames: some(name) },
        ),
        includeServerSideToolInvocations: yes,
      },
    ),
  },
)

/** Fields with free JSON of the caller. */
const FREE = new Set(['args', 'response', 'parametersJsonSchema', 'responseJsonSchema', 'properties', 'partMetadata'])

/** Google reads both spellings of a field's name, and takes null for an absent field (protobuf.dev: ProtoJSON). */
export function camelled(value: Json): Json {
  if (Array.isArray(value)) return value.map(camelled)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inside]) => inside !== null)
      .map(([key, inside]) => {
        const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
        return [camel, FREE.has(camel) ? inside : camelled(inside)]
      }),
  ) as JsonObject
}
