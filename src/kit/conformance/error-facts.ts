import type { ErrorFacts } from './facts.ts'
import type { Headers } from './format.ts'
import { compact, type Json, type JsonObject, objectOf, textOf } from './json.ts'

/** Classes of errors by status. Callers decide by the class whether to retry. */
const CLASSES: { readonly [status: number]: string } = {
  400: 'invalid-request',
  401: 'authentication',
  403: 'permission',
  404: 'not-found',
  408: 'timeout',
  413: 'too-large',
  422: 'invalid-request',
  429: 'rate-limit',
  500: 'server',
  502: 'server',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
}

/** Returns the delay from `retry-after-ms` or `retry-after`, in seconds. Dates are ignored. */
export function retryAfterOf(headers: Headers): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN)
  const seconds = Number.isNaN(milliseconds) ? Number(headers['retry-after'] ?? Number.NaN) : milliseconds / 1000
  return Number.isNaN(seconds) ? undefined : seconds
}

/** Returns the facts of an error: its class, its message, and when the caller may retry. */
export const errorFactsOf = (status: number, headers: Headers, error: JsonObject): ErrorFacts =>
  compact({
    status,
    kind: CLASSES[status] ?? `other:${status}`,
    message: textOf(error['message']),
    retryAfter: retryAfterOf(headers),
  })

/** Returns the facts of an error whose body has an `error` object, as in OpenAI's and Anthropic's formats. */
export const nestedErrorFacts = (status: number, headers: Headers, body: Json | undefined): ErrorFacts =>
  errorFactsOf(status, headers, objectOf(objectOf(body)['error']))
