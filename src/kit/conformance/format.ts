import type { AnswerFacts, ErrorFacts, RequestFacts } from './facts.ts'
import type { GrammarFactory } from './grammar.ts'
import { type Json, type JsonObject, textOf } from './json.ts'
import type { Rule, Violation } from './rules.ts'
import type { SchemaException } from './schema.ts'

/** Headers by their lower-case names. */
export interface Headers {
  readonly [name: string]: string
}

/** The model and the stream flag of a request, from its path and body. */
export interface Addressed {
  readonly model: string
  readonly stream: boolean
}

/** One format: how it is spoken, what it means and which rules it has. */
export interface Format {
  readonly name: string
  /** The path below the base address that clients are given. */
  readonly path: (model: string, stream: boolean) => string
  /** Headers of a client, with its credential. */
  readonly headers: (key: string) => Headers
  /** The hand-written request with the model and, where the body says it, the stream flag. */
  readonly addressed: (body: JsonObject, model: string, stream: boolean) => JsonObject
  /** Reads the path below the base and the body; `undefined` where the path is not the format's. */
  readonly recognise: (path: string, body: JsonObject) => Addressed | undefined
  /** The list of models, as the upstream of the kit answers it, and its path below the base. */
  readonly models: { readonly path: string; readonly list: (ids: readonly string[]) => JsonObject }
  /** Names of schemas in `conformance/schemas/<name>.json`; a stream has a schema by event. */
  readonly schemas: {
    readonly request: string
    readonly answer: string
    readonly event: string
    readonly error?: string
  }
  readonly exceptions: readonly SchemaException[]
  readonly request: (body: JsonObject, path: string) => RequestFacts
  readonly answer: (body: JsonObject) => AnswerFacts
  /** The whole answer that the events of a stream add up to. */
  readonly assemble: (events: readonly Json[]) => JsonObject
  readonly error: (status: number, headers: Headers, body: Json | undefined) => ErrorFacts
  readonly grammar: GrammarFactory
  /** Rules for requests, whole answers and errors that a schema cannot express. */
  readonly lint: {
    readonly request: (body: JsonObject, headers: Headers) => readonly Violation[]
    readonly answer: (body: JsonObject, headers: Headers) => readonly Violation[]
    readonly error: (status: number, body: Json | undefined, headers: Headers) => readonly Violation[]
  }
  readonly rules: readonly Rule[]
}

/** Recognises requests of one fixed path that name model and stream in the body. */
export const recogniseAt =
  (path: string): Format['recognise'] =>
  (requested, body) =>
    requested === path ? { model: textOf(body['model']) ?? '', stream: body['stream'] === true } : undefined
