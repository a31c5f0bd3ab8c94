import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { narrowed, type Schemas } from '../test/compliance/narrowed.ts'

/* Cuts the schemas of the conformance kit out of the publishers' descriptions: `node building/conformance-schemas.ts DIR`. */

interface Slice {
  readonly file: string
  readonly source: string
  readonly licence: string
  readonly roots: readonly string[]
}

const OPENAI = {
  file: 'openai-openapi.json',
  source: 'https://github.com/openai/openai-openapi openapi.json, commit f85dbe223d40e1a31cba812ab2d755c7e98a92a3',
  licence: 'MIT, Copyright (c) OpenAI',
}

const SLICES: { readonly [format: string]: Slice } = {
  chat: {
    ...OPENAI,
    roots: [
      'CreateChatCompletionRequest',
      'CreateChatCompletionResponse',
      'CreateChatCompletionStreamResponse',
      'ErrorResponse',
      ...['ListModelsResponse', 'Model'],
    ],
  },
  completions: { ...OPENAI, roots: ['CreateCompletionRequest', 'CreateCompletionResponse', 'ErrorResponse'] },
  embeddings: { ...OPENAI, roots: ['CreateEmbeddingRequest', 'CreateEmbeddingResponse', 'ErrorResponse'] },
  images: {
    ...OPENAI,
    roots: [
      ...['CreateImageRequest', 'EditImageBodyJsonParam', 'ImagesResponse', 'ImageGenStreamEvent'],
      ...['ImageEditStreamEvent', 'ErrorResponse'],
    ],
  },
  realtime: {
    ...OPENAI,
    roots: ['RealtimeClientEvent', 'RealtimeServerEvent', 'RealtimeCreateClientSecretResponse'],
  },
  responses: {
    ...OPENAI,
    roots: [
      ...['CreateResponse', 'Response', 'ResponseStreamEvent', 'ErrorResponse'],
      ...['TokenCountsBody', 'TokenCountsResource'],
    ],
  },
  speech: { ...OPENAI, roots: ['CreateSpeechRequest', 'CreateSpeechResponseStreamEvent', 'ErrorResponse'] },
  transcriptions: {
    ...OPENAI,
    roots: [
      ...['CreateTranscriptionResponseJson', 'CreateTranscriptionResponseVerboseJson'],
      ...['CreateTranscriptionResponseDiarizedJson', 'CreateTranscriptionResponseStreamEvent'],
      ...['CreateTranslationResponseJson', 'CreateTranslationResponseVerboseJson', 'ErrorResponse'],
    ],
  },
  videos: {
    ...OPENAI,
    roots: [
      ...['CreateVideoJsonBody', 'CreateVideoRemixBody', 'VideoResource', 'VideoListResource'],
      ...['DeletedVideoResource', 'ErrorResponse'],
    ],
  },
  messages: {
    file: 'anthropic-messages-openapi.json',
    source:
      'https://github.com/tryAGI/Anthropic src/libs/Anthropic/openapi.yaml, commit ebea3ea43be1a34302d597874ba1926336effc78',
    licence: 'MIT, Copyright (c) tryAGI',
    roots: [
      ...['CreateMessageParams', 'Message', 'MessageStreamEvent', 'ErrorResponse'],
      ...['CountMessageTokensParams', 'CountMessageTokensResponse', 'ListResponse_ModelInfo_', 'ModelInfo'],
    ],
  },
  contents: {
    file: 'gemini-v1beta-openapi.json',
    source:
      'https://github.com/tryAGI/Google_Generative_AI src/libs/Google.Gemini/openapi.json, commit be52b853d32f109ec58bfb05f13ef1b1468fa712',
    licence: 'MIT, Copyright (c) tryAGI',
    roots: [
      ...['GenerateContentRequest', 'GenerateContentResponse', 'CountTokensRequest', 'CountTokensResponse'],
      ...['EmbedContentRequest', 'EmbedContentResponse', 'BatchEmbedContentsRequest', 'BatchEmbedContentsResponse'],
      ...['ListModelsResponse', 'Model'],
    ],
  },
}

const REF = /#\/components\/schemas\/([^"]+)/g

/** All schemas that can be reached from the roots. */
function reached(schemas: Schemas, roots: readonly string[]): Schemas {
  const found: { [name: string]: object } = {}
  const open = [...roots]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found[name] !== undefined) continue
    found[name] = schemas[name]!
    for (const [, next] of JSON.stringify(schemas[name]).matchAll(REF)) open.push(next!)
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const from = process.argv[2] ?? '../shared/specs'
const to = 'conformance/schemas'
mkdirSync(to, { recursive: true })
for (const [format, { file, source, licence, roots }] of Object.entries(SLICES)) {
  const { components } = JSON.parse(readFileSync(join(from, file), 'utf8')) as {
    components: { schemas: Schemas }
  }
  const all = narrowed(components.schemas, false)
  const made = 'Cut out and rewritten by building/conformance-schemas.ts: descriptions removed, unions told apart.'
  const slice = { source, licence, made, components: { schemas: reached(all, roots) } }
  writeFileSync(join(to, `${format}.json`), `${JSON.stringify(slice)}\n`)
}
