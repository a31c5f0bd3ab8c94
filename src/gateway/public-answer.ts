import type { CanonicalError, ErrorKind } from '../canonical/error.ts'
import type { CanonicalEvent, ResultEnd, ResultStart } from '../canonical/event.ts'
import { defined, isObject, type JsonObject, type Node } from '../canonical/node.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { WRITERS } from '../egress/index.ts'
import type { Target } from '../upstreams/router.ts'
import type { Call } from './call.ts'
import { type Scrub, scrubber, scrubJson } from './scrub.ts'
import type { Attempt } from './types.ts'

/**
 * Completes the head of an answer: id, time, and the model's name for the caller. This is the public id if the channel
 * maps names, or else the name that the upstream reports. The writer adds fields that a native upstream omitted.
 */
export function withHead<T extends CanonicalResult | ResultStart>(
  result: T,
  { incoming: { call }, request, target, echo }: Attempt,
): T {
  const { model } = request
  const head = {
    ...result,
    // Clients assemble a stream by id and drop chunks whose id is empty.
    id: result.id === '' && 'type' in result ? call.id : (result.id ?? call.id),
    model: target.upstreamModel === model ? (result.model ?? model) : model,
    createdAt: result.createdAt ?? Math.floor(Date.now() / 1000),
    ...(target.native ? COMPLETED_BY_WRITER : {}),
  }
  return echo === undefined ? head : echo.apply(head, result.id !== undefined && result.id !== '')
}

/** Adds the completion time, by the gateway's clock, if the format has a field for it. */
export function withCompletionTime<T extends CanonicalResult | ResultEnd>(result: T, { format }: Call): T {
  if (WRITERS[format]!.completionTime !== true) return result
  const spelling = {
    ...result.spelling,
    [format]: { ...result.spelling?.[format], completedAt: Math.floor(Date.now() / 1000) },
  }
  return { ...result, spelling }
}

const COMPLETED_BY_WRITER = { complete: true } as const

const ACCOUNT_ERROR: CanonicalError = {
  kind: 'upstream-account',
  message: "The upstream does not serve the gateway's account at present.",
}
const REFUSED_ERROR: CanonicalError = {
  kind: 'upstream-failed',
  message: "The upstream refused the gateway's request.",
}

/**
 * Fixed errors for failures that concern the gateway and never the caller, by kind: problems with the gateway's account
 * (trap 99), and refusals of the gateway itself.
 */
const GATEWAY_ERRORS: { readonly [K in ErrorKind]?: CanonicalError } = {
  unauthenticated: ACCOUNT_ERROR,
  forbidden: ACCOUNT_ERROR,
  'out-of-credit': ACCOUNT_ERROR,
  'upstream-account': ACCOUNT_ERROR,
  'method-not-allowed': REFUSED_ERROR,
  cancelled: REFUSED_ERROR,
  internal: REFUSED_ERROR,
}

/**
 * Returns an upstream's error as the caller may see it. An error that concerns the gateway gets a fixed message. The
 * upstream's names and credentials are removed from every field of any other error.
 */
export function publicError(error: CanonicalError, target: Target, model: string): CanonicalError {
  const fixedError = GATEWAY_ERRORS[error.kind]
  if (fixedError === ACCOUNT_ERROR && error.kind === 'upstream-account')
    return { ...fixedError, ...defined({ retryAfterSeconds: error.retryAfterSeconds }) }
  if (fixedError !== undefined) return fixedError
  const { kind, ...fields } = error
  return { ...(scrubJson(fields as JsonObject, scrubber(target, model)) as Omit<CanonicalError, 'kind'>), kind }
}

/** Returns a result as the caller may see it, with scrubbed errors. */
export function publicResult(result: CanonicalResult, target: Target, model: string): CanonicalResult {
  const { error, candidates } = result
  return {
    ...scrubErrors(result, target, model),
    candidates: candidates.map(candidate => scrubErrors(candidate, target, model)),
    ...(error === undefined ? {} : { error: publicError(error, target, model) }),
  }
}

/** Returns an event as the caller may see it. Besides `error` events, only starts and ends can contain errors. */
export function publicEvent(event: CanonicalEvent, target: Target, model: string): CanonicalEvent {
  switch (event.type) {
    case 'error':
      return { ...event, error: publicError(event.error, target, model) }
    case 'result-start':
    case 'candidate-end':
    case 'result-end':
      return scrubErrors(event, target, model)
    default:
      return event
  }
}

/** Scrubs errors in the extras and the spelling of a node. Returns the same node if it has none. */
function scrubErrors<T extends Node>(node: T, target: Target, model: string): T {
  const { extras, spelling } = node
  const hasErrorInExtras = extras !== undefined && Object.values(extras).some(hasError)
  const hasErrorInSpelling = spelling !== undefined && Object.values(spelling).some(containsAnswerWithError)
  if (!hasErrorInExtras && !hasErrorInSpelling) return node
  const scrub = scrubber(target, model)
  return {
    ...node,
    ...(hasErrorInExtras ? { extras: mapValues(extras, fields => withoutSecrets(fields, scrub)) } : {}),
    ...(hasErrorInSpelling ? { spelling: mapValues(spelling, fields => withoutSecretsWithin(fields, scrub)) } : {}),
  }
}

const mapValues = <T>(fields: { readonly [name: string]: T }, map: (value: T) => T): { [name: string]: T } =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value)]))

const hasError = (fields: JsonObject): boolean => ERROR_FIELDS.some(field => fields[field] != null)

/** Returns true if `spelling` holds a whole wire answer that contains an error. */
function containsAnswerWithError(fields: JsonObject): boolean {
  for (const name in fields) if (isObject(fields[name]) && hasError(fields[name])) return true
  return false
}

const withoutSecretsWithin = (fields: JsonObject, scrub: Scrub): JsonObject =>
  mapValues(fields, value => (isObject(value) && hasError(value) ? withoutSecrets(value, scrub) : value))

const withoutSecrets = (fields: JsonObject, scrub: Scrub): JsonObject => ({
  ...fields,
  ...Object.fromEntries(
    ERROR_FIELDS.flatMap(field => (fields[field] == null ? [] : [[field, scrubJson(fields[field], scrub)]])),
  ),
})

/** Fields that hold errors. */
const ERROR_FIELDS = ['error', 'errors']
