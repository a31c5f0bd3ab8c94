import type { AnswerFacts, ErrorFacts, RequestFacts } from './facts.ts'
import type { GrammarFactory } from './grammar.ts'
import { type Json, type JsonObject, textOf } from './json.ts'
import type { Rule, Violation } from './rules.ts'
import type { SchemaException } from './schema.ts'

/** What callers want of an endpoint. Formats of one work can be translated into each other. */
export const WORKS = [
  ...(['conversation', 'completion', 'tokens', 'models', 'embeddings', 'rerank'] as const),
  ...(['images', 'speech', 'transcription', 'videos'] as const),
] as const
export type Work = (typeof WORKS)[number]

/** Headers by their lower-case names. */
export interface Headers {
  readonly [name: string]: string
}

/** The model and the stream flag of a request, from its path and body. */
export interface Addressed {
  readonly model: string
  readonly stream: boolean
}

/** A file of a form. */
export interface FormFile {
  /** The field of the form. */
  readonly field: string
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
}

/** A request as it goes over the wire, without its headers. */
export interface Asked {
  readonly method: string
  /** The path below the base address, with its query. */
  readonly path: string
  /** The JSON body or the fields of the form; a field that occurs several times is a list. */
  readonly body: JsonObject
  /** The files of the form; `undefined` for JSON and for requests without a body. */
  readonly files?: readonly FormFile[] | undefined
}

/** The body of a whole answer that is no JSON, such as sound. */
export interface RawAnswer {
  readonly type: string
  readonly bytes: Buffer
}

/** The name of a schema in `conformance/schemas/<name of the format>.json`, for the path of a request and its body. */
export type SchemaName = string | ((path: string, asked: Omit<Asked, 'path'>) => string | undefined)

/** One format: how it is spoken, what it means and which rules it has. */
export interface Format {
  readonly name: string
  readonly work: Work
  /** The format whose base address and model it shares; its own by default. */
  readonly home?: string
  /** The end of the base address that clients are given. */
  readonly base: '/v1' | ''
  /** The usual path below the base address. */
  readonly path: (model: string, stream: boolean, body: JsonObject) => string
  /** Headers of a client, with its credential. */
  readonly headers: (key: string) => Headers
  /** The hand-written request with the model and, where the body says it, the stream flag. */
  readonly addressed: (body: JsonObject, model: string, stream: boolean) => JsonObject
  /** Reads the path below the base and the body; `undefined` where the path is not the format's. */
  readonly recognise: (path: string, body: JsonObject, method: string) => Addressed | undefined
  /** What a request asks for, in formats with several works of one path: creating a job is not asking for its state. */
  readonly action?: (method: string, path: string) => string | undefined
  /** The list of models, as the upstream of the kit answers it beside the scenario, and its path below the base. */
  readonly models?: { readonly path: string; readonly list: (ids: readonly string[]) => JsonObject }
  /** Published schemas; a stream has a schema by event. */
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
  readonly request: (body: JsonObject, path: string, files?: readonly FormFile[], method?: string) => object
  /** @param raw the body if it is no JSON. */
  readonly answer: (body: JsonObject, raw?: RawAnswer) => object
  /** Streams, in formats that have any: the whole answer that events add up to, and the rules of their order. */
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

/** A format of conversations: every one has streams and a list of models. */
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

/** The format whose base address and model it shares. */
export const homeOf = ({ name, home = name }: Format): string => home

/** The published schema for a request, for its answer or for the events of that. */
export const schemaOf = (format: Format, on: 'request' | 'answer' | 'event', asked: Asked): string | undefined => {
  const name = format.schemas[on]
  return typeof name === 'function' ? name(asked.path, asked) : name
}
