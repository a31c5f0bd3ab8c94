import * as v from 'valibot'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { SETTINGS } from '../../formats/settings/contents.ts'
import { count, maybe, maybeText, settingEntries } from '../errors/validation-error.ts'
import { namesModel, readAddress } from './address.ts'
import { CONTENT, inCamelCase, NUMERAL, WRAPPER } from './fields.ts'
import { isSoundless } from './media.ts'

/**
 * Schemas of the generateContent, countTokens and embedding requests (docs/wire/contents.md#request). Unknown fields
 * are accepted, and free-form JSON is never validated.
 */

/** A number or its notation as a string. */
const number = v.custom<number | string>(
  value => typeof value === 'number' || (typeof value === 'string' && NUMERAL.test(value)),
  'Invalid type: Expected number',
)

const json = v.custom<JsonObject>(isObject, 'Invalid type: Expected Object')

/** An object whose fields may also be written in snake_case. */
function inEitherCase<const E extends v.ObjectEntries>(entries: E) {
  const known = new Set(Object.keys(entries))
  return v.pipe(
    json,
    v.transform((value): unknown => inCamelCase(value, known)),
    v.looseObject(entries),
  )
}
/**
 * Returns the schema of one value or a list of values. The input determines which, so that the error names the faulty
 * item.
 */
const oneOrMany = (schema: v.GenericSchema): v.GenericSchema =>
  v.lazy(input => (Array.isArray(input) ? v.array(schema) : schema))

const media = {
  inlineData: maybe(inEitherCase({ mimeType: maybeText, data: maybeText, displayName: maybeText })),
  fileData: maybe(inEitherCase({ mimeType: maybeText, fileUri: maybeText, displayName: maybeText })),
}

const part = inEitherCase({
  text: maybeText,
  thought: maybe(v.boolean()),
  thoughtSignature: maybeText,
  ...media,
  functionCall: maybe(inEitherCase({ id: maybeText, name: maybeText, args: maybe(json) })),
  functionResponse: maybe(
    inEitherCase({
      id: maybeText,
      name: maybeText,
      response: maybe(json),
      parts: maybe(v.array(inEitherCase(media))),
    }),
  ),
  executableCode: maybe(json),
  codeExecutionResult: maybe(json),
  toolCall: maybe(json),
  toolResponse: maybe(json),
})

/** Roles that a content may have. A blank role means none, as for every text of a protobuf message. */
export const ROLES = ['user', 'model', 'function', ''] as const

/** Schema that refuses audio without samples. Only the caller's parts are checked, not the model's earlier parts. */
const audible = v.custom<JsonObject>(part => !isObject(part) || !isSoundless(part), 'The audio is empty')
const content = v.pipe(
  json,
  v.transform((value): unknown => inCamelCase(value, CONTENT)),
  v.lazy((input): v.GenericSchema => {
    const schema = (input as JsonObject)['role'] === 'model' ? part : v.pipe(audible, part)
    return v.looseObject({ role: maybe(v.picklist(ROLES)), parts: maybe(oneOrMany(schema)) })
  }),
)
const instruction = inEitherCase({ role: maybeText, parts: maybe(oneOrMany(part)) })

const declaration = inEitherCase({
  name: v.string(),
  description: maybeText,
  parameters: maybe(json),
  parametersJsonSchema: maybe(json),
})

const tool = inEitherCase({
  functionDeclarations: maybe(oneOrMany(declaration)),
  googleSearch: maybe(inEitherCase({ excludeDomains: maybe(v.array(v.string())) })),
  googleSearchRetrieval: maybe(json),
  codeExecution: maybe(json),
  urlContext: maybe(json),
})

const generationConfig = inEitherCase({
  ...settingEntries(SETTINGS, { number: maybe(number), count: maybe(v.pipe(number, v.transform(Number), count)) }),
  stopSequences: maybe(v.array(v.string())),
  responseLogprobs: maybe(v.boolean()),
  logprobs: maybe(number),
  responseMimeType: maybeText,
  responseSchema: maybe(json),
  responseJsonSchema: maybe(json),
  _responseJsonSchema: maybe(json),
  responseFormat: maybe(json),
  responseModalities: maybe(v.array(v.string())),
  speechConfig: maybe(json),
  imageConfig: maybe(json),
  thinkingConfig: maybe(
    inEitherCase({
      includeThoughts: maybe(v.boolean()),
      thinkingBudget: maybe(number),
      thinkingLevel: maybeText,
    }),
  ),
})

const settings = {
  contents: oneOrMany(content),
  systemInstruction: maybe(v.union([v.string(), instruction])),
  tools: maybe(oneOrMany(tool)),
  toolConfig: maybe(
    inEitherCase({
      functionCallingConfig: maybe(inEitherCase({ mode: maybeText, allowedFunctionNames: maybe(v.array(v.string())) })),
    }),
  ),
  generationConfig: maybe(generationConfig),
  labels: maybe(json),
  serviceTier: maybeText,
}

const toEmbed = {
  content: instruction,
  taskType: maybeText,
  outputDimensionality: maybe(number),
  embedContentConfig: maybe(inEitherCase({ taskType: maybeText, outputDimensionality: maybe(number) })),
}

const instance = inEitherCase({ content: v.string(), taskType: maybeText, title: maybeText })
const toPredict = {
  instances: v.pipe(v.array(instance), v.minLength(1, 'There is nothing to embed.')),
  parameters: maybe(inEitherCase({ outputDimensionality: maybe(number) })),
}

const ONE_SPELLING = v.object({
  generate_content_request: v.undefined('must not be used together with generateContentRequest'),
})

/** Returns the schema of a request. Its path contains the model and the method (docs/wire/contents.md#endpoints). */
export function requestAt({ path }: { readonly path: string }): v.GenericSchema {
  const address = readAddress(path)
  const model = maybe(
    v.pipe(
      v.string(),
      v.check(value => namesModel(value, address.model), 'must be the model of the path'),
    ),
  )
  const request = inEitherCase({ model, ...settings })
  const embedding = inEitherCase({ model, ...toEmbed })
  if (address.method === 'embedContent') return embedding
  if (address.method === 'batchEmbedContents')
    return inEitherCase({ model, requests: v.pipe(v.array(embedding), v.minLength(1, 'There is nothing to embed.')) })
  if (address.method === 'predict') return inEitherCase(toPredict)
  if (address.method !== 'countTokens') return request
  return v.lazy(input => {
    const fields = isObject(input) ? inCamelCase(input, WRAPPER) : {}
    if (fields['generate_content_request'] != null) return ONE_SPELLING
    return isObject(fields['generateContentRequest'])
      ? inEitherCase({ model, generateContentRequest: request })
      : request
  })
}
