import { type CanonicalError, GatewayError } from '../../canonical/error.ts'
import { readSubtitles, styleOf } from '../../canonical/media/subtitles.ts'
import { isObject, type Json, type JsonObject, type Node, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Transcript } from '../../canonical/result.ts'
import type { RawBody, WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, anyObject, anyText, defined, rest, spelling } from '../fields.ts'
import { readInnerError } from './error.ts'
import { inFull, readLogprobs, readSegments, readWords } from './times.ts'
import { readUsage } from './usage.ts'

const FORMAT = 'transcriptions'

/**
 * A whole answer: JSON of any of its three shapes, or the transcript alone as text or subtitles (FORMATS §12).
 *
 * @throws GatewayError for an error under status 200, and for a body that is no transcript.
 */
export function readResult({ body, raw }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (raw === undefined) return readObject(body, request)
  if (!('text' in raw) || isPage(raw)) throw new GatewayError(NOT_AN_ANSWER)
  const plain = PLAIN.has(formatOf(request))
  // Some servers do not declare their JSON as such, and some have no shape but text.
  const undeclared = parseObject(raw.text)
  if (undeclared !== undefined && (!plain || isAnswer(undeclared))) return readObject(undeclared, request)
  if (raw.text === '' && !plain) throw new GatewayError(NOT_AN_ANSWER)
  return readRaw(raw, request)
}

const isAnswer = ({ text, error }: JsonObject): boolean => typeof text === 'string' || isObject(error)

/** The shapes that are not JSON. */
const PLAIN: ReadonlySet<Json | undefined> = new Set(['text', 'srt', 'vtt'])

const formatOf = (request: CanonicalRequest): Json | undefined =>
  anyObject(request.spelling?.[FORMAT]?.['said'])?.['response_format']

/** Proxies in front of an upstream answer with HTML pages. */
const isPage = ({ mediaType, text }: { readonly mediaType: string; readonly text: string }): boolean =>
  /^text\/html\b/i.test(mediaType) || /^\s*<(!doctype|html)\b/i.test(text)

function readObject(body: JsonObject, request: CanonicalRequest): CanonicalResult {
  const text = anyText(body['text'])
  if (text === undefined) throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NOT_AN_ANSWER)
  const { candidate, node, usage } = readFacts(body, request)
  return {
    candidates: [{ content: [{ type: 'text', text }], finish: { reason: 'stop' }, ...candidate }],
    ...defined({ usage }),
    ...node,
  }
}

const NOT_AN_ANSWER: CanonicalError = {
  kind: 'upstream-failed',
  message: 'The upstream sent something that is no transcript.',
}

/** The facts of a transcript besides its text, in a whole answer or at the end of a streamed one. */
export function readFacts(
  body: JsonObject,
  request?: CanonicalRequest,
): {
  readonly candidate: Omit<Candidate, 'content'>
  readonly node: Node
  readonly usage: CanonicalResult['usage']
} {
  const segments = readSegments(body['segments'])
  const speakers = request?.output.transcript?.speakers === true
  const named = speakers ? segments?.map(withoutOwnName) : segments
  const written = request !== undefined && wantsShape(request) ? named?.map(inFull) : named
  const facts: Transcript = defined({
    language: anyText(body['language']),
    duration: anyNumber(body['duration']),
    segments: written,
    words: readWords(body['words']),
  })
  const usage = anyObject(body['usage'])
  const logprobs = readLogprobs(body['logprobs'])
  const read = { ...facts, logprobs, usage }
  const refused = READ.filter(field => read[field] === undefined)
  const task = anyText(body['task'])
  return {
    candidate: {
      ...defined({ logprobs }),
      ...(Object.keys(facts).length === 0 ? {} : { transcript: facts }),
    },
    node: rest(FORMAT, body, TAKEN, spelling({ own: true, task }), task === undefined ? [...refused, 'task'] : refused),
    usage: usage && readUsage(usage),
  }
}

const READ = ['language', 'duration', 'segments', 'words', 'logprobs', 'usage'] as const
const TAKEN = new Set<string>(['text', 'task', 'type', ...READ])

/** Callers that request speakers get the format's own names, whatever the upstream's are. */
function withoutOwnName<T extends Node>(segment: T): T {
  const { speaker: _, ...marks } = segment.spelling?.[FORMAT] ?? {}
  return { ...segment, spelling: { [FORMAT]: marks } }
}

const SHAPES: ReadonlySet<unknown> = new Set(['verbose_json', 'diarized_json'])

function wantsShape({ spelling }: CanonicalRequest): boolean {
  const fields = spelling?.[FORMAT]?.['said']
  return isObject(fields) && SHAPES.has(fields['response_format'])
}

/**
 * The transcript alone; times are taken from subtitles. It is passed on unchanged where it has the shape the caller
 * requested, whatever shape the upstream has it in.
 */
function readRaw(raw: RawBody & { readonly text: string }, request: CanonicalRequest): CanonicalResult {
  const style = styleOf(raw.text)
  const wanted = formatOf(request)
  const asIs = wanted === (style ?? 'text') || (wanted === 'text' && raw.text.trim() === '')
  const segments = style === undefined ? undefined : readSubtitles(raw.text)
  const text = segments?.map(segment => segment.text).join(' ') ?? (asIs ? raw.text : raw.text.trim())
  return {
    candidates: [
      {
        content: [{ type: 'text', text }],
        finish: { reason: 'stop' },
        ...(segments === undefined ? {} : { transcript: { segments } }),
      },
    ],
    ...(asIs ? { spelling: { [FORMAT]: { own: true, raw: { mediaType: raw.mediaType, text: raw.text } } } } : {}),
  }
}
