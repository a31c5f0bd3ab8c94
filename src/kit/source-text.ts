import { invalid } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import { applyEvent, fold } from '../canonical/fold.ts'
import type { Path } from '../canonical/loss.ts'
import { rowOf } from '../canonical/maps.ts'
import { type Format, isObject, type Json, type JsonObject, parseObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { drain, type Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { CALLER_FORMATS, FORMAT_FACTS } from '../formats/index.ts'
import { bodyPaths, READERS } from '../ingress/index.ts'
import type { Locate } from '../ingress/locate.ts'
import type { Reader } from '../ingress/reader.ts'
import { eventParser } from '../ingress/transport/event-parser.ts'
import { isDeeper, valueAt } from './pointer.ts'
import type { Reading } from './source-paths.ts'
import type { Kind } from './translate.ts'
import { understandingScore } from './understood.ts'
import { jsonOf, wireRequestOf } from './wire-text.ts'

/** A string to translate, as read in one format. */
export interface SourceText extends Reading {
  readonly format: Format
  readonly kind: Kind
  readonly work: Work
  /** Canonical value. For a stream, the result of folding it. */
  readonly value: CanonicalRequest | CanonicalResult
  /** The events of a stream. */
  readonly events?: readonly WireEvent[]
  /** Maps a canonical path of a request to its path in the text. */
  readonly bodyPath?: Locate
  /** The request that the answer is assumed to belong to. */
  readonly assumedRequest: CanonicalRequest
}

/** Maximum depth of nested lists and objects. */
const MAX_DEPTH = 100

export interface SourceTextOptions {
  /** The model of a request that does not name one. */
  readonly model?: string
  /** Path for a string that contains only the body of a request. */
  readonly path?: string
}

/**
 * Reads a text in a format.
 *
 * @throws GatewayError `invalid-request` if the text is malformed or the format has no such messages.
 */
export function readSourceText(text: string, format: Format, kind: Kind, options: SourceTextOptions = {}): SourceText {
  const reader = rowOf(READERS, format)
  const read = reader?.[kind]
  if (reader === undefined || read === undefined) throw invalid(`The format ${format} has no ${KIND_NAMES[kind]}.`)
  return kind === 'request' ? request(text, format, reader, options) : answer(text, format, kind, reader, options)
}

const DEFAULT_MODEL = 'model'

const KIND_NAMES: { readonly [K in Kind]: string } = { request: 'requests', result: 'results', events: 'streams' }

function request(
  text: string,
  format: Format,
  reader: Reader,
  { model = DEFAULT_MODEL, path }: SourceTextOptions,
): SourceText {
  const source = checkedDepth(jsonOf(text))
  const read = (json: Json): CanonicalRequest => {
    const exchange = wireRequestOf(asObject(json), format, model)
    return reader.request!(path === undefined ? exchange : { ...exchange, path })
  }
  const value = read(source)
  const locate = reader.locate?.(value)
  const paths = bodyPaths(reader, format, value)
  // A string with path and body is a complete HTTP request.
  const prefix = typeof source['path'] === 'string' && isObject(source['body']) ? ['body'] : []
  return {
    ...{ format, kind: 'request', work: workOf(value), value, source, read, assumedRequest: value, root: prefix },
    // The messages of formats without `locate` are at the canonical paths.
    bodyPath: path => [...prefix, ...paths(path)],
    nearest: path => (path[0] === 'messages' ? [...prefix, ...(locate?.(path) ?? path)] : prefix),
  }
}

/**
 * Reads an answer. Because the text does not show its kind of work, it is read as an answer to each kind that its
 * format supports, and the reading that understands most of the text wins.
 */
function answer(
  text: string,
  format: Format,
  kind: 'result' | 'events',
  reader: Reader,
  { model = DEFAULT_MODEL }: SourceTextOptions,
): SourceText {
  const read = { result, events }[kind](text, format, reader)
  let best: SourceText | undefined
  let failure: unknown
  for (const work of worksOf(format)) {
    const assumedRequest: CanonicalRequest = {
      ...{ model, messages: [], output: OUTPUT_BY_WORK[work] ?? {}, sampling: {} },
      ...{ stream: kind === 'events', spelling: USAGE_SPELLING },
    }
    try {
      const one = read(assumedRequest, work)
      if (isComplete(one.value as CanonicalResult)) return one
      if (best === undefined || understandingScore(one.value) > understandingScore(best.value)) best = one
    } catch (thrown) {
      failure ??= thrown
    }
  }
  if (best === undefined) throw failure
  return best
}

/** Returns true if the result has content or a task, so that other readings cannot find more. */
const isComplete = ({ candidates, task }: CanonicalResult): boolean =>
  task !== undefined || candidates.some(({ content }) => content.length > 0)

/** Returns the kinds of work that a format supports, with its upstreams' main kind first. */
const worksOf = (format: Format): ReadonlySet<Work> =>
  new Set([...(FORMAT_FACTS.get(format)?.does ?? []), ...(CALLER_FORMATS.get(format) ?? [])])

/** The output that a request for each kind of work names. */
const OUTPUT_BY_WORK: { readonly [W in Work]?: CanonicalRequest['output'] } = {
  completion: { completion: {} },
  embedding: { modalities: ['embedding'] },
  ranking: { ranking: { query: '' } },
  image: { modalities: ['image'] },
  speech: { modalities: ['audio'] },
  transcription: { transcript: { task: 'transcribe' } },
  video: { modalities: ['video'] },
  count: { count: true },
  compaction: { compaction: true },
}

type ReadAnswer = (assumedRequest: CanonicalRequest, work: Work) => SourceText

/** Spelling of a request for usage. Callers are assumed to request token counts. */
const USAGE_SPELLING = Object.fromEntries(
  [...FORMAT_FACTS].flatMap(([format, { usageOnDemand }]) =>
    usageOnDemand === undefined ? [] : [[format, usageOnDemand]],
  ),
)

/** Prepares the reading of a complete answer. */
function result(text: string, format: Format, reader: Reader): ReadAnswer {
  const source = checkedDepth(jsonOf(text))
  const isAnswer = typeof source['status'] === 'number' && isObject(source['body'])
  const root = isAnswer ? ['body'] : []
  return (assumedRequest, work) => {
    const read = (json: Json): CanonicalResult => {
      const whole = asObject(json)
      return reader.result!(
        { status: 200, headers: {}, body: isAnswer ? asObject(whole['body']!) : whole },
        assumedRequest,
      )
    }
    return {
      format,
      kind: 'result',
      work,
      value: read(source),
      source,
      read,
      assumedRequest,
      root,
      nearest: () => root,
    }
  }
}

/** Prepares the reading of a stream. */
function events(text: string, format: Format, reader: Reader): ReadAnswer {
  const parsed: readonly WireEvent[] = drain(eventParser(), [Buffer.from(text)])
  if (parsed.length === 0) throw invalid('The text has no server-sent events.')
  const source = checkedDepth(parsed.map(({ data }) => parseObject(data) ?? data))
  const withData = (json: Json): WireEvent[] =>
    (json as readonly Json[]).map((data, index) => ({ ...parsed[index]!, data: textOf(data) }))
  return (assumedRequest, work) => {
    const read = (json: Json): CanonicalResult => fold(drain(reader.events!(assumedRequest), withData(json)))
    const first = new FirstEvents(() => reader.events!(assumedRequest), parsed)
    return {
      format,
      kind: 'events',
      work,
      value: read(source),
      events: parsed,
      source,
      read,
      assumedRequest,
      root: [],
      nearest: path => first.with(path),
      isSlow: true,
    }
  }
}

const textOf = (data: Json): string => (typeof data === 'string' ? data : JSON.stringify(data))

function checkedDepth<T extends Json>(source: T): T {
  if (isDeeper(source, MAX_DEPTH))
    throw invalid(`The text has more than ${MAX_DEPTH} levels of nested lists and objects.`)
  return source
}

const asObject = (json: Json): JsonObject => {
  if (isObject(json)) return json
  throw invalid('The text is not a JSON object.')
}

/**
 * Finds the first event of a stream after which its result has a value at a path. Looking up paths in the order of the
 * stream needs a single reading. Each path out of order needs another one.
 */
export class FirstEvents {
  private readonly reader: () => Transducer<WireEvent, CanonicalEvent>
  private readonly events: readonly WireEvent[]
  private machine: Transducer<WireEvent, CanonicalEvent>
  private result: CanonicalResult = fold([])
  private next = 0

  constructor(reader: () => Transducer<WireEvent, CanonicalEvent>, events: readonly WireEvent[]) {
    this.reader = reader
    this.events = events
    this.machine = reader()
  }

  /** Returns the index of the event as a path, or an empty path if only the end of the stream sets the value. */
  with(path: Path): Path {
    if (valueAt(this.result, path) !== undefined) this.rewind()
    while (this.next < this.events.length) {
      const index = this.next++
      for (const one of this.machine.push(this.events[index]!)) this.result = applyEvent(this.result, one, true)
      if (valueAt(this.result, path) !== undefined) return [index]
    }
    return []
  }

  private rewind(): void {
    this.machine = this.reader()
    this.result = fold([])
    this.next = 0
  }
}
