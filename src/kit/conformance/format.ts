import type { AnswerFacts, ErrorFacts, RequestFacts } from './facts.ts'
import type { GrammarFactory } from './grammar.ts'
import { type Json, type JsonObject, textOf } from './json.ts'
import type { Rule, Violation } from './rules.ts'
import type { SchemaException } from './schema.ts'

/** Kinds of work that callers request. Formats for the same kind of work can be translated to each other. */
export const WORKS = [
  ...(['conversation', 'completion', 'tokens', 'models', 'embeddings', 'rerank'] as const),
  ...(['images', 'speech', 'transcription', 'videos'] as const),
] as const
export type Work = (typeof WORKS)[number]

/** Headers, by lower-case name. */
export interface Headers {
  readonly [name: string]: string
}

/** Model and stream flag that a request states in its path and body. */
export interface ModelAndMode {
  readonly model: string
  readonly stream: boolean
}

/** A file of a form. */
export interface FormFile {
  /** Field name in the form. */
  readonly field: string
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
}

/** A request on the wire, without its headers. */
export interface RequestOnWire {
  readonly method: string
  /** Path below the base URL, with the query. */
  readonly path: string
  /** JSON body, or the fields of the form. A repeated field is a list. */
  readonly body: JsonObject
  /** Files of the form, or undefined for JSON and for requests without a body. */
  readonly files?: readonly FormFile[] | undefined
}

/** Body of a whole answer that is not JSON, such as audio. */
export interface RawAnswer {
  readonly type: string
  readonly bytes: Buffer
}

/**
 * Name of a schema in `conformance/schemas/<name of the format>.json`, or a function that chooses it by path and body.
 */
export type SchemaName = string | ((path: string, request: Omit<RequestOnWire, 'path'>) => string | undefined)

/** Versions of a format. Each request names one in a header, and each version accepts different requests. */
export interface Versions {
  /** Ordered from oldest to newest. The first is the default. */
  readonly names: readonly string[]
  /** Returns a client's headers for a version, including the credential. */
  readonly headers: (version: string, key: string) => Headers
  /** Returns the version that a request names. */
  readonly versionOf: (headers: Headers) => string | undefined
  /** Removes from a request the fields that a version refuses. */
  readonly allowed: (version: string, body: JsonObject) => JsonObject
  /** Body of the 400 answer to a request that its version refuses. */
  readonly refusal: JsonObject
}

/** A format over a WebSocket. A request is one frame, and so is each event of its answer. */
export interface Turns {
  /** Returns the frame of a request. */
  readonly frame: (body: JsonObject) => JsonObject
  /** Reads the request from a frame. Returns undefined if the frame does not request an answer. */
  readonly body: (frame: JsonObject) => JsonObject | undefined
  /** Returns true if an event is the last one of its answer. */
  readonly isLast: (event: JsonObject) => boolean
  /** Writes and reads the frame of an error. */
  readonly errorFrame: (error: TurnError) => JsonObject
  readonly errorIn: (frame: JsonObject) => TurnError | undefined
}

/** An error in place of an answer, with the fields that HTTP would carry. */
export interface TurnError {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonObject
}

/** One format: its wire form, its meaning and its rules. */
export interface Format {
  readonly name: string
  readonly work: Work
  /** Name of the format whose base URL and model this format shares. Default: its own name. */
  readonly sharesBaseWith?: string
  /** Format whose scenario files are used if a scenario has none for this format. */
  readonly files?: string
  /** Frames of requests and answers, in formats over WebSockets. */
  readonly turns?: Turns
  /** Suffix of the base URL that clients are configured with. */
  readonly base: '/v1' | ''
  /** Default path below the base URL. */
  readonly path: (model: string, stream: boolean, body: JsonObject) => string
  /** Headers of a client, with its credential. */
  readonly headers: (key: string) => Headers
  readonly versions?: Versions
  /** Adds the model and the stream flag to a hand-written request, if the format states them in the body. */
  readonly withModel: (body: JsonObject, model: string, stream: boolean) => JsonObject
  /** Reads the path below the base URL and the body. Returns undefined if the path does not belong to the format. */
  readonly recognise: (path: string, body: JsonObject, method: string) => ModelAndMode | undefined
  /** Returns the action of a request in formats with several actions, such as to create a job or read its state. */
  readonly action?: (method: string, path: string) => string | undefined
  /** List of models that the kit's upstream offers in addition to the scenario, and its path below the base URL. */
  readonly models?: { readonly path: string; readonly list: (ids: readonly string[]) => JsonObject }
  /** Published schemas. A stream has one schema per event. */
  readonly schemas: {
    readonly request?: SchemaName
    readonly answer?: SchemaName
    readonly event?: SchemaName
    readonly error?: string
  }
  readonly exceptions: readonly SchemaException[]
  /** Normalizers of requests, answers and events, where readers of the format accept several spellings. */
  readonly asRead?: {
    readonly request: (body: JsonObject) => JsonObject
    readonly answer?: (body: JsonObject) => JsonObject
  }
  /** Line end in the format's streams. The default is a line feed. */
  readonly newline?: '\r\n'
  /** Adapts a hand-written stream to what its request asks for, as the provider does. */
  readonly adaptStream?: (stream: Buffer, request: Pick<RequestOnWire, 'path' | 'body'>) => RawAnswer
  /** Adapts a hand-written answer to the path of the request, in formats with several methods. */
  readonly adaptAnswer?: (answer: JsonObject, path: string) => JsonObject
  readonly request: (body: JsonObject, path: string, files?: readonly FormFile[], method?: string) => object
  /** Facts of requests that no other format can express. They are compared only if both sides have this format. */
  readonly native?: (body: JsonObject) => object
  /** Facts of answers that only extensions of the published format can express. */
  readonly extensions?: RegExp
  /** @param raw the body, if it is not JSON. */
  readonly answer: (body: JsonObject, raw?: RawAnswer) => object
  /** Assembles the events of a stream into a whole answer. Absent in formats without streams. */
  readonly assemble?: (events: readonly Json[]) => JsonObject
  readonly grammar?: GrammarFactory
  readonly error: (status: number, headers: Headers, body: Json | undefined) => ErrorFacts
  /** Rules that a schema cannot express, for requests, whole answers and errors. */
  readonly lint: {
    readonly request: (
      body: JsonObject,
      headers: Headers,
      path: string,
      files?: readonly FormFile[],
      method?: string,
    ) => readonly Violation[]
    readonly answer: (
      body: JsonObject,
      headers: Headers,
      request: RequestOnWire,
      raw?: RawAnswer,
    ) => readonly Violation[]
    readonly error: (status: number, body: Json | undefined, headers: Headers) => readonly Violation[]
  }
  readonly rules: readonly Rule[]
}

/** A format of conversations. All of them have streams and a list of models. */
export interface Conversation extends Format {
  readonly models: NonNullable<Format['models']>
  readonly schemas: {
    readonly request: string
    readonly answer: string
    readonly event: string
    readonly error?: string
  }
  readonly request: (body: JsonObject, path: string) => RequestFacts
  readonly answer: (body: JsonObject) => AnswerFacts
  readonly assemble: (events: readonly Json[]) => JsonObject
  readonly grammar: GrammarFactory
  readonly lint: {
    readonly request: (body: JsonObject, headers: Headers) => readonly Violation[]
    readonly answer: (body: JsonObject, headers: Headers) => readonly Violation[]
    readonly error: Format['lint']['error']
  }
}

/**
 * Recognises requests whose path is fixed except for the query, and whose body states the model and the stream flag.
 */
export const recogniseAt =
  (path: string): Format['recognise'] =>
  (requested, body) =>
    requested.split('?')[0] === path
      ? { model: textOf(body['model']) ?? '', stream: body['stream'] === true }
      : undefined

/** Returns true if two requests have the same action. Always true in formats without actions. */
export const isSameAction = ({ action }: Format, one: ActionOf, other: ActionOf): boolean =>
  action === undefined || action(one.method, one.path) === action(other.method, other.path)

type ActionOf = Pick<RequestOnWire, 'method' | 'path'>

/** Returns the format whose base URL and model a format shares. */
export const baseFormatOf = ({ name, sharesBaseWith = name }: Format): string => sharesBaseWith

/** Returns the name of the published schema for a request, its answer or the events of its answer. */
export const schemaOf = (
  format: Format,
  on: 'request' | 'answer' | 'event',
  request: RequestOnWire,
): string | undefined => {
  const name = format.schemas[on]
  return typeof name === 'function' ? name(request.path, request) : name
}
