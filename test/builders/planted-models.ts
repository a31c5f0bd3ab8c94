import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { MODEL_FIELDS } from '../../src/formats/model-fields.ts'

/* Requests that name a model at one path of the table of model fields. */

const HI = [{ role: 'user', content: 'Hi.' }]
const TURN = { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] }

/** An endpoint that takes JSON, and a valid body for it. */
export interface Endpoint {
  readonly format: string
  readonly path: string
  readonly body: JsonObject
}

export const ENDPOINTS: readonly Endpoint[] = [
  { format: 'chat', path: '/v1/chat/completions', body: { model: 'pro', messages: HI } },
  { format: 'completions', path: '/v1/completions', body: { model: 'pro', prompt: 'Hi.' } },
  { format: 'messages', path: '/v1/messages', body: { model: 'pro', max_tokens: 9, messages: HI } },
  { format: 'responses', path: '/v1/responses', body: { model: 'pro', input: 'Hi.' } },
  { format: 'contents', path: '/v1beta/models/pro:generateContent', body: TURN },
  { format: 'contents', path: '/v1beta/models/pro:countTokens', body: { generateContentRequest: TURN } },
  { format: 'embeddings', path: '/v1/embeddings', body: { model: 'pro', input: 'Hi.' } },
  { format: 'rerank', path: '/v1/rerank', body: { model: 'pro', query: 'Hi.', documents: ['a'] } },
  { format: 'cohere', path: '/v2/rerank', body: { model: 'pro', query: 'Hi.', documents: ['a'] } },
  { format: 'images', path: '/v1/images/generations', body: { model: 'pro', prompt: 'A cat.' } },
  { format: 'speech', path: '/v1/audio/speech', body: { model: 'pro', input: 'Hi.', voice: 'alloy' } },
  { format: 'videos', path: '/v1/videos', body: { model: 'pro', prompt: 'A cat.' } },
]

/** Returns the paths of a table in one spelling each. */
export const spelled = (paths: readonly string[]): readonly string[][] =>
  paths.flatMap(path =>
    path
      .split('.')
      .reduce<string[][]>(
        (ways, step) => step.split('|').flatMap(field => ways.map(way => [...way, field.replace('hosted:', '')])),
        [[]],
      ),
  )

/** Returns the paths of a format at which another model than the requested one may be named. */
export const othersOf = (format: string): readonly string[][] => {
  const { others, helpers } = MODEL_FIELDS.get(format)!
  return spelled([...others, ...helpers])
}

/** Fields that an item of each list requires. */
const ITEMS: { readonly [field: string]: JsonObject } = {
  tools: { type: 'image_generation', name: 'x' },
  plugins: { id: 'fusion' },
  mcp_servers: { type: 'url', url: 'https://127.0.0.1', name: 'n' },
  input: { type: 'additional_tools' },
  messages: { role: 'system' },
  content: { type: 'tool_addition' },
  tool_changes: { type: 'tool_addition' },
  context_management: { type: 'compaction' },
  edits: { type: 'compact_20260112' },
}

/** Returns a value with the given value at the path. `at` is the field before it. */
export function planted([step, ...rest]: readonly string[], value: Json, at = ''): Json {
  if (step === undefined) return value
  if (step === '*') {
    const inner = planted(rest, value, at)
    const isObject = typeof inner === 'object' && inner !== null && rest.length > 0
    const namespace = at === 'tools' && rest[0] === 'tools' ? { type: 'namespace' } : {}
    return [isObject ? { ...ITEMS[at], ...namespace, ...(inner as JsonObject) } : inner]
  }
  const inner = planted(rest, value, step)
  return { [step]: step === 'definition' ? { ...ITEMS['tools'], ...(inner as JsonObject) } : inner }
}

/** Returns a body with the given value at the path. */
export function withPlanted(body: JsonObject, steps: readonly string[], value: Json): JsonObject {
  const added = planted(steps, value) as JsonObject
  if (body['contents'] !== undefined || !/^generate_?content_?request$/i.test(steps[0]!)) return { ...body, ...added }
  // The request to be counted has a single spelling.
  return Object.fromEntries(
    Object.entries(added).map(([field, inner]) => [field, { ...TURN, ...(inner as JsonObject) }]),
  )
}

/** Returns a path as the name of a form field. */
export const bracketed = ([first, ...rest]: readonly string[], index = ''): string =>
  [first, ...rest.map(step => `[${step === '*' ? index : step}]`)].join('')

/** Strings and fields that contain `model` without naming a model. */
export const CONTENT = {
  model: 'dear',
  Model: 'dear',
  models: ['dear'],
  fallbacks: [{ model: 'dear' }],
  extra_body: '{"model":"dear"}',
}
