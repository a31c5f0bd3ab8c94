import type { FormFile, Headers, RawAnswer, RequestOnWire } from '../../format.ts'
import { type Json, type JsonObject, listOf, numberOf, objectOf, parseJson, textOf } from '../../json.ts'
import { typeFault } from '../../media/containers.ts'
import { totalFault } from '../../media/usage.ts'
import { type Violation, Violations } from '../../rules.ts'
import { subtitleFaults } from './subtitles.ts'

/* Rules for requests and whole answers that the published schema cannot express. */

/** Fields of both forms. Source: the descriptions of createTranscription and createTranslation. */
const SHARED_FIELDS = ['file', 'model', 'prompt', 'response_format', 'temperature']
const TRANSCRIPTION = [
  ...['language', 'languages', 'keywords', 'include', 'timestamp_granularities', 'stream', 'chunking_strategy'],
  ...['known_speaker_names', 'known_speaker_references'],
]
const FIELDS: { readonly [action: string]: ReadonlySet<string> } = {
  translations: new Set(SHARED_FIELDS),
  transcriptions: new Set([...SHARED_FIELDS, ...TRANSCRIPTION]),
}

/** Values of `response_format`. */
const FORMATS = new Set(['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'])

const AUDIO_EXTENSIONS = /\.(flac|mp3|mp4|mpeg|mpga|m4a|ogg|opus|wav|webm)$/i

function fileFaults(files: readonly FormFile[], violations: Violations): void {
  const [file, ...others] = files.filter(({ field }) => field === 'file')
  if (file === undefined || others.length > 0) {
    violations.add('file', `The form has ${files.length === 0 ? 'no file' : `${files.length} files`}.`)
    return
  }
  if (!AUDIO_EXTENSIONS.test(file.name)) violations.add('file-name', `The file is named ${JSON.stringify(file.name)}.`)
  const fault = typeFault(file.type, file.bytes)
  if (fault !== undefined) violations.add('file-type', fault)
}

export function requestLint(
  body: JsonObject,
  _headers: Headers,
  path: string,
  files: readonly FormFile[] = [],
): readonly Violation[] {
  const violations = new Violations()
  fileFaults(files, violations)
  const allowedFields = FIELDS[path.split('/').at(-1)!]!
  for (const name of Object.keys(body))
    if (!allowedFields.has(name.replace(/\[.*/s, ''))) violations.add('fields', `The form has a field ${name}.`)
  if (!textOf(body['model'])) violations.add('model', 'The form has no model.')
  if (!FORMATS.has(formatOf(body))) violations.add('format', `response_format is ${body['response_format']}.`)
  return violations.list
}

/** Reports faults in times. A segment must end after it begins, and segments must be in order. */
export function* timeFaults(segments: readonly Json[]): Generator<string> {
  let previousEnd = 0
  for (const [index, segment] of segments.map(objectOf).entries()) {
    const [start, end] = [numberOf(segment['start']), numberOf(segment['end'])]
    if (start === undefined || end === undefined || start < 0 || end < start)
      yield `Segment ${index} is from ${start} to ${end}.`
    else if (start < previousEnd)
      yield `Segment ${index} begins at ${start}, before the previous one at ${previousEnd}.`
    previousEnd = start ?? previousEnd
  }
}

const SUBTITLES = new Set(['srt', 'vtt'])

/** Returns the requested format of the answer, or the default. */
export const formatOf = (body: JsonObject): string => textOf(body['response_format']) ?? 'json'

function rawFaults(format: string, { bytes }: RawAnswer, violations: Violations): void {
  const text = bytes.toString('utf8')
  const isObjectText = typeof parseJson(text) === 'object'
  if (text.trim() === '' || isObjectText) violations.add('plain', `The body is not plain text: ${text.slice(0, 60)}`)
  else if (SUBTITLES.has(format)) for (const fault of subtitleFaults(format, text)) violations.add('subtitles', fault)
}

export function answerLint(
  body: JsonObject,
  _headers: Headers,
  request: RequestOnWire,
  raw?: RawAnswer,
): readonly Violation[] {
  const violations = new Violations()
  if (raw !== undefined) {
    rawFaults(formatOf(request.body), raw, violations)
    return violations.list
  }
  for (const list of ['segments', 'words'])
    for (const fault of timeFaults(listOf(body[list]))) violations.add('times', `${list}: ${fault}`)
  const fault = totalFault(objectOf(body['usage']))
  if (fault !== undefined) violations.add('usage-adds-up', fault)
  return violations.list
}
