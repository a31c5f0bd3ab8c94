import type { ImageProperties, MediaPart, MediaSource } from '../../canonical/content.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Modality } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Usage } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, definedIfAny, extrasOf } from '../fields.ts'
import { readMade, SETTINGS, unreadableFields as unread } from '../media/image-settings.ts'
import { anyCount, reconcileCounts, reportedCounts } from '../usage/counts.ts'
import { FORMAT } from './content.ts'
import { mediaTypeOfName } from './wire.ts'

/** Facts about an image from surrounding fields: its file format and its generation settings. */
interface Context {
  readonly outputFormat: Json | undefined
  readonly properties: ImageProperties | undefined
}

/** Fields that may contain an image. Bytes take precedence. */
const SOURCES = ['b64_json', 'url'] as const

/** An image of an answer, and the fields that were read or are empty. */
interface AnswerImage {
  readonly part: MediaPart
  readonly fields: readonly string[]
}

/**
 * Reads the image of an answer, preferably as bytes. Returns undefined if there is none. Servers that always send both
 * fields leave one empty.
 */
export function readAnswerImage(
  wire: JsonObject,
  { outputFormat, properties }: Context,
  request: CanonicalRequest,
): AnswerImage | undefined {
  const field = SOURCES.find(name => (anyText(wire[name]) ?? '') !== '')
  if (field === undefined) return undefined
  const value = wire[field] as string
  const source: MediaSource =
    field === 'url'
      ? { type: 'url', url: value }
      : { type: 'base64', mediaType: mediaTypeOf(value, outputFormat, request), data: value }
  return {
    part: { type: 'media', kind: 'image', source, ...defined({ made: properties }) },
    fields: SOURCES.filter(name => name === field || wire[name] === ''),
  }
}

/** Returns the media type: the upstream's value, else the type detected from the bytes, else the requested type. */
const mediaTypeOf = (data: string, outputFormat: Json | undefined, request: CanonicalRequest): string =>
  typeof outputFormat === 'string'
    ? mediaTypeOfName(outputFormat)
    : (sniffBase64(data) ?? request.output.image?.mediaType ?? 'image/png')

/** Fields that may hold the list of images. */
const LISTS = ['data', 'images'] as const

const KNOWN_FIELDS = ['created', 'output_format', 'usage', ...SETTINGS] as const

/**
 * Reads a whole answer (docs/wire/images.md#response), with a candidate for each image. SiliconFlow's list is `images`,
 * which clients of OpenAI do not find, so that such an answer is written anew.
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const list = LISTS.find(name => Array.isArray(body[name]))
  if (list === undefined) throw faultyAnswer(body, 'is not a list of images', readInnerError)
  const created = anyNumber(body['created'])
  const outputFormat = anyText(body['output_format'])
  const usage = anyObject(body['usage'])
  const settings = readMade(body, SETTINGS)
  const candidates = anyObjects(body[list]).map(item => readItem(item, { outputFormat, properties: settings }, request))
  // Settings describe images. If there are no images, they become extras.
  const unusedSettings = candidates.some(({ content }) => content.length > 0) ? unread(body, SETTINGS) : SETTINGS
  const result: CanonicalResult = {
    ...defined({ createdAt: created }),
    candidates,
    ...defined({ usage: usage && readUsage(usage) }),
    ...extrasOf(FORMAT, body, new Set([list, ...KNOWN_FIELDS]), [...unreadableFields(body), ...unusedSettings]),
  }
  return list === 'data' ? withWireSource(result, FORMAT, body) : result
}

const CHECKS: { readonly [field: string]: (value: unknown) => boolean } = {
  created: value => typeof value === 'number',
  output_format: value => typeof value === 'string',
  usage: isObject,
}

/** Returns the known fields with values of the wrong type, which become extras. */
const unreadableFields = (body: JsonObject): string[] =>
  Object.keys(CHECKS).filter(field => body[field] != null && !CHECKS[field]!(body[field]))

/** Fields of a single image, in addition to the settings of all images. */
const PROMPT = ['revised_prompt'] as const

function readItem(
  wire: JsonObject,
  { outputFormat, properties: settings }: Context,
  request: CanonicalRequest,
): Candidate {
  const prompt = readMade(wire, PROMPT)
  const properties = settings === undefined && prompt === undefined ? undefined : { ...settings, ...prompt }
  const answerImage = readAnswerImage(wire, { outputFormat, properties: properties }, request)
  const knownFields = answerImage === undefined ? [] : [...answerImage.fields, ...PROMPT]
  const node = extrasOf(FORMAT, wire, new Set(knownFields), unread(wire, PROMPT))
  return { content: answerImage === undefined ? [] : [answerImage.part], finish: { reason: 'stop' }, ...node }
}

const COUNTS = new Set([
  ...['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details', 'output_tokens_details'],
])
const DETAILS = new Set(['text_tokens', 'image_tokens'])

/** Names of counts in chat completions, which some servers use in answers with images, and the names in this format. */
const CHAT_NAMES: { readonly [name: string]: string } = {
  prompt_tokens: 'input_tokens',
  completion_tokens: 'output_tokens',
  prompt_tokens_details: 'input_tokens_details',
  completion_tokens_details: 'output_tokens_details',
}

/** Returns the counts under this format's names, unless it has some under these already. */
function renamedCounts(wire: JsonObject): JsonObject {
  if (anyCount(wire['input_tokens']) || anyCount(wire['output_tokens'])) return wire
  if (anyCount(wire['completion_tokens']) === undefined) return wire
  const others = Object.entries(wire).filter(([name]) => !COUNTS.has(name) || name === 'total_tokens')
  return Object.fromEntries(
    others.map(([name, value]) => [Object.hasOwn(CHAT_NAMES, name) ? CHAT_NAMES[name]! : name, value]),
  )
}

/** Reads usage: tokens of images and text, for prompt and answer (docs/wire/images.md#usage). */
export const readUsage = (wire: JsonObject): Usage => withWireSource(readCounts(renamedCounts(wire)), FORMAT, wire)

function readCounts(wire: JsonObject): Usage {
  const inputDetails = anyObject(wire['input_tokens_details'])
  const outputDetails = anyObject(wire['output_tokens_details'])
  const unreadFields = [...COUNTS].filter(field => wire[field] != null && !isRead(wire, field))
  const outer = extrasOf(FORMAT, wire, COUNTS, unreadFields)
  const inner = (details: JsonObject | undefined) =>
    details && extrasOf(FORMAT, details, DETAILS, misreadCounts(details)).extras?.[FORMAT]
  const within = defined({ input_tokens_details: inner(inputDetails), output_tokens_details: inner(outputDetails) })
  const extras = { ...outer.extras?.[FORMAT], ...within } as JsonObject
  return {
    ...reconcileCounts(reportedCounts(wire)),
    ...defined({ inputBy: byModality(inputDetails), outputBy: byModality(outputDetails) }),
    ...(Object.keys(extras).length === 0 ? {} : { extras: { [FORMAT]: extras } }),
  }
}

const isRead = (wire: JsonObject, field: string): boolean =>
  field.endsWith('details') ? anyObject(wire[field]) !== undefined : anyNumber(wire[field]) !== undefined

const misreadCounts = (wire: JsonObject): string[] =>
  [...DETAILS].filter(field => wire[field] != null && anyNumber(wire[field]) === undefined)

const byModality = (details: JsonObject | undefined): { [M in Modality]?: number } | undefined =>
  definedIfAny({ text: anyCount(details?.['text_tokens']), image: anyCount(details?.['image_tokens']) })
