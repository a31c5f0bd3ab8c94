import { cannotExpress } from '../../canonical/error.ts'
import { foreignLosses, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import { writeSubtitles } from '../../canonical/media/subtitles.ts'
import { isObject, type Json, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type {
  Candidate,
  CanonicalResult,
  Segment,
  TokenLogprob,
  Transcript,
  Usage,
  Word,
} from '../../canonical/result.ts'
import type { RawBody, WireAnswer } from '../../canonical/wire.ts'
import { defined, definedIfAny, extrasFor, spellingFor } from '../fields.ts'
import { nativeBodyOf, OPTIONAL_HEAD } from '../native.ts'
import { NO_TASK, PLAIN_TEXT_LOSSES } from '../sanitize/unwritten.ts'
import { FORMAT } from './request.ts'

/**
 * Writes a unary answer in the requested response format: JSON, plain text or subtitles
 * (docs/wire/transcriptions.md#response-formats).
 *
 * @throws GatewayError `cannot-express` if subtitles were requested but the transcript has no times.
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const format = formatOf(request)
  const raw = writeRaw(result, format)
  if (raw !== undefined) return { wire: { status: 200, headers: {}, body: {}, raw }, losses: [] }
  const nativeBody = nativeBodyOf(result, FORMAT, OPTIONAL_HEAD)
  if (nativeBody !== undefined && isOfShape(nativeBody, format))
    return { wire: { status: 200, headers: {}, body: nativeBody }, losses: [] }
  const losses = new Losses(foreignLosses(result, FORMAT))
  reportResult(result, losses)
  const candidate = withRequiredFields(result, request, losses)
  const reportedSegments = candidate.transcript?.segments
  const segments =
    reportedSegments && writeSegments(reportedSegments, format === 'diarized_json' ? 'diarized' : 'verbose', losses)
  const usage = result.usage && writeUsage(result.usage, losses)
  const body = {
    task: needsOf(request) && request.output.transcript?.task,
    ...writeFacts({ candidate, text: textOf(candidate), segments, usage }),
    ...extrasFor(result, FORMAT),
  }
  return { wire: { status: 200, headers: {}, body: defined(body) as JsonObject }, losses: losses.list }
}

/**
 * Adds the fields that clients' types require in this response format. Fields that the upstream omitted are generated
 * and reported.
 */
function withRequiredFields({ candidates }: CanonicalResult, request: CanonicalRequest, losses: Losses): Candidate {
  const [candidate = EMPTY_CANDIDATE] = candidates
  const requiredFacts = needsOf(request)
  if (requiredFacts === undefined) return candidate
  const path = ['candidates', 0, 'transcript']
  if (candidate.transcript === undefined) losses.add(path, {}, 'minted-transcript')
  const { transcript = {} } = candidate
  const language = request.output.transcript?.language ?? UNDETERMINED
  const defaultFacts = { language, duration: endOf(transcript), segments: [] }
  const facts = requiredFacts
    .filter(fact => transcript[fact] === undefined)
    .map(fact => [fact, defaultFacts[fact]] as const)
  for (const [fact, value] of facts) losses.add([...path, fact], value, `minted-${fact}`)
  return { ...candidate, transcript: { ...transcript, ...Object.fromEntries(facts) } }
}

/** Transcript fields that each response format requires. */
const REQUIRED_FACTS: ReadonlyMap<string, readonly ('language' | 'duration' | 'segments')[]> = new Map([
  ['verbose_json', ['language', 'duration'] as const],
  ['diarized_json', ['duration', 'segments'] as const],
])

/** Returns true if the upstream's answer has the shape that the caller requested, which another model may lack. */
function isOfShape({ segments, duration }: JsonObject, format: string): boolean {
  if (format !== 'verbose_json') return format !== 'diarized_json' || Array.isArray(segments)
  return duration !== undefined && !(Array.isArray(segments) && segments.some(isDiarized))
}

const isDiarized = (segment: Json): boolean => isObject(segment) && typeof segment['id'] === 'string'

const needsOf = (request: CanonicalRequest) => REQUIRED_FACTS.get(formatOf(request))

/** ISO 639-2 code for an undetermined language. */
const UNDETERMINED = 'und'

/** Returns the end of the last segment or word in seconds, which is a lower bound for the duration of the recording. */
const endOf = ({ segments = [], words = [] }: Transcript): number =>
  Math.max(0, ...[segments.at(-1), words.at(-1)].map(last => last?.end ?? 0))

const EMPTY_CANDIDATE: Candidate = { content: [], finish: { reason: 'stop' } }

/** Returns the response format that the caller requested. Defaults to JSON. */
function formatOf(request: CanonicalRequest): string {
  const { shape } = spellingFor(request, FORMAT)
  return typeof shape === 'string' ? shape : 'json'
}

interface TranscriptFields {
  readonly candidate: Omit<Candidate, 'content'>
  readonly text: string
  readonly segments?: readonly JsonObject[] | undefined
  readonly usage?: JsonObject | undefined
}

/** Writes the fields of a transcript, for a unary answer or the last event of a stream. */
export function writeFacts({ candidate, text, segments, usage }: TranscriptFields): JsonObject {
  const { transcript, logprobs } = candidate
  return defined({
    language: transcript?.language,
    duration: transcript?.duration,
    text,
    segments,
    words: transcript?.words?.map(writeWord),
    logprobs: logprobs?.map(writeLogprob),
    usage,
  }) as JsonObject
}

const textOf = ({ content }: Candidate): string => content.map(part => (part.type === 'text' ? part.text : '')).join('')

const PLAIN_TYPE = 'text/plain; charset=utf-8'

/**
 * Returns the answer as plain text or subtitles: the upstream's own text if it sent one, otherwise text created from
 * the transcript. Returns undefined for JSON formats.
 */
function writeRaw(result: CanonicalResult, format: string): RawBody | undefined {
  const rawBody = spellingFor(result, FORMAT)['raw']
  if (isObject(rawBody)) return { mediaType: String(rawBody['mediaType'] || PLAIN_TYPE), text: String(rawBody['text']) }
  const candidate = result.candidates[0] ?? EMPTY_CANDIDATE
  if (format === 'text') return { mediaType: PLAIN_TYPE, text: `${textOf(candidate).trim()}\n` }
  if (format !== 'srt' && format !== 'vtt') return undefined
  const { segments = [] } = candidate.transcript ?? {}
  if (segments.length > 0 || textOf(candidate).trim() === '')
    return { mediaType: PLAIN_TYPE, text: writeSubtitles(segments, format) }
  throw cannotExpress(
    'The upstream returned no times, so its transcript cannot be converted to subtitles.',
    'response_format',
  )
}

/** Reports result fields that no response format has. */
function reportResult(result: CanonicalResult, losses: Losses): void {
  losses.dropFields(result, [], RESULT_LOSSES)
  if (result.candidates.length === 0) losses.add(['candidates'], [EMPTY_CANDIDATE], 'one-transcript')
  for (let index = 1; index < result.candidates.length; index++) losses.drop(['candidates', index], 'one-transcript')
  const [first] = result.candidates
  if (first !== undefined) reportCandidate(first, losses)
}

const RESULT_LOSSES: Unwritten<CanonicalResult, 'candidates' | 'usage' | 'complete'> = {
  id: 'no-ids',
  model: 'no-model-here',
  createdAt: 'no-time-here',
  serviceTier: 'no-tiers',
  ...NO_TASK,
}

function reportCandidate(candidate: Candidate, losses: Losses): void {
  const path = ['candidates', 0]
  for (const [index, part] of candidate.content.entries()) {
    const at = [...path, 'content', index]
    if (part.type === 'text') losses.dropFields(part, at, PLAIN_TEXT_LOSSES)
    else if (part.type !== 'opaque') losses.drop(at, 'only-text')
    if (part.extras?.[FORMAT] !== undefined) losses.drop([...at, 'extras', FORMAT], 'no-equivalent-field')
  }
  if (candidate.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  if (candidate.transcript?.extras?.[FORMAT] !== undefined)
    losses.drop([...path, 'transcript', 'extras', FORMAT], 'no-equivalent-field')
  const { finish } = candidate
  if (finish === undefined) losses.add([...path, 'finish'], { reason: 'stop' }, 'no-finish-here')
  else if (finish.reason !== 'stop' || finish.stopSequence !== undefined)
    losses.change([...path, 'finish'], { reason: 'stop' }, 'no-finish-here')
  reportLogprobs(candidate.logprobs, path, losses)
}

/** Neutral values for the other segment fields that clients' types require. */
const SEGMENT_DEFAULTS: JsonObject = {
  ...{ seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 },
}

/** Writes the segments of a unary answer and reports generated fields. */
const writeSegments = (
  segments: readonly Segment[],
  as: 'verbose' | 'diarized',
  losses: Losses,
): readonly JsonObject[] =>
  segments.map((segment, index) => {
    const path = ['candidates', 0, 'transcript', 'segments', index]
    const nativeSegment = nativeSegmentOf(segment, as)
    if (nativeSegment !== undefined) return nativeSegment
    if (as === 'verbose')
      losses.add(
        [...path, 'extras'],
        { [FORMAT]: { ...SEGMENT_DEFAULTS, ...extrasFor(segment, FORMAT) } },
        'minted-figures',
      )
    else if (segment.speaker === undefined) losses.add([...path, 'speaker'], '', 'minted-speaker')
    return writeSegment(segment, index, as)
  })

/**
 * Writes a segment as received or with a new id. The id is a number in verbose answers and a name in answers with
 * speakers.
 */
export function writeSegment(segment: Segment, index: number, as: 'verbose' | 'diarized'): JsonObject {
  const nativeSegment = nativeSegmentOf(segment, as)
  if (nativeSegment !== undefined) return nativeSegment
  const { start, end, text, speaker } = segment
  const marks =
    as === 'verbose'
      ? { id: index, ...SEGMENT_DEFAULTS }
      : { id: `seg_${index}`, type: 'transcript.text.segment', speaker: '' }
  const { id, type, ...extras } = extrasFor(segment, FORMAT)
  return {
    ...marks,
    start,
    end,
    text,
    ...defined({ speaker }),
    ...(as === 'verbose' ? extras : { ...extras, ...defined({ id, type }) }),
  }
}

/** Returns the segment as received, unless it has a speaker's shape in place of the requested one. */
function nativeSegmentOf(segment: Segment, as: 'verbose' | 'diarized'): JsonObject | undefined {
  const nativeSegment = unchangedWire<JsonObject>(segment, FORMAT)
  return nativeSegment !== undefined && as === 'verbose' && isDiarized(nativeSegment) ? undefined : nativeSegment
}

const writeWord = (word: Word): JsonObject =>
  ({
    ...defined({ word: word.word, start: word.start, end: word.end, speaker: word.speaker }),
    ...extrasFor(word, FORMAT),
  }) as JsonObject

export const writeLogprob = (token: TokenLogprob): JsonObject =>
  ({
    ...defined({ token: token.token, logprob: token.logprob, bytes: token.bytes }),
    ...extrasFor(token, FORMAT),
  }) as JsonObject

function reportLogprobs(logprobs: readonly TokenLogprob[] | undefined, path: Path, losses: Losses): void {
  logprobs?.forEach(({ top }, index) => {
    if (top !== undefined) losses.drop([...path, 'logprobs', index, 'top'], 'chosen-tokens-only')
  })
}

/** Writes token counts. If the upstream reported seconds of audio instead, its usage object is unchanged. */
export function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const nativeUsage = unchangedWire<JsonObject>(usage, FORMAT)
  if (nativeUsage !== undefined) return nativeUsage
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  const { text, audio, ...others } = usage.inputBy ?? {}
  for (const kind in others) losses.drop(['usage', 'inputBy', kind], 'no-such-count')
  const { input_token_details, ...extras } = extrasFor(usage, FORMAT)
  return defined({
    type: 'tokens',
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: (usage.input ?? 0) + (usage.output ?? 0),
    input_token_details: writeDetails({ text_tokens: text, audio_tokens: audio }, input_token_details),
    ...extras,
  }) as JsonObject
}

const USAGE_LOSSES: Unwritten<Usage, 'input' | 'output' | 'inputBy'> = {
  searches: 'no-count-of-searches',
  cacheRead: 'no-such-count',
  cacheWrite: 'no-such-count',
  reasoning: 'no-such-count',
  outputBy: 'no-such-count',
  hostedCalls: 'no-such-count',
}

const writeDetails = (counts: object, extras: Json | undefined): Json | undefined =>
  extras === undefined || isObject(extras) ? (definedIfAny({ ...counts, ...extras }) as JsonObject | undefined) : extras
