import type { Format, FormFile } from '../../format.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { fileFacts, listIn, numberIn } from '../../media/values.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { TranscriptFacts } from '../transcriptions/answer.ts'
import type { TranscriptionRequestFacts } from '../transcriptions/request.ts'
import { errorFacts, errorLint, errorRule } from './error.ts'

/* ElevenLabs' transcriptions, supported only as an upstream. Source: https://elevenlabs.io/docs/api-reference/speech-to-text/convert */

const SOURCE = 'https://elevenlabs.io/docs/api-reference/speech-to-text/convert'
const PATH = '/v1/speech-to-text'

function requestFacts(body: JsonObject, _path: string, files: readonly FormFile[] = []): TranscriptionRequestFacts {
  const file = files.find(({ field }) => field === 'file')
  const granularity = textOf(body['timestamps_granularity'])
  return compact({
    action: 'transcriptions',
    sound: file && fileFacts(file),
    language: textOf(body['language_code']),
    temperature: numberIn(body['temperature']),
    granularities: granularity === undefined || granularity === 'none' ? [] : [granularity],
    keywords: listIn(body, 'keyterms').map(String),
  }) as TranscriptionRequestFacts
}

/** Returns the facts of a word. Spaces and noises between words are skipped. */
const wordFacts = (value: Json) => {
  const { text, start, end, type } = objectOf(value)
  return type === 'word' ? [compact({ start: numberOf(start), end: numberOf(end), text: textOf(text) })] : []
}

const answerFacts = (body: JsonObject): TranscriptFacts =>
  compact({ text: textOf(body['text']), words: listOf(body['words']).flatMap(wordFacts) }) as TranscriptFacts

const GRANULARITIES = new Set(['none', 'word', 'character'])

function requestLint(body: JsonObject, _headers: object, _path: string, files: readonly FormFile[] = []) {
  const violations = new Violations()
  const sources = [...files.map(({ field }) => field), ...Object.keys(body)].filter(name =>
    ['file', 'cloud_storage_url', 'source_url'].includes(name),
  )
  if (sources.length !== 1) violations.add('file', `The form has ${sources.join(', ') || 'no recording'}.`)
  if (!textOf(body['model_id'])) violations.add('model', 'The form has no model_id.')
  const granularity = textOf(body['timestamps_granularity'])
  if (granularity !== undefined && !GRANULARITIES.has(granularity))
    violations.add('granularity', `timestamps_granularity is ${granularity}.`)
  return violations.list as readonly Violation[]
}

export const elevenlabsTranscriptions: Format = {
  name: 'elevenlabs.transcriptions',
  work: 'transcription',
  sharesBaseWith: 'elevenlabs',
  base: '',
  path: () => PATH,
  headers: key => ({ 'xi-api-key': key }),
  withModel: (body, model) => ({ ...body, model_id: model }),
  recognise: (path, body, method) =>
    method === 'POST' && path === PATH ? { model: textOf(body['model_id']) ?? '', stream: false } : undefined,
  schemas: {},
  exceptions: [],
  request: requestFacts,
  answer: answerFacts,
  error: errorFacts,
  lint: { request: requestLint, answer: () => [], error: errorLint },
  rules: [
    {
      ...{ id: 'file', on: 'request', level: 'must', source: SOURCE },
      says: 'The form has one recording: a file or a URL.',
    },
    { ...{ id: 'model', on: 'request', level: 'must', source: SOURCE }, says: 'The form has a model_id.' },
    {
      ...{ id: 'granularity', on: 'request', level: 'must', source: SOURCE },
      says: 'timestamps_granularity is none, word or character.',
    },
    errorRule,
  ],
}
