import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import type { Work } from '../../src/canonical/work.ts'
import { Description, HOME } from './description.ts'

/* Publishers' descriptions of each format's requests, answers and events, and the exceptions from them. */

const FILES = {
  openai: join(HOME, 'openai-openapi.json'),
  anthropic: join(HOME, 'anthropic-messages-openapi.json'),
  google: join(HOME, 'gemini-v1beta-openapi.json'),
} as const
type Publisher = keyof typeof FILES

export const HAS_DESCRIPTIONS = Object.values(FILES).every(existsSync)

interface Published {
  readonly by: Publisher
  readonly request?: string | ((wire: WireRequest) => string)
  readonly result?: string
  readonly event?: string | ((event: JsonObject) => string)
}

const CHAT: Published = {
  by: 'openai',
  request: 'CreateChatCompletionRequest',
  result: 'CreateChatCompletionResponse',
  event: 'CreateChatCompletionStreamResponse',
}
const RESPONSES: Published = {
  by: 'openai',
  request: 'CreateResponse',
  result: 'Response',
  event: 'ResponseStreamEvent',
}
const MESSAGES: Published = {
  by: 'anthropic',
  request: 'CreateMessageParams',
  result: 'Message',
  event: 'MessageStreamEvent',
}
const CONTENTS: Published = {
  by: 'google',
  request: 'GenerateContentRequest',
  result: 'GenerateContentResponse',
  event: 'GenerateContentResponse',
}

const pictures = ({ path, files }: WireRequest): string =>
  path.endsWith('/variations')
    ? 'CreateImageVariationRequest'
    : path.endsWith('/edits')
      ? files === undefined
        ? 'EditImageBodyJsonParam'
        : 'CreateImageEditRequest'
      : 'CreateImageRequest'

/** Schemas of each format, and of each kind of work with schemas of its own. */
export const PUBLISHED: { readonly [format: string]: { readonly [W in Work]?: Published } } = {
  chat: { conversation: CHAT, completion: CHAT, transcription: { by: 'openai', request: CHAT.request! } },
  responses: {
    conversation: RESPONSES,
    completion: { by: 'openai', request: 'CreateResponse' },
    image: { by: 'openai', request: 'CreateResponse' },
    count: { by: 'openai', request: 'TokenCountsBody', result: 'TokenCountsResource' },
    compaction: { by: 'openai', request: 'CompactResponseMethodPublicBody' },
  },
  messages: {
    conversation: MESSAGES,
    completion: { by: 'anthropic', request: 'CreateMessageParams' },
    count: { by: 'anthropic', request: 'CountMessageTokensParams', result: 'CountMessageTokensResponse' },
  },
  contents: {
    conversation: CONTENTS,
    completion: CONTENTS,
    image: CONTENTS,
    speech: CONTENTS,
    transcription: { by: 'google', request: 'GenerateContentRequest' },
    count: { by: 'google', request: 'CountTokensRequest', result: 'CountTokensResponse' },
    embedding: {
      by: 'google',
      request: ({ path }) => (path.endsWith(':embedContent') ? 'EmbedContentRequest' : 'BatchEmbedContentsRequest'),
    },
  },
  completions: {
    completion: {
      by: 'openai',
      request: 'CreateCompletionRequest',
      result: 'CreateCompletionResponse',
      event: 'CreateCompletionResponse',
    },
  },
  embeddings: {
    embedding: { by: 'openai', request: 'CreateEmbeddingRequest', result: 'CreateEmbeddingResponse' },
  },
  images: {
    image: {
      by: 'openai',
      request: pictures,
      result: 'ImagesResponse',
      event: ({ type }) => (String(type).startsWith('image_edit.') ? 'ImageEditStreamEvent' : 'ImageGenStreamEvent'),
    },
  },
  speech: { speech: { by: 'openai', request: 'CreateSpeechRequest', event: 'CreateSpeechResponseStreamEvent' } },
}

interface Exception {
  readonly schema: RegExp
  readonly fault: RegExp
  readonly why: string
}

/** Descriptions that state less than the format has, or require what their publisher's own answers lack. */
const EXCEPTIONS: readonly Exception[] = [
  {
    schema: /^(CreateMessageParams|CountMessageTokensParams)$/,
    fault: /^\/messages\/#\/role /,
    why: 'turns of the role system stand among the messages (docs/wire/messages.md#roles-and-turns)',
  },
  {
    schema: /^(CreateMessageParams|CountMessageTokensParams)$/,
    fault: /\/source\/type must be equal to one of the allowed values .*"base64"/,
    why: 'sources are files, too (docs/wire/messages.md#content-blocks); this description knows them in its beta alone',
  },
  {
    schema: /^(CreateResponse|TokenCountsBody)$/,
    fault: /^\/tool_choice\/type must be equal/,
    why: 'the choice of a web search has the type of its tool, which OpenAI’s service demands (raine/claude-code-proxy#26)',
  },
  {
    schema: /^Create(ChatCompletion|Image|ImageEdit)Request$|^EditImageBodyJsonParam$/,
    fault: /^\/(messages|prompt) must NOT have fewer than 1|^ must have required property 'images?'/,
    why: 'a request that says nothing is the caller’s, and is refused as such',
  },
  {
    schema: /^CreateChatCompletionStreamResponse$/,
    fault: /^\/choices\/#\/delta\/tool_calls\/#\/type .*\["function"\]/,
    why: 'calls of custom tools are streamed (docs/wire/chat.md#stream); only whole answers are described with them',
  },
  {
    schema: /^CreateChatCompletionResponse$/,
    fault: /^\/choices\/#\/message\/audio must have required property '(id|expires_at|transcript)'/,
    why: 'a recording that nobody keeps has no id to refer to it by, and nobody told its words',
  },
  {
    schema: /^Response$|^ResponseStreamEvent$/,
    fault: /^(\/response)?\/(user|usage) must be (string|object) /,
    why: 'they are null where there is none (docs/wire/responses.md#response-object), and so they are in every recorded answer',
  },
  {
    schema: /^Response$|^ResponseStreamEvent$|^CreateChatCompletion(Stream)?Response$/,
    fault: /^(\/response)?\/service_tier must be equal/,
    why: 'the upstream’s own word: recorded answers of chat have `on_demand` and `standard`',
  },
  {
    schema: /^ResponseStreamEvent$/,
    fault: /^ must have required property 'name'/,
    why: 'the end of a call’s arguments has no name in recorded streams, which go on as they came',
  },
  {
    schema: /^Response$|^ResponseStreamEvent$/,
    fault: /^(\/response)?\/error\/code must be equal/,
    why: 'clients go by codes the list leaves out, `context_length_exceeded` first',
  },
  {
    schema: /^Message$|^MessageStreamEvent$/,
    fault:
      /^(\/message)?(\/content\/#|\/content_block|\/usage|\/delta)? must have required property '(citations|container|stop_details|cache_creation|inference_geo|output_tokens_details|server_tool_use|service_tier)'/,
    why: 'described as required and null where there is none: no recorded answer has that null, and AI SDK 6 refuses it (trap 87)',
  },
  {
    schema: /^Message$/,
    fault: /^\/content\/#\/input must be object/,
    why: 'arguments that are no object are told as the model wrote them, whole as in the stream, which cannot know yet',
  },
  {
    schema: /^GenerateContentResponse$/,
    fault: /^\/candidates\/#\/finishReason must be equal/,
    why: 'a pause is CONTINUATION since SDK 3.1 (docs/wire/contents.md#finish-reasons)',
  },
  {
    schema: /^CreateCompletionResponse$/,
    fault: /^\/usage must be object|\/finish_reason must be |\/top_logprobs\/# must be object/,
    why: 'described for whole answers only: chunks have null (docs/wire/completions.md#logprobs), and so has a token without rivals',
  },
  {
    schema: /^CreateEmbeddingResponse$/,
    fault: /^\/data\/#\/embedding must be array/,
    why: 'a vector is base64 where the caller asks for it (docs/wire/embeddings.md#encodings)',
  },
  {
    schema: /^(CreateImage(Edit)?Request|EditImageBodyJsonParam)$/,
    fault:
      /^\/(output_format|quality|size) must be |unevaluated properties {"unevaluatedProperty":"(style|response_format)"/,
    why: 'newer words, and fields that edits have as well (docs/wire/images.md#edits); sizes are the model’s business',
  },
  {
    schema: /^ImagesResponse$|^Image(Gen|Edit)StreamEvent$/,
    fault: /^\/output_format must be equal|^ must have required property '(usage|b64_json|output_format)'/,
    why: 'gif and svg are new (docs/wire/images.md#generations), counts nobody told are not made up, and what stands at an address has no bytes',
  },
  {
    schema: /^ErrorResponse$/,
    fault: /^\/error\/type must be equal/,
    why: 'conflict_error and request_too_large are types of errors, too (docs/wire/errors.md#anthropic-types)',
  },
  {
    schema: /^CreateSpeechRequest$/,
    fault: /^\/response_format must be equal/,
    why: 'a container this description does not know is for the upstream to refuse',
  },
]

const descriptions = new Map<string, Description>()

function descriptionOf(by: Publisher, closed: boolean): Description {
  const key = `${by} ${closed}`
  let description = descriptions.get(key)
  if (description === undefined) {
    description = new Description(FILES[by], { closed })
    descriptions.set(key, description)
  }
  return description
}

/** Returns the faults of a value by its publisher's description, without the exceptions. */
function faults(by: Publisher, name: string, value: unknown, closed: boolean): readonly string[] {
  const excused = EXCEPTIONS.filter(({ schema }) => schema.test(name))
  return descriptionOf(by, closed)
    .faults(name, value)
    .filter(one => !excused.some(({ fault }) => fault.test(one)))
    .map(one => `${name}: ${one}`)
}

/** Returns the faults of an error body. Two of the three publishers describe errors. */
export const faultsOfError = (by: 'openai' | 'anthropic', body: unknown): readonly string[] =>
  faults(by, 'ErrorResponse', body, false)

/**
 * What an assistant said goes back as a list of texts without ids (docs/wire/responses.md#content-parts), and so
 * OpenResponses describes it; this description wants an answer's message, which has more. Thoughts and searches go without ids
 * where nobody knows them (trap 34).
 */
function asAnswered(item: Json): Json {
  if (isObject(item) && item['type'] === 'reasoning') return { id: 'rs_1', ...item }
  if (isObject(item) && item['type'] === 'web_search_call') return { id: 'ws_1', ...item }
  if (!isObject(item) || item['role'] !== 'assistant' || !Array.isArray(item['content'])) return item
  const content = (item['content'] as JsonObject[]).map(part =>
    part['type'] === 'output_text' ? { logprobs: [], ...part } : part,
  )
  return { id: 'msg_1', status: 'completed', ...item, content }
}

const described = (body: JsonObject): JsonObject =>
  Array.isArray(body['input']) ? { ...body, input: (body['input'] as Json[]).map(asAnswered) } : body

export const faultsOfRequest = ({ by, request }: Published, wire: WireRequest, body: JsonObject): readonly string[] =>
  faults(by, typeof request === 'function' ? request(wire) : request!, described(body), true)

export const faultsOfResult = ({ by, result }: Published, body: unknown): readonly string[] =>
  faults(by, result!, body, false)

export const faultsOfEvent = ({ by, event }: Published, body: JsonObject): readonly string[] =>
  faults(by, typeof event === 'function' ? event(body) : event!, body, false)
