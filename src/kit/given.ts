import { invalid } from '../canonical/error.ts'
import { fold } from '../canonical/fold.ts'
import { type Format, isObject, type Json, type JsonObject, parseObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { drain } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { DOORS, FORMATS } from '../formats/index.ts'
import { bodyPaths, READERS } from '../ingress/index.ts'
import type { Locate } from '../ingress/locate.ts'
import type { Reader } from '../ingress/reader.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import { FirstEvents } from './first-events.ts'
import type { Reading } from './origins.ts'
import { isDeeper } from './pointer.ts'
import type { Kind } from './translate.ts'
import { understood } from './understood.ts'
import { exchangeOf, jsonOf } from './wire-text.ts'

/** A text to translate, as it was read in one format. */
export interface Given extends Reading {
  readonly format: Format
  readonly kind: Kind
  readonly work: Work
  /** The canonical value; for a stream, the result that it folds to. */
  readonly value: CanonicalRequest | CanonicalResult
  /** The events of a stream. */
  readonly events?: readonly WireEvent[]
  /** Maps a canonical path of a request to its path in the text. */
  readonly bodyPath?: Locate
  /** The request that the answer is assumed to belong to. */
  readonly asked: CanonicalRequest
}

/** Most levels of nested lists and objects. */
const DEEPEST = 100

export interface GivenOptions {
  /** The model of a request that does not name one. */
  readonly model?: string
  /** The path of a request of which the text has only the body. */
  readonly path?: string
}

/**
 * Reads a text in a format.
 *
 * @throws GatewayError `invalid-request` if the text is malformed or the format has no such messages.
 */
export function givenOf(text: string, format: Format, kind: Kind, options: GivenOptions = {}): Given {
  const reader = Object.hasOwn(READERS, format) ? READERS[format]! : undefined
  const read = reader?.[kind]
  if (reader === undefined || read === undefined) throw invalid(`The format ${format} has no ${NAMES[kind]}.`)
  return kind === 'request' ? request(text, format, reader, options) : answer(text, format, kind, reader, options)
}

const MODEL = 'model'

const NAMES: { readonly [K in Kind]: string } = { request: 'requests', result: 'results', events: 'streams' }

function request(text: string, format: Format, reader: Reader, { model = MODEL, path }: GivenOptions): Given {
  const source = checked(jsonOf(text))
  const read = (json: Json): CanonicalRequest => {
    const exchange = exchangeOf(asObject(json), format, model)
    return reader.request!(path === undefined ? exchange : { ...exchange, path })
  }
  const value = read(source)
  const locate = reader.locate?.(value)
  const paths = bodyPaths(reader, format, value)
  // A text with path and body is a whole HTTP request.
  const above = typeof source['path'] === 'string' && isObject(source['body']) ? ['body'] : []
  return {
    ...{ format, kind: 'request', work: workOf(value), value, source, read, asked: value, root: above },
    // Formats that define no `locate` have their messages at the canonical paths.
    bodyPath: path => [...above, ...paths(path)],
    near: path => (path[0] === 'messages' ? [...above, ...(locate?.(path) ?? path)] : above),
  }
}

/**
 * Reads an answer. The text does not show which kind of work it belongs to, so it is read as an answer to each kind
 * that its format supports; the reading that understands most of it wins.
 */
function answer(
  text: string,
  format: Format,
  kind: 'result' | 'events',
  reader: Reader,
  { model = MODEL }: GivenOptions,
): Given {
  const read = { result, events }[kind](text, format, reader)
  let best: Given | undefined
  let failure: unknown
  for (const work of worksOf(format)) {
    const asked: CanonicalRequest = {
      ...{ model, messages: [], output: ASKED[work] ?? {}, sampling: {} },
      ...{ stream: kind === 'events', spelling: SPELLING },
    }
    try {
      const one = read(asked, work)
      if (isFull(one.value as CanonicalResult)) return one
      if (best === undefined || understood(one.value) > understood(best.value)) best = one
    } catch (thrown) {
      failure ??= thrown
    }
  }
  if (best === undefined) throw failure
  return best
}

/** Whether the result has content or a task, so that other readings cannot find more. */
const isFull = ({ candidates, task }: CanonicalResult): boolean =>
  task !== undefined || candidates.some(({ content }) => content.length > 0)

/** The kinds of work of a format; the one that its upstreams are made for comes first. */
const worksOf = (format: Format): ReadonlySet<Work> =>
  new Set([...(FORMATS.get(format)?.does ?? []), ...(DOORS.get(format) ?? [])])

/** The output that requests for each kind of work ask for. */
const ASKED: { readonly [W in Work]?: CanonicalRequest['output'] } = {
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

type ReadAnswer = (asked: CanonicalRequest, work: Work) => Given

/** Spelling of a request for usage: callers are assumed to want their tokens counted. */
const SPELLING = Object.fromEntries(
  [...FORMATS].flatMap(([format, { usageOnDemand }]) => (usageOnDemand === undefined ? [] : [[format, usageOnDemand]])),
)

/** Prepares the reading of a complete answer. */
function result(text: string, format: Format, reader: Reader): ReadAnswer {
  const source = checked(jsonOf(text))
  const isAnswer = typeof source['status'] === 'number' && isObject(source['body'])
  const root = isAnswer ? ['body'] : []
  return (asked, work) => {
    const read = (json: Json): CanonicalResult => {
      const whole = asObject(json)
      return reader.result!({ status: 200, headers: {}, body: isAnswer ? asObject(whole['body']!) : whole }, asked)
    }
    return { format, kind: 'result', work, value: read(source), source, read, asked, root, near: () => root }
  }
}

/** Prepares the reading of a stream. */
function events(text: string, format: Format, reader: Reader): ReadAnswer {
  const parsed: readonly WireEvent[] = drain(eventParser(), [Buffer.from(text)])
  if (parsed.length === 0) throw invalid('The text has no server-sent events.')
  const source = checked(parsed.map(({ data }) => parseObject(data) ?? data))
  const dressed = (json: Json): WireEvent[] =>
    (json as readonly Json[]).map((data, index) => ({ ...parsed[index]!, data: textOf(data) }))
  return (asked, work) => {
    const read = (json: Json): CanonicalResult => fold(drain(reader.events!(asked), dressed(json)))
    const first = new FirstEvents(() => reader.events!(asked), parsed)
    return {
      format,
      kind: 'events',
      work,
      value: read(source),
      events: parsed,
      source,
      read,
      asked,
      root: [],
      near: path => first.with(path),
      isSlow: true,
    }
  }
}

const textOf = (data: Json): string => (typeof data === 'string' ? data : JSON.stringify(data))

function checked<T extends Json>(source: T): T {
  if (isDeeper(source, DEEPEST)) throw invalid(`The text has more than ${DEEPEST} levels of nested lists and objects.`)
  return source
}

const asObject = (json: Json): JsonObject => {
  if (isObject(json)) return json
  throw invalid('The text is not a JSON object.')
}
