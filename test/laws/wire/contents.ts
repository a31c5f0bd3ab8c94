import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, json, object, schema, word } from '../arbitrary.ts'
import { usageIn } from '../counts.ts'
import { is, list, loose, numeral, unknown } from '../loose.ts'
import * as embedding from './contents-embedding.ts'

/* Valid generateContent values, in either casing, with random unknown fields and nulls in every object. */

const mime = fc.constantFrom('image/png', 'audio/wav', 'video/mp4', 'application/pdf', 'text/plain')
const uri = fc.oneof(
  fc.webUrl(),
  fc.constantFrom('gs://bucket/a.png', 'https://generativelanguage.googleapis.com/v1beta/files/abc', 'files/x'),
  fc.constantFrom('https://www.youtube.com/watch?v=x', 'https://example.com/a.mp3'),
)
const data = fc.oneof(
  bytes,
  bytes.map(text => text.replaceAll('+', '-').replaceAll('/', '_')),
)
const inlineData = loose({ mimeType: mime, data }, { displayName: word })
const fileData = loose({ fileUri: uri }, { mimeType: mime, displayName: word })
const signature = fc.oneof(filled, fc.constantFrom('', 'skip_thought_signature_validator', 'c2lnbmVk'))
const signed = { thoughtSignature: signature }
const media = loose({}, { inlineData, fileData })
const functionCall = loose({ name: filled }, { id: fc.constantFrom('a', 'b', ''), args: object(json) })
const functionResponse = loose(
  {},
  {
    id: fc.constantFrom('a', 'b', ''),
    name: fc.constantFrom('f', 'g'),
    response: fc.oneof(
      object(json),
      ...['result', 'output', 'error', 'other'].map(key =>
        fc.oneof(json, word).map(value => Object.fromEntries([[key, value]])),
      ),
    ),
    parts: list(media, 2),
    willContinue: fc.boolean(),
  },
)
const ran = [
  loose({ executableCode: loose({ language: is('PYTHON'), code: word }, { id: word }) }, signed),
  loose({ codeExecutionResult: loose({ outcome: is('OUTCOME_OK') }, { output: word, id: word }) }, signed),
  loose({ toolCall: loose({ toolType: is('FILE_SEARCH') }, { id: word, args: unknown }) }, signed),
  loose({ toolResponse: loose({ toolType: is('FILE_SEARCH') }, { id: word, response: unknown }) }, signed),
]
const spoken = [
  loose({ text: word }, { thought: fc.boolean(), ...signed }),
  loose({ text: is('') }, signed),
  loose({ thoughtSignature: filled }, { thought: is(true) }),
  loose(
    { inlineData },
    { ...signed, thought: fc.boolean(), mediaResolution: fc.constantFrom({ level: 'MEDIA_RESOLUTION_LOW' }, {}) },
  ),
  loose({ fileData }, { ...signed, videoMetadata: object(word) }),
  loose({ functionCall }, signed),
  ...ran,
  loose({ xWidget: json }, signed),
]
const part = fc.oneof(...spoken, loose({ functionResponse }, signed))
const parts = fc.oneof({ weight: 6, arbitrary: list(part) }, { weight: 1, arbitrary: part })
const content = loose({}, { role: fc.constantFrom('user', 'model', 'function'), parts })

const OPENAPI = [
  { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true }, b: { type: 'ARRAY', minItems: '1' } } },
  {
    type: 'OBJECT',
    properties: { c_d: { any_of: [{ type: 'STRING', max_length: '3' }] } },
    property_ordering: ['c_d'],
  },
  { type: 'STRING', enum: ['x'] },
]
const declaration = loose(
  { name: filled },
  {
    description: word,
    parameters: fc.oneof(fc.constantFrom<unknown>(...OPENAPI), schema),
    parametersJsonSchema: schema,
    behavior: is('BLOCKING'),
  },
)
const tool = loose(
  {},
  {
    functionDeclarations: fc.oneof(list(declaration, 2), declaration),
    googleSearch: loose({}, { excludeDomains: list(word, 2), timeRangeFilter: unknown }),
    googleSearchRetrieval: unknown,
    codeExecution: unknown,
    urlContext: unknown,
    googleMaps: unknown,
  },
)
const toolConfig = loose(
  {},
  {
    functionCallingConfig: loose(
      {},
      { mode: fc.constantFrom('AUTO', 'ANY', 'NONE', 'VALIDATED', 'OTHER'), allowedFunctionNames: list(word, 2) },
    ),
    includeServerSideToolInvocations: fc.boolean(),
  },
)
const generationConfig = loose(
  {},
  {
    candidateCount: numeral(fc.integer({ min: 1, max: 3 })),
    stopSequences: list(word, 6),
    maxOutputTokens: numeral(fc.nat()),
    temperature: numeral(fc.constantFrom(0, 0.5, 2)),
    topP: fc.nat(1),
    topK: fc.nat(),
    seed: numeral(fc.integer()),
    presencePenalty: fc.nat(1),
    frequencyPenalty: fc.nat(1),
    responseLogprobs: fc.boolean(),
    logprobs: numeral(fc.nat(3)),
    responseMimeType: fc.constantFrom('application/json', 'text/plain', 'text/x.enum'),
    responseSchema: fc.constantFrom<unknown>(...OPENAPI),
    responseJsonSchema: schema,
    _responseJsonSchema: schema,
    responseFormat: fc.constantFrom<unknown>(
      { audio: { mimeType: 'AUDIO_MP3' } },
      { audio: { mime_type: 'AUDIO_MP3' } },
      { text: { mime_type: 'application/json', schema: {} } },
      { audio: { mimeType: 'AUDIO_ALAW' } },
      { text: { mimeType: 'application/json', schema: {} } },
      { text: { mimeType: 'application/json' } },
      { image: {} },
    ),
    responseModalities: list(fc.constantFrom('TEXT', 'IMAGE', 'AUDIO', 'Text', 'SMELL')),
    speechConfig: fc.constantFrom<unknown>(
      { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      { languageCode: 'de' },
      { languageCode: 'de', voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      { languageCode: 7, voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      { language_code: 'de', voice_config: { prebuilt_voice_config: { voice_name: 'Kore' } } },
      { voiceConfig: { prebuilt_voice_config: { voiceName: 'Kore' } } },
    ),
    imageConfig: fc.constantFrom<unknown>(
      { aspectRatio: '16:9' },
      { aspect_ratio: '1:1', imageSize: '2K' },
      { aspectRatio: '1:1', imageSize: '2K' },
    ),
    thinkingConfig: loose(
      {},
      {
        includeThoughts: fc.boolean(),
        thinkingBudget: numeral(fc.integer({ min: -1, max: 9 })),
        thinkingLevel: fc.constantFrom('LOW', 'high', 'EXTREME'),
      },
    ),
    mediaResolution: is('MEDIA_RESOLUTION_LOW'),
  },
)
/** Ways in which a body repeats the model of its path. */
const modelAgain = fc.constantFrom('', 'models/', 'tunedModels/', 'projects/p/publishers/google/models/')
const ofModel = (body: JsonObject, model: string): JsonObject =>
  typeof body['model'] === 'string' ? { ...body, model: `${body['model']}${decodeURIComponent(model)}` } : body

const body = loose(
  { contents: fc.oneof({ weight: 6, arbitrary: list(content, 5) }, { weight: 1, arbitrary: content }) },
  {
    model: modelAgain,
    systemInstruction: fc.oneof(
      word,
      loose({}, { role: fc.constantFrom('user', 'system'), parts: list(loose({ text: word }), 2) }),
    ),
    tools: fc.oneof({ weight: 6, arbitrary: list(tool) }, { weight: 1, arbitrary: tool }),
    toolConfig,
    generationConfig,
    safetySettings: list(object(word), 1),
    cachedContent: word,
    labels: object(word),
    serviceTier: fc.constantFrom('standard', 'FLEX', 'priority', 'default'),
    store: fc.boolean(),
  },
)
const prefix = fc.constantFrom(
  '/v1beta/models/',
  '/v1/models/',
  '/v1alpha/models/',
  '/v1beta/tunedModels/',
  '/v1beta/dynamic/',
  '/v1beta1/projects/p/locations/global/publishers/google/models/',
)
const model = fc.constantFrom('gemini-3-pro', 'google/gemini-3', 'llama:8b', 'a%20b', '%70ro', 'a%2Fb')

const generation: fc.Arbitrary<WireRequest> = fc
  .tuple(prefix, model, fc.boolean(), fc.constantFrom({}, { prettyPrint: 'false' }), body)
  .map(([prefix, model, stream, query, body]) => ({
    path: `${prefix}${model}:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    query: stream ? { ...query, alt: 'sse' } : query,
    headers: {},
    body: ofModel(body, model),
  }))

/** The same request for a token count: as it is, or wrapped. */
const counting = fc
  .tuple(generation, fc.boolean(), unknown, fc.constantFrom('generateContentRequest', 'generate_content_request'))
  .map(([{ path, body }, wraps, others, field]): WireRequest => {
    const wrapped = { ...others, [field]: body }
    return { path: path.replace(/:\w+$/, ':countTokens'), query: {}, headers: {}, body: wraps ? wrapped : body }
  })
const modalities = list(loose({ modality: fc.constantFrom('TEXT', 'IMAGE', 'DOCUMENT'), tokenCount: fc.nat() }))
const counted = loose(
  { totalTokens: fc.nat() },
  {
    cachedContentTokenCount: fc.nat(),
    promptTokensDetails: modalities,
    cacheTokensDetails: modalities,
    totalBillableCharacters: fc.nat(),
  },
)

export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  { weight: 3, arbitrary: generation },
  { weight: 1, arbitrary: embedding.request },
  { weight: 1, arbitrary: counting },
)

export const answers = { embedding: embedding.result, count: counted }

const web = loose({}, { web: loose({}, { uri: fc.webUrl(), title: word }) })
const groundingMetadata = fc.oneof(
  loose(
    {},
    {
      webSearchQueries: list(word, 1),
      groundingChunks: list(fc.oneof(web, loose({ retrievedContext: unknown }))),
      groundingSupports: list(
        loose(
          {},
          {
            segment: loose({}, { startIndex: fc.nat(9), endIndex: fc.nat(9), text: word, partIndex: fc.nat(2) }),
            groundingChunkIndices: list(fc.nat(3), 2),
          },
        ),
      ),
    },
  ),
  is({
    groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
    groundingSupports: [{ segment: { endIndex: 1, text: 'a' }, groundingChunkIndices: [0] }],
  }),
)
const token = loose({}, { token: word, logProbability: fc.constantFrom(-1, -0.5), tokenId: fc.nat() })
const candidate = loose(
  {},
  {
    index: fc.nat(1),
    content: loose({}, { role: is('model'), parts: list(part) }),
    finishReason: fc.constantFrom(
      'STOP',
      'MAX_TOKENS',
      'SAFETY',
      'RECITATION',
      'MALFORMED_FUNCTION_CALL',
      'OTHER',
      'X',
    ),
    finishMessage: word,
    safetyRatings: list(unknown, 1),
    tokenCount: fc.nat(),
    avgLogprobs: is(-0.5),
    groundingMetadata,
    citationMetadata: loose(
      {},
      { citationSources: list(loose({}, { startIndex: fc.nat(5), endIndex: fc.nat(9), uri: fc.webUrl() }), 2) },
    ),
    urlContextMetadata: unknown,
    logprobsResult: loose(
      {},
      { chosenCandidates: list(token), topCandidates: list(loose({}, { candidates: list(token, 2) })) },
    ),
  },
)
const details = list(
  loose({}, { modality: fc.constantFrom('TEXT', 'IMAGE', 'DOCUMENT'), tokenCount: numeral(fc.nat()) }),
  2,
)

/** Google has no details of these counts. Counts that other formats nest are beside each other. */
const usage = usageIn({
  ...{ input: 'promptTokenCount', output: 'candidatesTokenCount', total: 'totalTokenCount' },
  cached: ['cachedContentTokenCount', 'count'],
  reasoning: ['thoughtsTokenCount', 'count'],
}).map(({ cachedContentTokenCount, thoughtsTokenCount, ...usage }) => ({
  ...usage,
  cachedContentTokenCount: (cachedContentTokenCount as JsonObject)['count']!,
  thoughtsTokenCount: (thoughtsTokenCount as JsonObject)['count']!,
}))

export const result: fc.Arbitrary<JsonObject> = loose(
  { responseId: filled },
  {
    candidates: list(candidate, 2),
    promptFeedback: loose({}, { blockReason: is('SAFETY'), safetyRatings: list(unknown, 1) }),
    usageMetadata: fc.oneof(
      usage,
      loose(
        {},
        {
          promptTokenCount: numeral(fc.nat()),
          candidatesTokenCount: numeral(fc.nat()),
          thoughtsTokenCount: fc.nat(),
          toolUsePromptTokenCount: fc.nat(),
          cachedContentTokenCount: numeral(fc.nat()),
          totalTokenCount: numeral(fc.nat()),
          promptTokensDetails: details,
          candidatesTokensDetails: details,
          toolUsePromptTokensDetails: details,
          serviceTier: fc.constantFrom('standard', 'flex', 'PRIORITY'),
          trafficType: is('ON_DEMAND'),
        },
      ),
    ),
    modelVersion: filled,
    createTime: fc.constantFrom('2026-04-02T17:03:50.399550Z', '2026-04-02T17:03:50Z', 'yesterday'),
    modelStatus: unknown,
  },
)
