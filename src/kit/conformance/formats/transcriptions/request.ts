import { type MediaFacts, mediaAt } from '../../facts.ts'
import type { FormFile } from '../../format.ts'
import { compact, type Json, type JsonObject, parseJson, textOf } from '../../json.ts'
import { fileFacts, flagIn, listIn, numberIn } from '../../media/values.ts'

/* Extracts the facts of a transcription or translation request. */

export interface TranscriptionRequestFacts {
  /** `transcriptions` or `translations`. */
  readonly action: string
  readonly sound?: MediaFacts
  readonly language?: string
  readonly prompt?: string
  readonly format?: string
  readonly temperature?: number
  /** Any of `word` and `segment`. */
  readonly granularities?: readonly string[]
  readonly include?: readonly string[]
  readonly keywords?: readonly string[]
  readonly chunking?: Json
  /** Known speakers: names, and recordings of their voices. */
  readonly speakers?: readonly string[]
  readonly voices?: readonly MediaFacts[]
  readonly stream?: boolean
}

const textsIn = (body: JsonObject, name: string): readonly string[] => listIn(body, name).map(String)

/** Reads the chunking strategy: a word, or an object. In a form, the object is JSON text. */
const chunkingOf = (value: Json | undefined): Json | undefined =>
  typeof value === 'string' ? (parseJson(value) ?? value) : value

/** Returns the facts of a request. Lists whose order has no meaning are sorted. */
export function requestFacts(
  body: JsonObject,
  path: string,
  files: readonly FormFile[] = [],
): TranscriptionRequestFacts {
  const file = files.find(({ field }) => field === 'file')
  return compact({
    action: path.split('/').at(-1)!,
    sound: file && fileFacts(file),
    language: textOf(body['language']),
    prompt: textOf(body['prompt']),
    format: textOf(body['response_format']),
    temperature: numberIn(body['temperature']),
    granularities: textsIn(body, 'timestamp_granularities').toSorted(),
    include: textsIn(body, 'include').toSorted(),
    keywords: textsIn(body, 'keywords'),
    chunking: chunkingOf(body['chunking_strategy']),
    speakers: textsIn(body, 'known_speaker_names'),
    voices: textsIn(body, 'known_speaker_references').map(mediaAt),
    stream: flagIn(body['stream']) || undefined,
  }) as TranscriptionRequestFacts
}
