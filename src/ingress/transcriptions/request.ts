import { BufferedBytes } from '../../canonical/bytes.ts'
import type { MediaPart } from '../../canonical/content.ts'
import { invalid } from '../../canonical/error.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isEmptyAudio } from '../../canonical/media/wav.ts'
import { type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Output } from '../../canonical/request.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import type { BodyFields } from '../body-fields.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { defined, extrasOf, isNumeral, required, text, texts, WrongType } from '../fields.ts'
import { locateInputAndInstructions } from '../locate.ts'
import { readFile } from '../media/file-type.ts'
import * as wire from './wire.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads the form of `POST /audio/transcriptions` or `/audio/translations` (docs/wire/transcriptions.md#request): one
 * recording or its address, preceded by its prompt as a system message. Further files are further parts, which most upstreams lose.
 * The requested shape of the answer becomes spelling; the data that this shape needs becomes canonical settings.
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.requestAt(incoming), incoming.body, () => readBody(incoming))

function readBody(incoming: WireRequest): CanonicalRequest {
  const { path, body, files } = incoming
  const shape = text(body['response_format'])
  if ((shape !== undefined && !wire.isShape(shape, path)) || wire.conflictIn(body) !== undefined)
    throw WrongType.instance
  const unreadFields: string[] = []
  const temperature = text(body['temperature'])
  const transcript = readTranscript(path, body, unreadFields)
  const logprobs = listIn(body, INCLUDE, unreadFields, ['logprobs'])?.includes('logprobs') === true ? 0 : undefined
  const stream = text(body['stream'])
  const prompt = text(body['prompt'])
  const model = required(text(body['model']))
  const addressField = ADDRESSES.find(field => (text(body[field]) ?? '') !== '')
  const recordings = recordingsIn(files, addressField === undefined ? undefined : text(body[addressField]))
  const isAddressed = recordings[0]!.source.type !== 'bytes'
  for (const field of ADDRESSES) if (!isAddressed || field !== addressField) unreadFields.push(field)
  const request: CanonicalRequest = {
    model,
    messages: [...hint(prompt), { role: 'user', content: recordings }],
    output: { transcript },
    sampling: defined({ temperature: temperature === undefined ? undefined : numeral(temperature), logprobs }),
    stream: stream === undefined ? false : flag(stream),
    ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
    ...(shape === undefined ? {} : { spelling: { [FORMAT]: { shape } } }),
  }
  return withWireSource(request, FORMAT, incoming)
}

/** Fields for the address of a recording: Groq's, then Mistral's (docs/wire/transcriptions.md#mistral). */
const ADDRESSES = ['url', 'file_url'] as const
const KEYWORDS = ['keywords[]', 'keywords'] as const
const GRANULARITIES = ['timestamp_granularities[]', 'timestamp_granularities'] as const
const INCLUDE = ['include[]', 'include'] as const

const KNOWN_FIELDS = new Set<string>([
  ...ADDRESSES,
  ...['model', 'language', 'prompt', 'response_format', 'temperature', 'stream'],
  ...[...KEYWORDS, ...GRANULARITIES, ...INCLUDE],
])

const hint = (prompt: string | undefined): Message[] =>
  prompt === undefined ? [] : [{ role: 'system', content: [{ type: 'text', text: prompt }] }]

/** Returns the recordings, or the address of one in their place, as clients of Groq and Mistral send it. */
function recordingsIn(files: WireRequest['files'] = [], url: string | undefined): readonly MediaPart[] {
  const recordings = files.filter(({ field }) => field === 'file')
  if (recordings.length === 0 && url !== undefined && url !== '')
    return [{ type: 'media', kind: 'audio', source: sourceOfUrl(url) }]
  if (recordings.length === 0) throw invalid('file: A recording is required.', 'file')
  for (const { bytes } of recordings)
    if (bytes.size === 0 || (bytes instanceof BufferedBytes && isEmptyAudio(bytes.bytes)))
      throw invalid('file: The recording is empty.', 'file')
  return recordings.map(readRecording)
}

function numeral(written: string): number {
  if (isNumeral(written)) return Number(written)
  throw WrongType.instance
}

function flag(written: string): boolean {
  if (Object.hasOwn(wire.FLAGS, written)) return wire.FLAGS[written]!
  throw WrongType.instance
}

/**
 * Reads a list in a form, under either of its names. A second list, or a list with an item that is not `known`, becomes
 * an extra.
 */
function listIn(
  body: JsonObject,
  names: readonly [string, string],
  unreadFields: string[],
  known?: readonly string[],
): readonly string[] | undefined {
  let found: readonly string[] | undefined
  for (const name of names) {
    const value = body[name]
    const list = typeof value === 'string' ? [value] : texts(value)
    if (list === undefined) continue
    const isKnown = known === undefined || list.every(one => known.includes(one))
    if (found !== undefined || !isKnown) unreadFields.push(name)
    found ??= list
  }
  return found
}

function readTranscript(path: string, body: JsonObject, unreadFields: string[]): NonNullable<Output['transcript']> {
  const format = text(body['response_format'])
  const granularities = listIn(body, GRANULARITIES, unreadFields, ['word', 'segment'])
  return {
    task: wire.translates(path) ? 'translate' : 'transcribe',
    ...defined({
      language: text(body['language']),
      timestamps: timestamps(format, granularities),
      speakers: format === 'diarized_json' ? true : undefined,
      keywords: listIn(body, KEYWORDS, unreadFields),
    }),
  }
}

type Timestamps = NonNullable<NonNullable<Output['transcript']>['timestamps']>

/** Timestamps that each shape of the answer needs. */
const NEEDED_TIMESTAMPS: ReadonlyMap<string | undefined, Timestamps> = new Map<string | undefined, Timestamps>([
  ['srt', ['segment']],
  ['vtt', ['segment']],
  ['diarized_json', ['segment']],
])

function timestamps(format: string | undefined, written: readonly string[] | undefined): Timestamps | undefined {
  const known = written?.filter(one => one === 'word' || one === 'segment') ?? []
  const neededTimestamps = NEEDED_TIMESTAMPS.get(format) ?? []
  const all = [...new Set([...known, ...neededTimestamps])]
  if (all.length === 0 && format === 'verbose_json') return ['segment']
  return all.length === 0 ? undefined : all
}

/** Reads a form's file as a recording. */
const readRecording = (file: WireFile): MediaPart => readFile(file, ['audio', 'video'])

/** Locates the recording and its prompt in the form. */
export const locate = locateInputAndInstructions('file', 'prompt')

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  'output/transcript/language': ['language'],
  'output/transcript/speakers': ['response_format'],
  'output/transcript/timestamps': ['timestamp_granularities[]', 'timestamp_granularities', 'response_format'],
  'output/transcript/keywords': ['keywords', 'keywords[]'],
  'output/transcript': ['file'],
  'output/modalities': ['file'],
  'sampling/logprobs': ['include[]', 'include'],
  'sampling/temperature': ['temperature'],
  stream: ['stream'],
}
