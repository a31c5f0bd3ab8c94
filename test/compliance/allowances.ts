import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { Allowed, type Meant } from './allowed.ts'

/* Schemas of each request and answer, and the rules that these schemas mean but cannot express. */

const base64 = (text: Json): string => Buffer.from(String(text)).toString('base64')

const within = (value: JsonObject, field: string, change: (inner: Json) => Json): JsonObject =>
  value[field] == null ? value : { ...value, [field]: change(value[field]) }

/** Sound without bytes is refused, as every upstream does. */
const heard = (text: Json): string => base64(`${text}.`)
const sounding = (audio: Json): Json => (isObject(audio) ? within(audio, 'data', heard) : audio)

/** Bytes are base64, although the schema only states that they are a string. */
const filed = (part: JsonObject): JsonObject => within(part, 'file_data', base64)
const drawn = (call: JsonObject): JsonObject => within(call, 'result', base64)
/** Each call of an answer has a unique id, although the schema allows any. Other answers are repaired (trap 6). */
const called = (calls: Json): Json =>
  (calls as readonly JsonObject[]).map((call, index) => ({ ...call, id: `call_${index}` }))
const OPENAI: Meant = {
  InputFileContent: filed,
  InputFileContentParam: filed,
  BetaInputFileContent: filed,
  BetaInputFileContentParam: filed,
  ImageGenToolCall: drawn,
  BetaImageGenToolCall: drawn,
  ChatCompletionRequestMessageContentPartAudio: part => within(part, 'input_audio', sounding),
  ChatCompletionResponseMessage: message => within(within(message, 'tool_calls', called), 'audio', sounding),
}

const DATA = [
  ...['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
  ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'],
]

/** A part has exactly one kind of data (docs/wire/contents.md#parts). */
function onePart(part: JsonObject): JsonObject {
  const [kept] = DATA.filter(kind => kind in part)
  if (kept === undefined) return { ...part, text: 'a' }
  return Object.fromEntries(Object.entries(part).filter(([field]) => !DATA.includes(field) || field === kept))
}

const asSchema = (json: Json): Json => ({ type: 'object', default: json })

const typed = (blob: JsonObject): JsonObject => within(blob, 'mimeType', () => 'image/png')

const GOOGLE: Meant = {
  Part: onePart,
  // "The name of the Model to use", which is also in the path. Two different names are refused (trap 105).
  GenerateContentRequest: request => within(request, 'model', () => 'models/m'),
  // A total without any count is no count.
  UsageMetadata: usage => ({ promptTokenCount: 1, ...usage }),
  Blob: typed,
  FunctionResponseBlob: typed,
  // "Must be either 'user' or 'model'."
  Content: content => within(content, 'role', role => (String(role).length % 2 === 0 ? 'user' : 'model')),
  // "An output schema in JSON Schema", for which the description allows any JSON. A candidate count of 0 is refused.
  GenerationConfig: config =>
    within(
      within(within(config, 'responseJsonSchema', asSchema), '_responseJsonSchema', asSchema),
      'candidateCount',
      count => Math.abs(Number(count)) + 1,
    ),
  FunctionDeclaration: declaration => within(declaration, 'parametersJsonSchema', asSchema),
  // An object without either field is no answer (trap 77).
  GenerateContentResponse: answer =>
    'candidates' in answer || 'promptFeedback' in answer ? answer : { ...answer, candidates: [] },
}

/**
 * An upstream's index is never empty. The gateway writes an empty one for citations of others, which go to no upstream
 * (trap 82).
 */
const proved = (citation: JsonObject): JsonObject => within(citation, 'encrypted_index', proof => `${String(proof)}=`)
/** No upstream's page is empty: that is how the gateway writes pages of others, which go to none. */
const found = (page: JsonObject): JsonObject => within(page, 'encrypted_content', content => `${String(content)}=`)
const ANTHROPIC: Meant = {
  RequestWebSearchResultLocationCitation: proved,
  BetaRequestWebSearchResultLocationCitation: proved,
  RequestWebSearchResultBlock: found,
  BetaRequestWebSearchResultBlock: found,
}

const openai = new Allowed('openai-openapi.json', OPENAI)
const openresponses = new Allowed('openresponses-2026-04-24-openapi.json', OPENAI)
const anthropic = new Allowed('anthropic-messages-openapi.json', ANTHROPIC)
const google = new Allowed('gemini-v1beta-openapi.json', GOOGLE)

/** Merges values of all the schemas. The last value of a field is used. */
const both = (...values: readonly fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(...values).map(all => Object.assign({}, ...all) as JsonObject)

const field = (name: string, value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> =>
  value.map(said => ({ [name]: said }))

/** A model name that is not empty. Not every description requires a model (docs/wire/responses.md#request). */
const model = field('model', fc.constant('m'))

const to =
  (path: string, headers: { readonly [name: string]: string } = {}) =>
  (body: JsonObject): WireRequest => ({ path, query: {}, headers, body })

/**
 * Fields that each API version takes. The newer version has no sampling parameters (docs/wire/messages.md#sampling).
 */
const GONE = new Set(['temperature', 'top_k', 'top_p'])
const unsampled = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !GONE.has(name)))
const OLDER = { 'anthropic-version': '2023-06-01' }
const NEWER = { 'anthropic-version': '2026-10-21' }

type Row<T> = readonly [name: string, format: string, values: fc.Arbitrary<T>]

const asks = (name: string): fc.Arbitrary<JsonObject> => openai.of(name)
const chooses = both(field('tools', openai.of('ToolsArray')), field('tool_choice', openai.of('ToolChoiceParam')))

export const REQUESTS: readonly Row<WireRequest>[] = [
  ['chat', 'chat', both(asks('CreateChatCompletionRequest'), model).map(to('/chat/completions'))],
  [
    'responses',
    'responses',
    both(asks('CreateResponse'), model, field('input', openai.of('InputParam'))).map(to('/responses')),
  ],
  ['responses with tools', 'responses', both(asks('CreateResponse'), model, chooses).map(to('/responses'))],
  ['beta responses', 'responses', both(asks('BetaCreateResponse'), model).map(to('/responses'))],
  ['open responses', 'responses', both(openresponses.of('CreateResponseBody'), model).map(to('/responses'))],
  ['compaction', 'responses', both(asks('CompactResponseMethodPublicBody'), model).map(to('/responses/compact'))],
  ['input tokens', 'responses', both(asks('TokenCountsBody'), model).map(to('/responses/input_tokens'))],
  ['messages of 2023', 'messages', both(anthropic.of('CreateMessageParams'), model).map(to('/v1/messages', OLDER))],
  [
    'messages of 2026',
    'messages',
    both(anthropic.of('CreateMessageParams'), model).map(unsampled).map(to('/v1/messages', NEWER)),
  ],
  ['beta messages', 'messages', both(anthropic.of('BetaCreateMessageParams'), model).map(to('/v1/messages', OLDER))],
  [
    'message tokens',
    'messages',
    both(anthropic.of('CountMessageTokensParams'), model).map(to('/v1/messages/count_tokens', OLDER)),
  ],
  ['contents', 'contents', google.of('GenerateContentRequest').map(to('/v1beta/models/m:generateContent'))],
]

export const ANSWERS: readonly Row<JsonObject>[] = [
  ['chat', 'chat', openai.of('CreateChatCompletionResponse')],
  ['responses', 'responses', openai.of('Response')],
  ['beta responses', 'responses', openai.of('BetaResponse')],
  ['open responses', 'responses', openresponses.of('ResponseResource')],
  ['messages', 'messages', anthropic.of('Message')],
  ['beta messages', 'messages', anthropic.of('BetaMessage')],
  ['contents', 'contents', google.of('GenerateContentResponse')],
]
