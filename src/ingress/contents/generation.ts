import { append } from '../../canonical/append.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Effort, Modality, Output, Reasoning, Sampling, TextShape } from '../../canonical/request.ts'
import { count, defined, flag, number, object, text, texts } from '../fields.ts'
import { type Opened, open, type Remains, remainsOf } from './fields.ts'
import { jsonSchemaOf } from './schema.ts'

const SHAPE = [
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'responseFormat',
] as const

const KNOWN = new Set([
  ...['candidateCount', 'stopSequences', 'maxOutputTokens', 'temperature', 'topP', 'topK', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs', ...SHAPE],
  ...['responseModalities', 'speechConfig', 'imageConfig', 'thinkingConfig'],
])

const NUMBERS = [
  ...['candidateCount', 'maxOutputTokens', 'temperature', 'topP', 'topK', 'seed', 'presencePenalty'],
  ...['frequencyPenalty', 'logprobs'],
]

export interface Generation {
  readonly output: Output
  readonly sampling: Sampling
  readonly reasoning: Reasoning | undefined
  readonly remains: Remains | undefined
}

/** `generationConfig`, in full (FORMATS §7, §16.1). */
export function readGeneration(wire: Json | undefined): Generation {
  const config = object(wire)
  if (config === undefined) return { output: {}, sampling: {}, reasoning: undefined, remains: undefined }
  const opened = open(config, KNOWN, NUMBERS)
  const { fields } = opened
  const refused: string[] = []
  const shape = readShape(fields)
  const container = readContainer(fields)
  append(
    refused,
    shape.refused.filter(field => container === undefined || field !== 'responseFormat'),
  )
  const modalities = readModalities(fields, refused)
  const voice = readVoice(fields, refused)
  const image = readImage(fields, refused)
  const thinking = readThinking(fields)
  const output: Output = defined({
    modalities,
    candidates: count(fields['candidateCount']),
    text: shape.text,
    image,
    audio: readAudio(voice.name, container ?? usualContainer(modalities, fields)),
  })
  const sampling = readSampling(fields, refused)
  const spelt = {
    present: true,
    ...shape.spelt,
    audio: container === undefined ? undefined : fields['responseFormat'],
    speech: voice.name === undefined ? undefined : written(fields['speechConfig']),
    image: image === undefined ? undefined : written(fields['imageConfig']),
    logprobs: fields['responseLogprobs'] === false ? false : undefined,
  }
  const remains = remainsOf(
    opened,
    KNOWN,
    spelt,
    { thinkingConfig: thinking?.remains, speechConfig: voice.remains },
    refused,
  )
  return { output, sampling, reasoning: thinking?.reasoning, remains: remains }
}

function readSampling(fields: JsonObject, refused: string[]): Sampling {
  const wanted = flag(fields['responseLogprobs'])
  const top = number(fields['logprobs'])
  if (wanted !== true && top !== undefined) refused.push('logprobs')
  if (wanted === true && top === 0) refused.push('logprobs')
  return defined({
    maxTokens: number(fields['maxOutputTokens']),
    temperature: number(fields['temperature']),
    topP: number(fields['topP']),
    topK: number(fields['topK']),
    seed: number(fields['seed']),
    stop: texts(fields['stopSequences']),
    presencePenalty: number(fields['presencePenalty']),
    frequencyPenalty: number(fields['frequencyPenalty']),
    logprobs: wanted === true ? (top ?? 0) : undefined,
  })
}

const MODALITIES = new Set<Json>(['text', 'image', 'audio', 'video'])

function readModalities(fields: JsonObject, refused: string[]): Output['modalities'] {
  const given = texts(fields['responseModalities'])
  if (given === undefined) return undefined
  const modalities = given.map(one => one.toLowerCase())
  if (given.every((one, index) => MODALITIES.has(modalities[index]!) && one === one.toUpperCase()))
    return modalities as Modality[]
  refused.push('responseModalities')
  return undefined
}

const SPEECH = new Set(['languageCode', 'voiceConfig'])

/**
 * The one prebuilt voice; the language stays in extras beside it, and any further field keeps the whole config there.
 */
function readVoice(
  fields: JsonObject,
  refused: string[],
): { readonly name?: string; readonly remains?: Remains | undefined } {
  const config = object(fields['speechConfig'])
  if (config === undefined) return {}
  const { languageCode, ...voice } = open(config, SPEECH).fields
  const given = typeof languageCode === 'string' ? languageCode : undefined
  const name = only(only(only(given === undefined ? config : voice, 'voiceConfig'), 'prebuiltVoiceConfig'), 'voiceName')
  if (typeof name === 'string')
    return { name, ...(given === undefined ? {} : { remains: { extras: { languageCode: given } } }) }
  refused.push('speechConfig')
  return {}
}

function readAudio(voice: string | undefined, mediaType: string | undefined): Output['audio'] {
  const audio = defined({ voice, mediaType })
  return Object.keys(audio).length === 0 ? undefined : audio
}

const CONTAINERS: { readonly [value: string]: string } = {
  AUDIO_L16: 'audio/pcm',
  AUDIO_WAV: 'audio/wav',
  AUDIO_MP3: 'audio/mpeg',
  AUDIO_OGG_OPUS: 'audio/opus',
}

/** `responseFormat: { audio: { mimeType } }`. */
function readContainer(fields: JsonObject): string | undefined {
  const value = only(only(fields['responseFormat'], 'audio'), 'mimeType')
  return typeof value === 'string' && Object.hasOwn(CONTAINERS, value) ? CONTAINERS[value] : undefined
}

/** The default container of answers with audio alone: raw samples. */
const usualContainer = (modalities: Output['modalities'], fields: JsonObject): string | undefined =>
  modalities?.length === 1 && modalities[0] === 'audio' && fields['responseFormat'] == null ? 'audio/pcm' : undefined

/** The value of a field that is an object's only one, under either of its names. */
const only = (value: Json | undefined, field: string): Json | undefined =>
  isObject(value) && Object.keys(value).length === 1 ? open(value, new Set([field])).fields[field] : undefined

/** An object as it was written, where a name in it is in snake_case; canonical holds the rest. */
const written = (value: Json | undefined): Json | undefined => (isObject(value) && hasSnake(value) ? value : undefined)

const hasSnake = (value: Json): boolean =>
  isObject(value) && Object.entries(value).some(([key, item]) => key.includes('_') || hasSnake(item))

function readImage(fields: JsonObject, refused: string[]): Output['image'] {
  const config = object(fields['imageConfig'])
  if (config === undefined) return undefined
  const size = readSize(open(config, IMAGE).fields)
  if (size !== undefined) return { size }
  refused.push('imageConfig')
  return undefined
}

const IMAGE = new Set(['aspectRatio', 'imageSize'])
const RATIO = /^\d+:\d+$/
const CLASS = /^(?:\d+K|512)$/

/** A ratio, a class of size, or both with a space between. */
function readSize({ aspectRatio, imageSize, ...others }: JsonObject): string | undefined {
  if (Object.keys(others).length > 0) return undefined
  const classed = typeof imageSize === 'string' && CLASS.test(imageSize)
  if (imageSize === undefined)
    return typeof aspectRatio === 'string' && !CLASS.test(aspectRatio) && !BOTH.test(aspectRatio)
      ? aspectRatio
      : undefined
  if (aspectRatio === undefined) return classed ? imageSize : undefined
  return classed && typeof aspectRatio === 'string' && RATIO.test(aspectRatio)
    ? `${aspectRatio} ${imageSize}`
    : undefined
}

const BOTH = /^\d+:\d+ (?:\d+K|512)$/

interface Shaped {
  readonly text: TextShape | undefined
  readonly spelt: { readonly [key: string]: Json | undefined }
  readonly refused: readonly string[]
}

const JSON_TYPE = 'application/json'

/** Four ways to request JSON, of which the first that can be read counts. */
function readShape(fields: JsonObject): Shaped {
  const mime = text(fields['responseMimeType'])
  for (const field of SHAPE.slice(1)) object(fields[field])
  const given = SHAPE.filter(field => fields[field] != null)
  const field = SCHEMAS.find(field => given.includes(field))
  const others = given.filter(one => one !== field && one !== 'responseMimeType')
  if (field !== undefined && (mime === undefined || mime === JSON_TYPE)) {
    const own = fields[field] as JsonObject
    const schema = field === 'responseSchema' ? jsonSchemaOf(own) : own
    const spelt = {
      schema: field === 'responseJsonSchema' ? undefined : field,
      openapi: field === 'responseSchema' ? own : undefined,
      mime: mime === undefined ? 'absent' : undefined,
    }
    return { text: { shape: 'schema', schema }, spelt, refused: others }
  }
  if (field === undefined && mime === undefined && others.length === 1) return readFormat(fields)
  if (field === undefined && mime === JSON_TYPE) return { text: { shape: 'json' }, spelt: {}, refused: others }
  if (field === undefined && mime === 'text/plain') return { text: { shape: 'text' }, spelt: {}, refused: others }
  return { text: undefined, spelt: {}, refused: given }
}

const SCHEMAS = ['responseJsonSchema', '_responseJsonSchema', 'responseSchema'] as const

const MIME = new Set(['mimeType'])

/** `responseFormat: { text: { mimeType, schema } }`. */
function readFormat(fields: JsonObject): Shaped {
  const shape = only(fields['responseFormat'], 'text')
  const inner = isObject(shape) ? open(shape, MIME).fields : undefined
  const spelt = { schema: 'responseFormat', format: written(fields['responseFormat']) }
  if (isObject(inner) && inner['mimeType'] === JSON_TYPE) {
    const keys = Object.keys(inner).length
    if (keys === 1) return { text: { shape: 'json' }, spelt, refused: [] }
    if (keys === 2 && isObject(inner['schema']))
      return { text: { shape: 'schema', schema: inner['schema'] }, spelt, refused: [] }
  }
  return { text: undefined, spelt: {}, refused: ['responseFormat'] }
}

const THINKING = new Set(['includeThoughts', 'thinkingBudget', 'thinkingLevel'])

const EFFORTS: { readonly [level: string]: Effort } = { MINIMAL: 'minimal', LOW: 'low', MEDIUM: 'medium', HIGH: 'high' }

function readThinking(fields: JsonObject): { readonly reasoning: Reasoning; readonly remains: Remains } | undefined {
  const wire = object(fields['thinkingConfig'])
  if (wire === undefined) return undefined
  const opened: Opened = open(wire, THINKING, ['thinkingBudget'])
  const level = text(opened.fields['thinkingLevel'])
  const value = level?.toUpperCase() ?? ''
  const effort = Object.hasOwn(EFFORTS, value) ? EFFORTS[value] : undefined
  const refused = level !== undefined && effort === undefined ? ['thinkingLevel'] : []
  const spelt = { present: true, level: effort === undefined || level === value ? undefined : level }
  return {
    reasoning: defined({
      effort,
      budget: number(opened.fields['thinkingBudget']),
      show: flag(opened.fields['includeThoughts']),
    }),
    remains: remainsOf(opened, THINKING, spelt, {}, refused),
  }
}
