import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { isObject, type Json, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { SETTINGS } from '../../formats/settings/contents.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { type Locate, locateTurns, locator, type MessagePaths } from '../locate.ts'
import { contentsExtras, FORMAT, inCamelCase, WRAPPER } from './fields.ts'
import { ENTRY } from './tools.ts'

const SYSTEM = 'systemInstruction'

/** Locates the messages and parts of a request in its body. */
export function locate(request: CanonicalRequest): Locate {
  if (workOf(request) === 'embedding') return locateInputs(request)
  const found = locateTurns(request.messages, {
    format: FORMAT,
    turns: 'contents',
    parts: 'parts',
    preamble: message =>
      message.role === 'system' ? [[SYSTEM], isText(message) ? [SYSTEM] : [SYSTEM, 'parts']] : undefined,
    isSingleValue: message => isText(message) || isObject((wireOf(message) as JsonParts | undefined)?.parts),
    hasPath: part => !signs(part),
  })
  return isObject(contentsOf(request)) ? path => unlisted(found(path)) : found
}

/** Locates the inputs to embed: a single one in the body, or one in each request of a batch. */
function locateInputs(request: CanonicalRequest): Locate {
  const body = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body
  const list = ['requests', 'instances'].find(field => Array.isArray(body?.[field]))
  const paths = request.messages.map((message, index): MessagePaths => {
    const at: Path = list === undefined ? [] : [list, index]
    if (list === 'instances') return { at, parts: message.content.map((): Path => [...at, 'content']) }
    return { at, parts: message.content.map((_, part): Path => [...at, 'content', 'parts', part]) }
  })
  return locator('requests', paths, ['requests'])
}

type JsonParts = { readonly parts?: Json }

const wireOf = (message: Message): Json | undefined => wireSourceOf<Json>(message, FORMAT)?.wire

const isText = (message: Message): boolean => typeof wireOf(message) === 'string'

function contentsOf(request: CanonicalRequest): Json | undefined {
  const body = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body ?? {}
  const inner = inCamelCase(body, WRAPPER)['generateContentRequest']
  return isObject(inner) ? inner['contents'] : body['contents']
}

/** Removes the index from a path, for content that is not in a list. */
const unlisted = (path: Path): Path => (path[0] === 'contents' && path[1] === 0 ? ['contents', ...path.slice(2)] : path)

/**
 * Returns true for a reasoning part that is only the signature of the next part. The body has no separate part for it.
 */
const signs = (part: Part): boolean =>
  part.type === 'reasoning' &&
  part.text === '' &&
  part.signature !== undefined &&
  part.spelling?.[FORMAT]?.['as'] === undefined

const GENERATION = 'generationConfig'

/** Body fields of the request's settings, relative to the body or to the wrapped request of a token count. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS, GENERATION),
  'sampling/stop': [`${GENERATION}/stopSequences`],
  'sampling/logprobs': [`${GENERATION}/logprobs`, `${GENERATION}/responseLogprobs`],
  'sampling/extras': [GENERATION],
  'output/modalities': [`${GENERATION}/responseModalities`],
  'output/text': [
    `${GENERATION}/responseMimeType`,
    `${GENERATION}/responseFormat/text`,
    `${GENERATION}/responseJsonSchema`,
  ],
  'output/text/schema': ['responseJsonSchema', '_responseJsonSchema', 'responseSchema', 'responseFormat'].map(
    name => `${GENERATION}/${name}`,
  ),
  'output/audio': [`${GENERATION}/speechConfig`, `${GENERATION}/responseFormat/audio`],
  'output/audio/mediaType': [`${GENERATION}/responseFormat/audio/mimeType`],
  'output/image': [`${GENERATION}/imageConfig`, `${GENERATION}/responseFormat/image`],
  'output/image/size': [`${GENERATION}/imageConfig/imageSize`, `${GENERATION}/imageConfig/aspectRatio`],
  'output/extras': [GENERATION],
  'output/embedding': ['embedContentConfig', 'taskType', 'requests'],
  'output/embedding/purpose': ['taskType', 'embedContentConfig/taskType', 'requests'],
  'output/embedding/dimensions': ['outputDimensionality', 'embedContentConfig/outputDimensionality', 'requests'],
  reasoning: [`${GENERATION}/thinkingConfig`],
  'reasoning/budget': [`${GENERATION}/thinkingConfig/thinkingBudget`],
  'reasoning/effort': [`${GENERATION}/thinkingConfig/thinkingLevel`, `${GENERATION}/thinkingConfig`],
  'reasoning/show': [`${GENERATION}/thinkingConfig/includeThoughts`],
  tools: ['tools'],
  toolChoice: ['toolConfig/functionCallingConfig'],
  'toolChoice/mode': ['toolConfig/functionCallingConfig/mode', 'toolConfig/functionCallingConfig'],
  'toolChoice/only': ['toolConfig/functionCallingConfig/allowedFunctionNames'],
  metadata: ['labels'],
  serviceTier: ['serviceTier'],
}

const COUNTED = 'generateContentRequest'

/** Returns the path of the request that a token count wraps, or an empty path if the request is not wrapped. */
export function root(body: JsonObject): Path {
  const field = [COUNTED, 'generate_content_request'].find(name => isObject(body[name]))
  return field === undefined ? [] : [field]
}

const DECLARATIONS = new Set(['functionDeclarations', 'function_declarations'])

/**
 * Returns the path of each tool. A function declaration is an item in an entry, and a hosted tool is a field of an
 * entry. Unknown fields of an entry have the path of the entry.
 */
export function toolPaths({ tools }: JsonObject): readonly Path[] {
  const entries = Array.isArray(tools) ? tools : [tools]
  return entries.flatMap((entry, index): readonly Path[] => {
    const at: Path = Array.isArray(tools) ? ['tools', index] : ['tools']
    if (!isObject(entry)) return []
    const knownFields = Object.keys(inCamelCase(entry, ENTRY)).filter(field => ENTRY.has(field))
    const writtenFields = Object.keys(entry)
    const spelled = knownFields.map(
      field => writtenFields.find(one => one.replaceAll('_', '').toLowerCase() === field.toLowerCase())!,
    )
    const paths = spelled.flatMap((field): readonly Path[] => {
      const value = entry[field]
      if (value == null) return []
      if (!DECLARATIONS.has(field)) return [[...at, field]]
      return Array.isArray(value) ? value.map((_, position) => [...at, field, position]) : [[...at, field]]
    })
    return contentsExtras(inCamelCase(entry, ENTRY), ENTRY).extras === undefined ? paths : [...paths, at]
  })
}
