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
 * `POST /audio/transcriptions` or `/audio/translations` (FORMATS §12): one recording, its prompt as a system message
 * before it. The requested shape of the answer is the caller's spelling; what that shape needs is canonical.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readValidated(wire.requestAt(incoming), incoming.body, () => read(incoming))

function read({ path, body, files }: WireRequest): CanonicalRequest {
  const shape = text(body['response_format'])
  if ((shape !== undefined && !wire.isShape(shape, path)) || wire.conflictIn(body) !== undefined)
    throw WrongType.instance
  const refused: string[] = []
  const temperature = text(body['temperature'])
  const written: { [field: string]: Json } = {}
  const transcript = readTranscript(path, body, written, refused)
  const logprobs = readInclude(body, written, refused)
  const stream = text(body['stream'])
  for (const field of ['response_format', 'temperature', 'stream'])
    if (typeof body[field] === 'string') written[field] = body[field]
  const prompt = text(body['prompt'])
  const model = required(text(body['model']))
  return {
    model,
    messages: [...hint(prompt), { role: 'user', content: [recordingIn(files)] }],
    output: { transcript },
    sampling: defined({ temperature: temperature === undefined ? undefined : numeral(temperature), logprobs }),
    stream: stream === undefined ? false : flag(stream),
    ...rest(FORMAT, body, TAKEN, spelling({ said: Object.keys(written).length === 0 ? undefined : written }), refused),
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
    throw unusable('file: the recording is empty.')
  return readRecording(file)
}

const unusable = (message: string): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message, param: 'file' })

function numeral(written: string): number {
  if (wire.isNumeral(written)) return Number(written)
  throw WrongType.instance
}

function flag(written: string): boolean {
  if (Object.hasOwn(wire.FLAGS, written)) return wire.FLAGS[written]!
  throw WrongType.instance
}

/**
 * A list of a form, under either of its names; the value is kept in `written`. A second list is refused, and so is one
 * with an item that is not `known`.
 */
function listed(
  body: JsonObject,
  names: readonly [string, string],
  written: object,
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
      if (known === undefined || list.every(one => known.includes(one))) put(written, name, value)
      else refused.push(name)
    }
  }
  return found
}

function readTranscript(
  path: string,
  body: JsonObject,
  written: object,
  refused: string[],
): NonNullable<Output['transcript']> {
  const format = text(body['response_format'])
  const granularities = listed(body, GRANULARITIES, written, refused, ['word', 'segment'])
  const speakers = format === 'diarized_json' ? true : undefined
  return {
    task: wire.translates(path) ? 'translate' : 'transcribe',
    ...defined({
      language: text(body['language']),
      timestamps: timestamps(format, granularities),
      speakers,
      keywords: listed(body, KEYWORDS, written, refused),
    }),
  }
}

type Timestamps = NonNullable<NonNullable<Output['transcript']>['timestamps']>

/** The timestamps that each shape of an answer needs. */
const NEEDS: ReadonlyMap<string | undefined, Timestamps> = new Map<string | undefined, Timestamps>([
  ['srt', ['segment']],
  ['vtt', ['segment']],
  ['diarized_json', ['segment']],
])

function timestamps(format: string | undefined, written: readonly string[] | undefined): Timestamps | undefined {
  const known = written?.filter(one => one === 'word' || one === 'segment') ?? []
  const needed = NEEDS.get(format) ?? []
  const all = [...new Set([...known, ...needed])]
  if (all.length === 0 && format === 'verbose_json') return ['segment']
  return all.length === 0 ? undefined : all
}

/** The only thing to include: the logprobs of tokens. */
function readInclude(body: JsonObject, written: object, refused: string[]): number | undefined {
  return listed(body, INCLUDE, written, refused, ['logprobs'])?.includes('logprobs') ? 0 : undefined
}
