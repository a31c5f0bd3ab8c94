import { HeldBytes } from '../../canonical/bytes.ts'
import type { MediaPart } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { isSoundless } from '../../canonical/media/wav.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readValidated } from '../errors/validation-error.ts'
import { defined, put, required, rest, spelling, text, texts, WrongType } from '../fields.ts'
import { readRecording } from './recording.ts'
import * as wire from './wire.ts'

const FORMAT = 'transcriptions'

/**
 * `POST /audio/transcriptions` or `/audio/translations` (FORMATS §12): one recording, the hint to it as a system
 * message before it. In which shape the answer is wanted is the caller's spelling; what that shape needs is canonical.
 */
export const readRequest = (asked: WireRequest): CanonicalRequest =>
  readValidated(wire.requestAt(asked), asked.body, () => read(asked))

function read({ path, body, files }: WireRequest): CanonicalRequest {
  const shape = text(body['response_format'])
  if ((shape !== undefined && !wire.isShape(shape, path)) || wire.conflictIn(body) !== undefined)
    throw WrongType.instance
  const refused: string[] = []
  const temperature = text(body['temperature'])
  const said: { [field: string]: Json } = {}
  const transcript = readTranscript(path, body, said, refused)
  const logprobs = readInclude(body, said, refused)
  const stream = text(body['stream'])
  for (const field of ['response_format', 'temperature', 'stream'])
    if (typeof body[field] === 'string') said[field] = body[field]
  const prompt = text(body['prompt'])
  const model = required(text(body['model']))
  return {
    model,
    messages: [...hint(prompt), { role: 'user', content: [recordingIn(files)] }],
    output: { transcript },
    sampling: defined({ temperature: temperature === undefined ? undefined : numeral(temperature), logprobs }),
    stream: stream === undefined ? false : flag(stream),
    ...rest(FORMAT, body, TAKEN, spelling({ said: Object.keys(said).length === 0 ? undefined : said }), refused),
  }
}

const KEYWORDS = ['keywords[]', 'keywords'] as const
const GRANULARITIES = ['timestamp_granularities[]', 'timestamp_granularities'] as const
const INCLUDE = ['include[]', 'include'] as const

const TAKEN = new Set<string>([
  ...['model', 'language', 'prompt', 'response_format', 'temperature', 'stream'],
  ...[...KEYWORDS, ...GRANULARITIES, ...INCLUDE],
])

const hint = (prompt: string | undefined): Message[] =>
  prompt === undefined ? [] : [{ role: 'system', content: [{ type: 'text', text: prompt }] }]

function recordingIn(files: WireRequest['files']): MediaPart {
  const file = files?.find(({ field }) => field === 'file')
  if (file === undefined) throw unusable('file: a recording is required.')
  const { bytes } = file
  if (bytes.size === 0 || (bytes instanceof HeldBytes && isSoundless(bytes.bytes)))
    throw unusable('file: there is no sound in the recording.')
  return readRecording(file)
}

const unusable = (message: string): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message, param: 'file' })

function numeral(said: string): number {
  if (wire.isNumeral(said)) return Number(said)
  throw WrongType.instance
}

function flag(said: string): boolean {
  if (Object.hasOwn(wire.FLAGS, said)) return wire.FLAGS[said]!
  throw WrongType.instance
}

/**
 * A list of a form, under either of its names; what came is kept in `said`. A second list of it is none of ours, and
 * neither is one with a word that is not `known`.
 */
function listed(
  body: JsonObject,
  names: readonly [string, string],
  said: object,
  refused: string[],
  known?: readonly string[],
): readonly string[] | undefined {
  let found: readonly string[] | undefined
  for (const name of names) {
    const value = body[name]
    const list = typeof value === 'string' ? [value] : texts(value)
    if (list === undefined) continue
    if (found !== undefined) refused.push(name)
    else {
      found = list
      if (known === undefined || list.every(one => known.includes(one))) put(said, name, value)
      else refused.push(name)
    }
  }
  return found
}

function readTranscript(
  path: string,
  body: JsonObject,
  said: object,
  refused: string[],
): NonNullable<Output['transcript']> {
  const format = text(body['response_format'])
  const granularities = listed(body, GRANULARITIES, said, refused, ['word', 'segment'])
  const speakers = format === 'diarized_json' ? true : undefined
  return {
    task: wire.translates(path) ? 'translate' : 'transcribe',
    ...defined({
      language: text(body['language']),
      timestamps: timestamps(format, granularities),
      speakers,
      keywords: listed(body, KEYWORDS, said, refused),
    }),
  }
}

type Timestamps = NonNullable<NonNullable<Output['transcript']>['timestamps']>

/** What each shape of an answer cannot do without. */
const NEEDS: ReadonlyMap<string | undefined, Timestamps> = new Map<string | undefined, Timestamps>([
  ['srt', ['segment']],
  ['vtt', ['segment']],
  ['diarized_json', ['segment']],
])

function timestamps(format: string | undefined, said: readonly string[] | undefined): Timestamps | undefined {
  const known = said?.filter(one => one === 'word' || one === 'segment') ?? []
  const needed = NEEDS.get(format) ?? []
  const all = [...new Set([...known, ...needed])]
  if (all.length === 0 && format === 'verbose_json') return ['segment']
  return all.length === 0 ? undefined : all
}

/** The one thing that can be had beside: how likely each token was. */
function readInclude(body: JsonObject, said: object, refused: string[]): number | undefined {
  return listed(body, INCLUDE, said, refused, ['logprobs'])?.includes('logprobs') ? 0 : undefined
}
