import type { TextPart } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { writeSubtitles } from '../../canonical/media/subtitles.ts'
import { isObject, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Transcript } from '../../canonical/result.ts'
import type { RawBody, WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { reportLogprobs, writeLogprob, writeSegments, writeWord } from './times.ts'
import { writeUsage } from './usage.ts'

const FORMAT = 'transcriptions'

/**
 * A whole answer in the requested response format: JSON, or the transcript alone as text or subtitles (FORMATS §12).
 *
 * @throws GatewayError `cannot-express` for subtitles of a transcript without times.
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const format = formatOf(request)
  const raw = writeRaw(result, format)
  if (raw !== undefined) return { wire: { status: 200, headers: {}, body: {}, raw }, losses: [] }
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  reportResult(result, losses)
  const candidate = required(result, request, losses)
  const reported = candidate.transcript?.segments
  const segments = reported && writeSegments(reported, format === 'diarized_json' ? 'diarized' : 'verbose', losses)
  const usage = result.usage && writeUsage(result.usage, losses)
  const body = {
    ...writeFacts({ candidate, node: result, request, text: textOf(candidate), segments, usage }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/**
 * The candidate with the fields that clients' types require of its response format: generated where the upstream left
 * them out, and reported.
 */
function required({ candidates }: CanonicalResult, request: CanonicalRequest, losses: Losses): Candidate {
  const [candidate = EMPTY] = candidates
  const needs = NEEDS.get(formatOf(request))
  if (needs === undefined) return candidate
  const path = ['candidates', 0, 'transcript']
  if (candidate.transcript === undefined) losses.add(path, {}, 'minted-facts')
  const { transcript = {} } = candidate
  const language = request.output.transcript?.language ?? UNDETERMINED
  const made = { language, duration: endOf(transcript), segments: [] }
  const facts = needs.filter(fact => transcript[fact] === undefined).map(fact => [fact, made[fact]] as const)
  for (const [fact, value] of facts) losses.add([...path, fact], value, `minted-${fact}`)
  return { ...candidate, transcript: { ...transcript, ...Object.fromEntries(facts) } }
}

const NEEDS: ReadonlyMap<string, readonly ('language' | 'duration' | 'segments')[]> = new Map([
  ['verbose_json', ['language', 'duration'] as const],
  ['diarized_json', ['duration', 'segments'] as const],
])
const UNDETERMINED = 'und'

/** A recording is at least as long as its last segment or word. */
const endOf = ({ segments = [], words = [] }: Transcript): number =>
  Math.max(0, ...[segments.at(-1), words.at(-1)].map(last => last?.end ?? 0))

const EMPTY: Candidate = { content: [], finish: { reason: 'stop' } }

/** The response format that the caller requested. */
function formatOf(request: CanonicalRequest): string {
  const { said: spelled } = spelt(request, FORMAT)
  const format = isObject(spelled) ? spelled['response_format'] : undefined
  return typeof format === 'string' ? format : 'json'
}

interface Facts {
  readonly candidate: Omit<Candidate, 'content'>
  readonly node: Node
  readonly request: CanonicalRequest
  readonly text: string
  readonly segments?: readonly JsonObject[] | undefined
  readonly usage?: JsonObject | undefined
}

/** The fields of a transcript, at the end of a stream and in a whole answer. */
export function writeFacts({ candidate, node, request, text, segments, usage }: Facts): JsonObject {
  const { transcript, logprobs } = candidate
  const own = spelt(node, FORMAT)
  const verbose = /^(verbose|diarized)_json$/.test(formatOf(request))
  return defined({
    task: own['own'] === true ? own['task'] : verbose ? request.output.transcript?.task : undefined,
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

const PLAIN = 'text/plain; charset=utf-8'

/** An answer that is no JSON, as the upstream wrote it or made here. */
function writeRaw(result: CanonicalResult, format: string): RawBody | undefined {
  const own = spelt(result, FORMAT)['raw']
  if (isObject(own)) return { mediaType: String(own['mediaType'] || PLAIN), text: String(own['text']) }
  const candidate = result.candidates[0] ?? EMPTY
  if (format === 'text') return { mediaType: PLAIN, text: `${textOf(candidate).trim()}\n` }
  if (format !== 'srt' && format !== 'vtt') return undefined
  const segments = candidate.transcript?.segments
  if (segments !== undefined || textOf(candidate).trim() === '')
    return { mediaType: PLAIN, text: writeSubtitles(segments ?? [], format) }
  throw new GatewayError({
    kind: 'cannot-express',
    message: 'The upstream returned no times, so no subtitles can be made of its transcript.',
    param: 'response_format',
  })
}

/** Reports what has no place in any response format. */
function reportResult(result: CanonicalResult, losses: Losses): void {
  losses.dropFields(result, [], RESULT_LOSSES)
  if (result.candidates.length === 0) losses.add(['candidates'], [EMPTY], 'one-transcript')
  for (let index = 1; index < result.candidates.length; index++) losses.drop(['candidates', index], 'one-transcript')
  const [first] = result.candidates
  if (first !== undefined) reportCandidate(first, losses)
}

const RESULT_LOSSES: Unwritten<CanonicalResult, 'candidates' | 'usage' | 'complete'> = {
  id: 'no-ids',
  model: 'no-model-told',
  createdAt: 'no-time-told',
  serviceTier: 'no-tiers',
  task: 'no-tasks',
  error: 'no-error-beside-an-answer',
}
const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = { annotations: 'no-annotations', cache: 'no-cache' }

function reportCandidate(candidate: Candidate, losses: Losses): void {
  const path = ['candidates', 0]
  for (const [index, part] of candidate.content.entries()) {
    const at = [...path, 'content', index]
    if (part.type === 'text') losses.dropFields(part, at, TEXT_LOSSES)
    else if (part.type !== 'opaque') losses.drop(at, 'only-text')
    if (part.extras?.[FORMAT] !== undefined) losses.drop([...at, 'extras', FORMAT], 'no-place-for-it')
  }
  if (candidate.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
  if (candidate.transcript?.extras?.[FORMAT] !== undefined)
    losses.drop([...path, 'transcript', 'extras', FORMAT], 'no-place-for-it')
  const { finish } = candidate
  if (finish === undefined) losses.add([...path, 'finish'], { reason: 'stop' }, 'no-finish-told')
  else if (finish.reason !== 'stop' || finish.stopSequence !== undefined)
    losses.change([...path, 'finish'], { reason: 'stop' }, 'no-finish-told')
  reportLogprobs(candidate.logprobs, path, losses)
}
