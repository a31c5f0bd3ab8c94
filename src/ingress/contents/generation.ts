import { append } from '../../canonical/lists.ts'
import { rowOf } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type {
  CanonicalRequest,
  Effort,
  Modality,
  Output,
  Reasoning,
  Sampling,
  TextShape,
} from '../../canonical/request.ts'
import type { ReasoningShown } from '../../canonical/shown-reasoning.ts'
import { SETTINGS } from '../../formats/settings/contents.ts'
import { defined, definedIfAny, flag, number, object, text, texts, withDefined } from '../fields.ts'
import { type ReadSettings, readSettings } from '../settings.ts'
import { contentsExtras, type Extras, FORMAT, inCamelCase, numeral } from './fields.ts'
import { jsonSchemaOf } from './tools.ts'

const SHAPE_FIELDS = [
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'responseFormat',
] as const

const KNOWN_FIELDS = new Set([
  ...SETTINGS.taken,
  ...['stopSequences', 'responseLogprobs', 'logprobs', ...SHAPE_FIELDS],
  ...['responseModalities', 'speechConfig', 'imageConfig', 'thinkingConfig'],
])

/** Numeric fields, whose values may also be written as strings. */
const NUMBERS: ReadonlySet<string> = new Set([
  ...SETTINGS.read.filter(({ type }) => type === 'number' || type === 'count').map(({ wire }) => wire),
  'logprobs',
])

/** The canonical settings read from `generationConfig`. */
export interface Generation {
  readonly output: Output
  readonly sampling: Sampling
  readonly reasoning: Reasoning | undefined
  readonly extras: Extras | undefined
}

/**
 * Reads `generationConfig` (docs/wire/contents.md#generation-config).
 *
 * @throws WrongType.
 */
export function readGeneration(wire: Json | undefined): Generation {
  const config = object(wire)
  if (config === undefined) return NO_SETTINGS
  const fields = withNumbers(inCamelCase(config, KNOWN_FIELDS))
  const unreadFields: string[] = []
  const shape = readShape(fields)
  const container = readContainer(fields)
  append(
    unreadFields,
    shape.unreadFields.filter(field => container === undefined || field !== 'responseFormat'),
  )
  const modalities = readModalities(fields, unreadFields)
  const voice = readVoice(fields, unreadFields)
  const thinking = readThinking(fields)
  const settings = readSettings(SETTINGS, fields)
  const output: Output = withDefined(settings.output, {
    modalities,
    text: shape.text,
    image: readImage(fields, unreadFields),
    audio: definedIfAny({ voice: voice.name, mediaType: container ?? usualContainer(modalities, fields) }),
  })
  const sampling = readSampling(fields, settings, unreadFields)
  const extras = contentsExtras(
    fields,
    KNOWN_FIELDS,
    { thinkingConfig: thinking?.extras, speechConfig: voice.extras },
    unreadFields,
  )
  return { output, sampling, reasoning: thinking?.reasoning, extras }
}

const NO_SETTINGS: Generation = { output: {}, sampling: {}, reasoning: undefined, extras: undefined }

/** Converts numbers written as strings (proto3 JSON) to numbers. */
function withNumbers(fields: JsonObject): JsonObject {
  for (const field in fields)
    if (NUMBERS.has(field) && typeof fields[field] === 'string')
      return Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name, NUMBERS.has(name) ? (numeral(value) ?? null) : value]),
      )
  return fields
}

function readSampling(fields: JsonObject, { sampling }: ReadSettings, unreadFields: string[]): Sampling {
  const hasLogprobs = flag(fields['responseLogprobs'])
  const top = number(fields['logprobs'])
  if (hasLogprobs !== true && top !== undefined) unreadFields.push('logprobs')
  if (hasLogprobs === true && top === 0) unreadFields.push('logprobs')
  return withDefined(sampling, {
    stop: texts(fields['stopSequences']),
    logprobs: hasLogprobs === true ? (top ?? 0) : undefined,
  })
}

const MODALITIES = new Set<Json>(['text', 'image', 'audio', 'video'])

function readModalities(fields: JsonObject, unreadFields: string[]): Output['modalities'] {
  const wireValue = texts(fields['responseModalities'])
  if (wireValue === undefined) return undefined
  const modalities = wireValue.map(one => one.toLowerCase())
  if (wireValue.every((one, index) => MODALITIES.has(modalities[index]!) && one === one.toUpperCase()))
    return modalities as Modality[]
  unreadFields.push('responseModalities')
  return undefined
}

const SPEECH = new Set(['languageCode', 'voiceConfig'])

/**
 * Reads a single prebuilt voice. The language becomes an extra. If there are other fields, the whole config becomes an
 * extra.
 */
function readVoice(fields: JsonObject, unreadFields: string[]): { readonly name?: string; readonly extras?: Extras } {
  const config = object(fields['speechConfig'])
  if (config === undefined) return {}
  const { languageCode, ...voice } = inCamelCase(config, SPEECH)
  const language = typeof languageCode === 'string' ? languageCode : undefined
  const name = only(
    only(only(language === undefined ? config : voice, 'voiceConfig'), 'prebuiltVoiceConfig'),
    'voiceName',
  )
  if (typeof name === 'string')
    return { name, ...(language === undefined ? {} : { extras: { extras: { [FORMAT]: { languageCode: language } } } }) }
  unreadFields.push('speechConfig')
  return {}
}

const CONTAINERS: { readonly [value: string]: string } = {
  AUDIO_L16: 'audio/pcm',
  AUDIO_WAV: 'audio/wav',
  AUDIO_MP3: 'audio/mpeg',
  AUDIO_OGG_OPUS: 'audio/opus',
}

/** Reads the audio container from `responseFormat: { audio: { mimeType } }`. */
function readContainer(fields: JsonObject): string | undefined {
  const value = only(only(fields['responseFormat'], 'audio'), 'mimeType')
  return typeof value === 'string' ? rowOf(CONTAINERS, value) : undefined
}

/** Default container of audio-only answers: raw samples. */
const usualContainer = (modalities: Output['modalities'], fields: JsonObject): string | undefined =>
  modalities?.length === 1 && modalities[0] === 'audio' && fields['responseFormat'] == null ? 'audio/pcm' : undefined

/**
 * Returns the value of an object's only field, whose name may be in camelCase or snake_case, or undefined if there are
 * other fields.
 */
const only = (value: Json | undefined, field: string): Json | undefined =>
  isObject(value) && Object.keys(value).length === 1 ? inCamelCase(value, new Set([field]))[field] : undefined

function readImage(fields: JsonObject, unreadFields: string[]): Output['image'] {
  const config = object(fields['imageConfig'])
  if (config === undefined) return undefined
  const size = readSize(inCamelCase(config, IMAGE))
  if (size !== undefined) return { size }
  unreadFields.push('imageConfig')
  return undefined
}

const IMAGE = new Set(['aspectRatio', 'imageSize'])
const RATIO = /^\d+:\d+$/
const CLASS = /^(?:\d+K|512)$/

/** Reads the image size: an aspect ratio, a size class such as `2K`, or both separated by a space. */
function readSize({ aspectRatio, imageSize, ...others }: JsonObject): string | undefined {
  if (Object.keys(others).length > 0) return undefined
  const isClass = typeof imageSize === 'string' && CLASS.test(imageSize)
  if (imageSize === undefined)
    return typeof aspectRatio === 'string' && !CLASS.test(aspectRatio) && !RATIO_AND_SIZE.test(aspectRatio)
      ? aspectRatio
      : undefined
  if (aspectRatio === undefined) return isClass ? imageSize : undefined
  return isClass && typeof aspectRatio === 'string' && RATIO.test(aspectRatio)
    ? `${aspectRatio} ${imageSize}`
    : undefined
}

const RATIO_AND_SIZE = /^\d+:\d+ (?:\d+K|512)$/

/** Answer shape, and the fields for the shape that could not be read. */
interface ReadShape {
  readonly text: TextShape | undefined
  readonly unreadFields: readonly string[]
}

const JSON_TYPE = 'application/json'
const ENUM_TYPE = 'text/x.enum'

/** Reads the answer shape. There are four ways to request JSON or an enum value; the first that can be read is used. */
function readShape(fields: JsonObject): ReadShape {
  const mime = text(fields['responseMimeType'])
  for (const field of SHAPE_FIELDS.slice(1)) object(fields[field])
  const presentFields = SHAPE_FIELDS.filter(field => fields[field] != null)
  const field = SCHEMAS.find(field => presentFields.includes(field))
  const others = presentFields.filter(one => one !== field && one !== 'responseMimeType')
  if (field !== undefined && (mime === undefined || mime === JSON_TYPE)) {
    const written = fields[field] as JsonObject
    const schema = field === 'responseSchema' ? jsonSchemaOf(written) : written
    return { text: { shape: 'schema', schema }, unreadFields: others }
  }
  if (field !== undefined && mime === ENUM_TYPE) {
    const schema = jsonSchemaOf(fields[field] as JsonObject)
    if (isEnum(schema)) return { text: { shape: 'enum', schema }, unreadFields: others }
  }
  if (field === undefined && mime === undefined && others.length === 1) return readFormat(fields)
  if (field === undefined && mime === JSON_TYPE) return { text: { shape: 'json' }, unreadFields: others }
  if (field === undefined && mime === 'text/plain') return { text: { shape: 'text' }, unreadFields: others }
  return { text: undefined, unreadFields: presentFields }
}

const isEnum = ({ type, enum: values }: JsonObject): boolean =>
  type === 'string' && Array.isArray(values) && values.length > 0 && values.every(value => typeof value === 'string')

const SCHEMAS = ['responseJsonSchema', '_responseJsonSchema', 'responseSchema'] as const

const MIME = new Set(['mimeType'])

/** Reads the answer shape from `responseFormat: { text: { mimeType, schema } }`. */
function readFormat(fields: JsonObject): ReadShape {
  const shape = only(fields['responseFormat'], 'text')
  const inner = isObject(shape) ? inCamelCase(shape, MIME) : undefined
  if (inner?.['mimeType'] === JSON_TYPE) {
    const keys = Object.keys(inner).length
    if (keys === 1) return { text: { shape: 'json' }, unreadFields: [] }
    if (keys === 2 && isObject(inner['schema']))
      return { text: { shape: 'schema', schema: inner['schema'] }, unreadFields: [] }
  }
  return { text: undefined, unreadFields: ['responseFormat'] }
}

/** Answers contain reasoning only with `includeThoughts` (ai.google.dev, "Gemini thinking", 2026). */
export const reasoningShown = ({ reasoning }: CanonicalRequest): ReasoningShown =>
  reasoning?.show === true ? 'all' : 'none'

const THINKING = new Set(['includeThoughts', 'thinkingBudget', 'thinkingLevel'])

const EFFORTS: { readonly [level: string]: Effort } = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
  XHIGH: 'xhigh',
}

function readThinking(fields: JsonObject): { readonly reasoning: Reasoning; readonly extras: Extras } | undefined {
  const wire = object(fields['thinkingConfig'])
  if (wire === undefined) return undefined
  const thinking = inCamelCase(wire, THINKING)
  const level = text(thinking['thinkingLevel'])
  const value = level?.toUpperCase() ?? ''
  const effort = rowOf(EFFORTS, value)
  const reasoning = defined({
    effort,
    budget: numeral(thinking['thinkingBudget']),
    show: flag(thinking['includeThoughts']),
  })
  const unreadFields = level !== undefined && effort === undefined ? ['thinkingLevel'] : []
  return { reasoning, extras: contentsExtras(thinking, THINKING, {}, unreadFields) }
}
