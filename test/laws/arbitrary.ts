import fc from 'fast-check'
import type {
  Annotation,
  CacheHint,
  ImageProperties,
  MediaPart,
  Part,
  ReasoningPart,
  RefusalPart,
  SearchCallPart,
  SearchResultPart,
  SearchSource,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../src/canonical/content.ts'
import { kindOfMediaType } from '../../src/canonical/media/data-url.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import {
  type CanonicalRequest,
  EFFORTS,
  type Message,
  type Output,
  type Reasoning,
  type Sampling,
  type State,
  type Thread,
} from '../../src/canonical/request.ts'
import type { Tool, ToolChoice } from '../../src/canonical/tool.ts'

/* Generators of canonical requests: any value that the readers could make, and many that they would not. */

export const FORMATS = ['chat', 'messages', 'responses', 'contents', 'elsewhere'] as const

export const word = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('a', 'héllo', '日本', '__proto__', 'constructor', '{"a":1}', ' '),
)
export const filled = word.filter(text => text !== '')
const key = fc.constantFrom('x_a', 'x_b', 'vendor', '__proto__', 'constructor')

/** Free JSON without nulls. Unknown fields with null are spelling, not meaning. */
export const json: fc.Arbitrary<unknown> = fc.oneof(
  word,
  fc.integer(),
  fc.boolean(),
  fc.array(word, { maxLength: 2 }),
  object(word),
)

export function object(value: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> {
  return fc.array(fc.tuple(key, value), { maxLength: 2 }).map(entries => Object.fromEntries(entries) as JsonObject)
}

type Generators = { readonly [field: string]: fc.Arbitrary<unknown> }

/** A record in which every optional field may be missing. */
export const record = <T>(needed: Generators, optional: Generators = {}): fc.Arbitrary<T> =>
  fc.record({ ...needed, ...optional }, { requiredKeys: Object.keys(needed), noNullPrototype: true }) as fc.Arbitrary<T>

type Fields<T> = { readonly [F in keyof T]?: fc.Arbitrary<unknown> }

/** Every field of T except `Left` and the fields of the two generators. A field without a generator is a type error. */
type Missing<T, Left, N, O> = Exclude<keyof T, Left | 'spelling' | keyof N | keyof O>

/**
 * A record of a canonical type with every field except the named ones. A new canonical field does not compile until it
 * is generated or deliberately left out.
 */
export const node =
  <T, Left extends keyof T = never>() =>
  <N extends Fields<T>, O extends Fields<T>>(
    needed: N,
    optional: O & ([Missing<T, Left, N, O>] extends [never] ? unknown : { readonly missing: Missing<T, Left, N, O> }),
  ): fc.Arbitrary<T> =>
    record<T>(needed as Generators, optional as Generators)

const filledObject = object(word).filter(value => Object.keys(value).length > 0)
export const extras = fc
  .array(fc.tuple(fc.constantFrom(...FORMATS), filledObject), { minLength: 1, maxLength: 2 })
  .map(entries => Object.fromEntries(entries))

export const cache: fc.Arbitrary<CacheHint> = record({}, { ttl: fc.constantFrom('5m', '1h', '30m') })
export const schema: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { type: 'object', properties: {} },
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
  {
    type: 'object',
    properties: { constructor: { type: ['number', 'null'] }, extras: { $ref: '#/$defs/x' } },
    $defs: { x: { const: 1 } },
  },
)
const toolName = fc.oneof(fc.constantFrom('get_weather', 'a', 'mcp.server/tool', 'x'.repeat(80)), filled)
const callId = fc.oneof(fc.constantFrom('call_1', 'toolu_2', 'functions.f:0', 'y'.repeat(90)), filled)

export const citation: fc.Arbitrary<Annotation> = record(
  { type: fc.constant('citation'), url: fc.webUrl() },
  { title: word, quote: word, start: fc.nat(9), end: fc.nat(9) },
)
/** Without annotations: `annotated` adds them. */
export const text = node<TextPart, 'annotations'>()({ type: fc.constant('text'), text: word }, { cache, extras })
/** A text of an answer, or of the assistant in a history. */
export const annotated: fc.Arbitrary<TextPart> = fc
  .tuple(text, fc.array(citation, { maxLength: 2 }))
  .map(([part, annotations]) => (annotations.length === 0 ? part : { ...part, annotations }))
/** `continues` is added by `piece`, in histories only. */
export const reasoning = node<ReasoningPart, 'continues' | 'cache'>()(
  { type: fc.constant('reasoning'), text: word },
  { signature: record({ format: fc.constantFrom(...FORMATS), value: filled }), redacted: fc.constant(true), extras },
)
/** Reasoning in a history, which may be a chunk. */
const piece: fc.Arbitrary<ReasoningPart> = fc
  .tuple(reasoning, fc.boolean())
  .map(([part, continues]) => (continues ? { ...part, continues } : part))
export const refusal = node<RefusalPart, 'cache'>()({ type: fc.constant('refusal'), text: word }, { extras })
export const bytes = fc.uint8Array({ minLength: 1, maxLength: 6 }).map(data => Buffer.from(data).toString('base64'))
const mediaType = fc.constantFrom(
  'image/png',
  'image/jpeg',
  'audio/wav',
  'audio/mpeg',
  'audio/x-wav',
  'video/mp4',
  'application/pdf',
  'text/plain',
)
const source = fc.oneof(
  record({ type: fc.constant('base64'), mediaType, data: bytes }),
  record({ type: fc.constant('url'), url: fc.webUrl() }, { mediaType }),
  record({ type: fc.constant('file-id'), format: fc.constantFrom(...FORMATS), id: filled }, { mediaType }),
  record({ type: fc.constant('text'), mediaType: fc.constant('text/plain'), text: word }),
)
/** Media parts of conversations. The generators of images and speech add the others. */
export const media: fc.Arbitrary<MediaPart> = node<MediaPart, 'transcript' | 'made' | 'use'>()(
  { type: fc.constant('media'), kind: fc.constantFrom('image', 'audio', 'video', 'file'), source },
  { name: filled, detail: fc.constantFrom('low', 'high', 'auto'), cache, extras },
).map(part => {
  const kind =
    part.source.type === 'base64'
      ? kindOfMediaType(part.source.mediaType)
      : part.source.type === 'text'
        ? 'file'
        : part.kind
  return { ...part, kind }
})

/** Properties of a generated image. */
export const looks = record<ImageProperties>(
  {},
  {
    prompt: word,
    size: fc.constantFrom('1024x1024', '1536x1024'),
    quality: fc.constantFrom('low', 'high'),
    background: fc.constantFrom('opaque', 'transparent'),
  },
).filter(told => Object.keys(told).length > 0)

export const toolCall = node<ToolCallPart, 'cache'>()(
  {
    type: fc.constant('tool-call'),
    id: callId,
    name: toolName,
    arguments: fc.oneof(word, fc.constantFrom('{"a":1}', '{ "a" : [1] }', '[1]', '{}')),
  },
  { freeform: fc.constant(true), namespace: fc.constantFrom('mail', 'mcp.x', 'functions', 'a'), extras },
)
const searchId = fc.constantFrom('ws_1', 'srvtoolu_2', 'ws_3')
const searchCall = node<SearchCallPart, 'cache'>()(
  { type: fc.constant('search-call'), id: searchId, queries: fc.array(word, { maxLength: 3 }) },
  { extras },
)
const searchSource = node<SearchSource>()({ url: fc.webUrl() }, { title: word, extras })
const searchResult = node<SearchResultPart, 'cache'>()(
  { type: fc.constant('search-result'), id: searchId, sources: fc.array(searchSource, { maxLength: 3 }) },
  { extras },
)
export const search: fc.Arbitrary<Part> = fc.oneof(searchCall, searchResult)
/** A search with its results, as nearly all of them come. */
export const searchPair: fc.Arbitrary<readonly Part[]> = fc
  .tuple(searchCall, searchResult)
  .map(([call, result]) => [call, { ...result, id: call.id }])
export const opaque = record<Part>(
  {
    type: fc.constant('opaque'),
    format: fc.constantFrom(...FORMATS),
    value: fc.record({ type: fc.constantFrom('x_unknown', 'x_other'), v: word }, { noNullPrototype: true }),
  },
  { text: word },
)
const inResult = fc.oneof(text, media, opaque)
export const toolResult = node<ToolResultPart>()(
  { type: fc.constant('tool-result'), id: callId, content: fc.array(inResult, { maxLength: 3 }) },
  { name: toolName, failed: fc.constant(true), freeform: fc.constant(true), cache, extras },
)

const turn = (role: fc.Arbitrary<Message['role']>, part: fc.Arbitrary<unknown>): fc.Arbitrary<Message> =>
  node<Message>()({ role, content: fc.array(part, { maxLength: 4 }) }, { extras, name: filled })
/** Turns in some of which a search with its results stands before everything else. */
const withSearches = (turns: fc.Arbitrary<Message>): fc.Arbitrary<Message> =>
  fc
    .tuple(turns, fc.option(searchPair))
    .map(([one, pair]) => (pair === null ? one : { ...one, content: [...pair, ...one.content] }))
const message: fc.Arbitrary<Message> = fc.oneof(
  turn(fc.constantFrom('system', 'developer'), text),
  turn(fc.constant('user'), fc.oneof(text, media, opaque)),
  withSearches(turn(fc.constant('assistant'), fc.oneof(annotated, piece, refusal, toolCall, search, opaque))),
  turn(fc.constant('tool'), toolResult),
)

const namespace = record({ name: fc.constantFrom('mail', 'mcp.x', 'functions') }, { description: filled })
export const tool: fc.Arbitrary<Tool> = fc.oneof(
  record<Tool>(
    { type: fc.constant('function'), name: toolName },
    { description: word, parameters: schema, strict: fc.boolean(), namespace, cache, extras },
  ),
  record<Tool>(
    { type: fc.constant('freeform'), name: toolName },
    {
      description: word,
      grammar: record({ syntax: fc.constantFrom('lark', 'regex'), definition: word }),
      namespace,
      extras,
    },
  ),
  record<Tool>(
    { type: fc.constant('hosted'), kind: fc.constantFrom('web-search', 'web-fetch', 'code-execution') },
    {
      allowedDomains: fc.array(filled, { minLength: 1, maxLength: 2 }),
      blockedDomains: fc.array(filled, { minLength: 1, maxLength: 2 }),
      maxUses: fc.nat(9),
      contextSize: fc.constantFrom('low', 'high'),
      location: record({}, { city: filled, country: filled, region: filled, timezone: filled }),
      cache,
      extras,
    },
  ),
  record<Tool>({
    type: fc.constant('opaque'),
    format: fc.constantFrom(...FORMATS),
    value: fc.record({ type: fc.constant('x_tool'), v: word }, { noNullPrototype: true }),
  }),
)
const toolChoice: fc.Arbitrary<ToolChoice> = record(
  { mode: fc.constantFrom('auto', 'none', 'required') },
  { only: fc.array(toolName, { minLength: 1, maxLength: 2 }), hosted: fc.constantFrom('web-search', 'code-execution') },
)

const sampling = node<Sampling, 'extras'>()(
  {},
  {
    maxTokens: fc.integer({ min: 1, max: 9000 }),
    temperature: fc.constantFrom(0, 0.5, 1, 1.5),
    topP: fc.constantFrom(0.1, 1),
    topK: fc.nat(50),
    seed: fc.nat(),
    stop: fc.array(filled, { minLength: 1, maxLength: 6 }),
    frequencyPenalty: fc.constantFrom(0, 0.5),
    presencePenalty: fc.constantFrom(0, 0.5),
    logprobs: fc.nat(5),
  },
)
const shape = fc.oneof(
  fc.constant({ shape: 'text' }),
  fc.constant({ shape: 'json' }),
  record(
    { shape: fc.constant('schema'), schema },
    { name: fc.constantFrom('answer', 'it'), description: filled, strict: fc.boolean() },
  ),
  record({
    shape: fc.constant('enum'),
    schema: record(
      { type: fc.constant('string'), enum: fc.uniqueArray(filled, { minLength: 1, maxLength: 4 }) },
      { description: filled },
    ),
  }),
)
/** Output of conversations. Other outputs are generated with their kind of work. */
const output = node<
  Output,
  'image' | 'video' | 'embedding' | 'ranking' | 'transcript' | 'completion' | 'count' | 'compaction' | 'extras'
>()(
  {},
  {
    modalities: fc.constantFrom(['text'], ['text', 'audio'], ['text', 'image']),
    candidates: fc.integer({ min: 1, max: 4 }),
    text: shape,
    verbosity: fc.constantFrom('low', 'high'),
    audio: record({}, { voice: filled, mediaType: fc.constantFrom('audio/wav', 'audio/mp3') }),
  },
)

export const request = node<CanonicalRequest>()(
  { model: filled, messages: fc.array(message, { maxLength: 5 }), output, sampling, stream: fc.boolean() },
  {
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
    toolChoice,
    parallelToolCalls: fc.boolean(),
    reasoning: node<Reasoning, 'extras'>()(
      {},
      { effort: fc.constantFrom(...EFFORTS), budget: fc.constantFrom(-1, 0, 512, 2048), show: fc.boolean() },
    ),
    state: node<State>()(
      {},
      {
        ...{ store: fc.boolean(), previous: filled, conversation: filled, background: fc.boolean() },
        thread: node<Thread>()({}, { previous: filled, extras }),
      },
    ),
    endUser: filled,
    metadata: object(word),
    serviceTier: fc.constantFrom('auto', 'flex', 'priority', 'default'),
    cache,
    cacheKey: filled,
    extras,
  },
)
