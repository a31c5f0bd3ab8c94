import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { joinedTexts } from '../../canonical/media/segments.ts'
import { readSubtitles, styleOf } from '../../canonical/media/subtitles.ts'
import { isObject, type Json, type JsonObject, type Node, parseObject, withWireSource } from '../../canonical/node.ts'
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
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyObject, anyText, defined, extrasOf, isNumeral } from '../fields.ts'
import { anyCount, reconcileCounts } from '../usage/counts.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads a whole answer: JSON in any of its three shapes, or only the transcript as text or subtitles
 * (docs/wire/transcriptions.md#response-formats).
 *
 * @throws GatewayError for an error under status 200, and for a body that is not a transcript.
 */
export function readResult({ body, raw }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (raw === undefined) return readObject(body, request)
  if (!('text' in raw) || isPage(raw)) throw new GatewayError(NOT_AN_ANSWER)
  const plain = TEXT_FORMATS.has(formatOf(request))
  // Some servers declare their JSON as text, and some support only text.
  const parsedText = parseObject(raw.text)
  if (parsedText !== undefined && (!plain || isAnswer(parsedText))) return readObject(parsedText, request)
  if (raw.text === '' && !plain) throw new GatewayError(NOT_AN_ANSWER)
  return readRaw(raw, request)
}

const isAnswer = ({ text, error }: JsonObject): boolean => typeof text === 'string' || isObject(error)

/** Answer shapes that are not JSON. */
const TEXT_FORMATS: ReadonlySet<Json | undefined> = new Set(['text', 'srt', 'vtt'])

const formatOf = (request: CanonicalRequest): Json | undefined => request.spelling?.[FORMAT]?.['shape']

/** Returns true for HTML, which proxies in front of upstreams send. */
const isPage = ({ mediaType, text }: { readonly mediaType: string; readonly text: string }): boolean =>
  /^text\/html\b/i.test(mediaType) || /^\s*<(!doctype|html)\b/i.test(text)

function readObject(body: JsonObject, request: CanonicalRequest): CanonicalResult {
  const text = anyText(body['text'])
  if (text === undefined) throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NOT_AN_ANSWER)
  const { candidate, node, usage } = readFacts(body)
  const result: CanonicalResult = {
    candidates: [{ content: [{ type: 'text', text }], finish: { reason: 'stop' }, ...candidate }],
    ...defined({ usage }),
    ...node,
  }
  // Answers of these shapes are rewritten to add fields that clients require and some upstreams leave out.
  return SHAPES.has(formatOf(request)) ? result : withWireSource(result, FORMAT, body)
}

/** Answer shapes with facts about the transcript. */
const SHAPES: ReadonlySet<Json | undefined> = new Set(['verbose_json', 'diarized_json'])

const NOT_AN_ANSWER = upstreamFailed("The upstream's answer is not a transcript.")

/** Reads the facts about a transcript, from a whole answer or from the end of a streamed one. */
export function readFacts(body: JsonObject): {
  readonly candidate: Omit<Candidate, 'content'>
  readonly node: Node
  readonly usage: CanonicalResult['usage']
} {
  const facts: Transcript = defined({
    language: anyText(body['language']),
    duration: readSeconds(body['duration']),
    segments: readSegments(body['segments']),
    words: readWords(body['words']),
  })
  const usage = anyObject(body['usage'])
  const logprobs = readLogprobs(body['logprobs'])
  const read = { ...facts, logprobs, usage }
  const unreadFields: string[] = READ_FIELDS.filter(field => read[field] === undefined)
  if (anyText(body['task']) === undefined) unreadFields.push('task')
  return {
    candidate: {
      ...defined({ logprobs }),
      ...(Object.keys(facts).length === 0 ? {} : { transcript: facts }),
    },
    node: extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields),
    usage: usage && readUsage(usage),
  }
}

/** Reads a number of seconds, which vLLM writes as text. */
const readSeconds = (value: Json | undefined): number | undefined =>
  typeof value === 'string' && isNumeral(value) ? Number(value) : anyNumber(value)

const READ_FIELDS = ['language', 'duration', 'segments', 'words', 'logprobs', 'usage'] as const
const KNOWN_FIELDS = new Set<string>(['text', 'task', 'type', ...READ_FIELDS])

/**
 * Reads a plain transcript. Subtitles also have times. The body passes through unchanged if it has the requested shape.
 */
function readRaw(raw: RawBody & { readonly text: string }, request: CanonicalRequest): CanonicalResult {
  const style = styleOf(raw.text)
  const format = formatOf(request)
  const isUnchanged = format === (style ?? 'text') || (format === 'text' && raw.text.trim() === '')
  const segments = style === undefined ? undefined : readSubtitles(raw.text)
  const plain = isUnchanged ? raw.text : raw.text.trim()
  const text = segments === undefined ? plain : joinedTexts(segments.map(segment => segment.text))
  return {
    candidates: [
      {
        content: [{ type: 'text', text }],
        finish: { reason: 'stop' },
        ...(segments === undefined ? {} : { transcript: { segments } }),
      },
    ],
    ...(isUnchanged ? { spelling: { [FORMAT]: { raw: { mediaType: raw.mediaType, text: raw.text } } } } : {}),
  }
}

/** Reads all items of a list. Returns undefined if any of them is malformed. */
function readAll<T>(wire: Json | undefined, read: (item: JsonObject, index: number) => T | undefined): T[] | undefined {
  if (!Array.isArray(wire)) return undefined
  const items: T[] = []
  for (const [index, item] of wire.entries()) {
    const one = isObject(item) ? read(item, index) : undefined
    if (one === undefined) return undefined
    items.push(one)
  }
  return items
}

const readSegments = (wire: Json | undefined): readonly Segment[] | undefined => readAll(wire, readSegment)
const readWords = (wire: Json | undefined): readonly Word[] | undefined => readAll(wire, readWord)
/** Reads a list of token log probabilities. Returns undefined if any is malformed. */
export const readLogprobs = (wire: Json | undefined): readonly TokenLogprob[] | undefined => readAll(wire, readToken)

const SEGMENT = new Set(['id', 'type', 'start', 'end', 'text', 'speaker', 'speaker_id'])

/**
 * Reads a segment of a verbose, diarized or streamed answer. Some upstreams use another field for the speaker. A
 * segment without an id comes from an incomplete implementation and is rewritten.
 */
export function readSegment(wire: JsonObject): Segment | undefined {
  const start = anyNumber(wire['start'])
  const end = anyNumber(wire['end'])
  const text = anyText(wire['text'])
  if (start === undefined || end === undefined || text === undefined) return undefined
  const speaker = anyText(wire['speaker']) ?? anyText(wire['speaker_id'])
  const speakerField = anyText(wire['speaker']) === undefined && speaker !== undefined ? 'speaker_id' : undefined
  const unreadFields = ['speaker', 'speaker_id'].filter(
    name => name !== (speakerField ?? 'speaker') || wire[name] !== speaker,
  )
  const segment = { start, end, text, ...defined({ speaker }), ...extrasOf(FORMAT, wire, SEGMENT, unreadFields) }
  return wire['id'] == null || speakerField !== undefined ? segment : withWireSource(segment, FORMAT, wire)
}

const WORD = new Set(['word', 'start', 'end', 'speaker'])

function readWord(wire: JsonObject): Word | undefined {
  const start = anyNumber(wire['start'])
  const end = anyNumber(wire['end'])
  const word = anyText(wire['word'])
  if (start === undefined || end === undefined || word === undefined) return undefined
  const speaker = anyText(wire['speaker'])
  return {
    start,
    end,
    word,
    ...defined({ speaker }),
    ...extrasOf(FORMAT, wire, WORD, speaker === undefined ? ['speaker'] : []),
  }
}

const TOKEN = new Set(['token', 'logprob', 'bytes'])

function readToken(wire: JsonObject): TokenLogprob | undefined {
  const token = anyText(wire['token'])
  const logprob = anyNumber(wire['logprob'])
  const { bytes } = wire
  if (token === undefined || logprob === undefined) return undefined
  if (bytes != null && !(Array.isArray(bytes) && bytes.every(byte => typeof byte === 'number'))) return undefined
  return {
    token,
    logprob,
    ...(Array.isArray(bytes) ? { bytes: bytes as readonly number[] } : {}),
    ...extrasOf(FORMAT, wire, TOKEN),
  }
}

/** Names for the token counts of prompt and answer: OpenAI's, then Mistral's (docs/wire/transcriptions.md#mistral). */
const COUNT_NAMES = [
  ['input_tokens', 'output_tokens'],
  ['prompt_tokens', 'completion_tokens'],
] as const

const DETAILS = 'input_token_details'

/** Reads usage: tokens, or seconds of audio, which become extras. */
export function readUsage(wire: JsonObject): Usage {
  const names = COUNT_NAMES.find(([input]) => anyCount(wire[input]) !== undefined) ?? COUNT_NAMES[0]
  const [input, output] = names.map(name => anyCount(wire[name]))
  const { inputBy, others } = readDetails(wire[DETAILS])
  const knownFields = new Set(['type', ...names, 'total_tokens', DETAILS])
  const unreadFields = [...knownFields].filter(name => name !== DETAILS && !isAsExpected(name, wire[name]))
  const outer = extrasOf(FORMAT, wire, knownFields, unreadFields).extras?.[FORMAT]
  const extras = others === undefined ? outer : { ...outer, [DETAILS]: others }
  const usage = {
    ...reconcileCounts({ input, output, total: anyCount(wire['total_tokens']), audio: audioBeside(wire) }),
    ...defined({ inputBy }),
    ...(extras === undefined ? {} : { extras: { [FORMAT]: extras } }),
  }
  return withWireSource(usage, FORMAT, wire)
}

/** Returns the tokens of the recording, which Mistral counts beside those of the prompt (docs/wire/chat.md#usage). */
const audioBeside = (wire: JsonObject): number | undefined =>
  anyCount(anyObject(wire['prompt_tokens_details'])?.['audio_tokens'])

const isAsExpected = (name: string, value: Json | undefined): boolean =>
  value === undefined || typeof value === (name === 'type' ? 'string' : 'number')

const COUNTS = new Set(['text_tokens', 'audio_tokens'])

/** Reads the counts by modality and the remaining fields. */
function readDetails(wire: Json | undefined): { inputBy?: NonNullable<Usage['inputBy']>; others?: Json } {
  const details = anyObject(wire)
  if (details === undefined) return wire === undefined || wire === null ? {} : { others: wire }
  const text = anyNumber(details['text_tokens'])
  const audio = anyNumber(details['audio_tokens'])
  const known = [...COUNTS].filter(name => typeof details[name] === 'number')
  const others = Object.fromEntries(Object.entries(details).filter(([name]) => !known.includes(name)))
  return {
    ...(known.length === 0 ? {} : { inputBy: defined({ text, audio }) }),
    ...(Object.keys(others).length === 0 ? {} : { others: others }),
  }
}
