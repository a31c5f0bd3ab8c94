import type { AnswerFacts, ErrorFacts, RequestFacts } from './facts.ts'
import type { GrammarFactory } from './grammar.ts'
import { type Json, type JsonObject, textOf } from './json.ts'
import type { Rule, Violation } from './rules.ts'
import type { SchemaException } from './schema.ts'

/** Kinds of work that callers request of an endpoint. Formats of one work can be translated into each other. */
export const WORKS = [
  ...(['conversation', 'completion', 'tokens', 'models', 'embeddings', 'rerank'] as const),
  ...(['images', 'speech', 'transcription', 'videos'] as const),
] as const
export type Work = (typeof WORKS)[number]

/** Headers by lower-case name. */
export interface Headers {
  readonly [name: string]: string
}

/** Model and stream flag of a request, from its path and body. */
export interface Addressed {
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
export interface Asked {
  readonly method: string
  /** Path below the base URL, with the query. */
  readonly path: string
  /** JSON body, or the fields of the form. A field that occurs several times is a list. */
  readonly body: JsonObject
  /** Files of the form. Undefined for JSON and for requests without a body. */
  readonly files?: readonly FormFile[] | undefined
}

/** Body of a whole answer that is not JSON, such as sound. */
export interface RawAnswer {
  readonly type: string
  readonly bytes: Buffer
}

/** The name of a schema in `conformance/schemas/<name of the format>.json`, for the path of a request and its body. */
export type SchemaName = string | ((path: string, asked: Omit<Asked, 'path'>) => string | undefined)

/** Versions of a format that requests name in a header and that take different requests. */
export interface Versions {
  /** From the oldest to the newest. The first one is the default. */
  readonly names: readonly string[]
  /** Headers of a client of a version, with its credential. */
  readonly headers: (version: string, key: string) => Headers
  /** Returns the version that a request names. */
  readonly of: (headers: Headers) => string | undefined
  /** Returns a request without what a version refuses. */
  readonly allowed: (version: string, body: JsonObject) => JsonObject
  /** Body of the answer, with status 400, to a request that its version refuses. */
  readonly refusal: JsonObject
}

/** A format over a WebSocket: a frame is a request, and each event of its answer is a frame. */
export interface Turns {
  /** Returns the frame of a request. */
  readonly frame: (body: JsonObject) => JsonObject
  /** Reads the request in a frame. Undefined if the frame requests no answer. */
  readonly body: (frame: JsonObject) => JsonObject | undefined
  /** Whether an event is the last one of its answer. */
  readonly isLast: (event: JsonObject) => boolean
  /** Returns the frame of an error, and reads one. */
  readonly errorFrame: (error: TurnError) => JsonObject
  readonly errorIn: (frame: JsonObject) => TurnError | undefined
}

/** An error in the place of an answer, as HTTP has it. */
export interface TurnError {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonObject
}

/** One format: its wire form, its meaning and its rules. */
export interface Format {
  readonly name: string
  readonly work: Work
  /** Format with which it shares base URL and model. Itself by default. */
  readonly home?: string
  /** Format whose files of a scenario it uses, if the scenario has none for it. */
  readonly files?: string
  /** Absent for formats over HTTP. */
  readonly turns?: Turns
  /** End of the base URL that clients are configured with. */
  readonly base: '/v1' | ''
  /** Default path below the base URL. */
  readonly path: (model: string, stream: boolean, body: JsonObject) => string
  /** Headers of a client, with its credential. */
  readonly headers: (key: string) => Headers
  readonly versions?: Versions
  /** Returns the hand-written request with the model and, if the format has it in the body, the stream flag. */
  readonly addressed: (body: JsonObject, model: string, stream: boolean) => JsonObject
  /** Reads the path below the base URL and the body. Undefined if the path does not belong to the format. */
  readonly recognise: (path: string, body: JsonObject, method: string) => Addressed | undefined
  /** Action of a request, in formats with several actions: a new job, or the state of a job. */
  readonly action?: (method: string, path: string) => string | undefined
  /** The list of models, as the upstream of the kit answers it beside the scenario, and its path below the base. */
  readonly models?: { readonly path: string; readonly list: (ids: readonly string[]) => JsonObject }
  /** Published schemas. A stream has one schema per event. */
  readonly schemas: {
    readonly request?: SchemaName
    readonly answer?: SchemaName
    readonly event?: SchemaName
    readonly error?: string
  }
  readonly exceptions: readonly SchemaException[]
  /** Requests, and answers or events, as a reader of the format takes them, where it accepts several spellings. */
  readonly asRead?: {
    readonly request: (body: JsonObject) => JsonObject
    readonly answer?: (body: JsonObject) => JsonObject
  }
  /** The end of the lines of its streams; a line feed by default. */
  readonly newline?: '\r\n'
  /** A written whole answer as the upstream gives it to a request of a path, in formats with several methods. */
  readonly answered?: (answer: JsonObject, path: string) => JsonObject
  readonly request: (body: JsonObject, path: string, files?: readonly FormFile[], method?: string) => object
  /** Facts of answers that only extensions of the published format express. */
  readonly extensions?: RegExp
  /** @param raw the body if it is no JSON. */
  readonly answer: (body: JsonObject, raw?: RawAnswer) => object
  /** Streams, for formats that have them: the whole answer that the events add up to, and the rules of their order. */
  readonly assemble?: (events: readonly Json[]) => JsonObject
  readonly grammar?: GrammarFactory
  readonly error: (status: number, headers: Headers, body: Json | undefined) => ErrorFacts
  /** Rules for requests, whole answers and errors that a schema cannot express. */
  readonly lint: {
    readonly request: (
      body: JsonObject,
      headers: Headers,
      path: string,
      files?: readonly FormFile[],
      method?: string,
    ) => readonly Violation[]
    readonly answer: (body: JsonObject, headers: Headers, asked: Asked, raw?: RawAnswer) => readonly Violation[]
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

/** Recognises requests of one fixed path, with any query, that name model and stream in the body. */
export const recogniseAt =
  (path: string): Format['recognise'] =>
  (requested, body) =>
    requested.split('?')[0] === path
      ? { model: textOf(body['model']) ?? '', stream: body['stream'] === true }
      : undefined

/** Whether a request asks for the same as another; every request of a format without actions does. */
export const isSameAction = ({ action }: Format, one: ActionOf, other: ActionOf): boolean =>
  action === undefined || action(one.method, one.path) === action(other.method, other.path)

type ActionOf = Pick<Asked, 'method' | 'path'>

/** Returns the format with which a format shares base URL and model. */
export const homeOf = ({ name, home = name }: Format): string => home

/** The published schema for a request, for its answer or for the events of that. */
export const schemaOf = (format: Format, on: 'request' | 'answer' | 'event', asked: Asked): string | undefined => {
  const name = format.schemas[on]
  return typeof name === 'function' ? name(asked.path, asked) : name
}
