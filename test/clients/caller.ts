import type { Format, Json, JsonObject } from '../../src/canonical/node.ts'

/** An answer as a client understood it, independent of formats. */
export interface Got {
  readonly text: string
  readonly thought: string
  readonly calls: readonly { readonly name: string; readonly arguments: Json }[]
  /** Finish reason in the client's own word. */
  readonly finish: string | undefined
  readonly input: number | undefined
  readonly output: number | undefined
}

/** Input for a model. The outputs answer the calls of the turn before, in order. */
export interface Turn {
  readonly text?: string
  /** A PNG in base64. */
  readonly image?: string
  readonly outputs?: readonly JsonObject[]
}

export interface Ask {
  readonly stream: boolean
  readonly tools?: boolean
  readonly schema?: boolean
  readonly thinks?: boolean
  readonly signal?: AbortSignal
  /** Called with every chunk of text as it arrives. */
  readonly onText?: () => void
}

/** A conversation in a client's own types. It stores the history in the way of the client's manual. */
export interface Talk {
  say(turn: Turn, ask: Ask): Promise<Got>
}

export interface Failure {
  /** Name of the client's own error class. */
  readonly name: string
  readonly status: number | undefined
  readonly message: string
}

export interface TestServer {
  readonly address: string
  readonly key: string
  readonly model?: string
  readonly retries?: number
  readonly headers?: { readonly [name: string]: string }
}

/** A real client that uses one format. */
export interface Caller {
  readonly name: string
  readonly format: Format
  /** Its own words for a normal end and for tool calls. */
  readonly words: { readonly stop: string; readonly calls: string }
  /** Returns the error class that it throws for a status. */
  readonly errors: (status: number) => string
  open(testServer: TestServer): Talk
  failure(thrown: unknown): Failure
}

/** Returns arguments as JSON, or as text if they are not JSON. */
export function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export const RULES = 'You answer briefly.'
export const LIMIT = 1000

export const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'integer' } },
  required: ['answer'],
  additionalProperties: false,
}

export const TOOLS = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  {
    name: 'get_time',
    description: 'The time of a zone.',
    parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  },
]
