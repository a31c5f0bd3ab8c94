import { type CanonicalError, ERRORS, type ErrorKind } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireAnswer, WireEvent } from '../../canonical/wire.ts'
import { messageOf, retryAfterHeader, type TooLongMessage } from '../errors/error.ts'

/** AWS's exception for each error kind (docs/wire/converse.md#errors). */
const EXCEPTIONS: { readonly [K in ErrorKind]: string } = {
  'invalid-request': 'ValidationException',
  'context-too-long': 'ValidationException',
  unauthenticated: 'UnrecognizedClientException',
  'out-of-credit': 'PaymentRequiredException',
  forbidden: 'AccessDeniedException',
  'not-found': 'ResourceNotFoundException',
  'method-not-allowed': 'MethodNotAllowedException',
  conflict: 'ConflictException',
  'too-large': 'PayloadTooLargeException',
  'cannot-express': 'ValidationException',
  'rate-limited': 'ThrottlingException',
  cancelled: 'RequestCancelledException',
  internal: 'InternalServerException',
  'upstream-failed': 'ModelErrorException',
  unreachable: 'ModelErrorException',
  'upstream-account': 'ServiceUnavailableException',
  overloaded: 'ServiceUnavailableException',
  'timed-out': 'ModelTimeoutException',
}

/** Error codes for kinds that share an exception with other kinds. */
const CODES: { readonly [K in ErrorKind]?: string } = {
  'cannot-express': 'cannot_express',
  'upstream-account': 'upstream_account',
}

/** Message for a request that is too long, as worded by Bedrock's models. */
const TOO_LONG: TooLongMessage = {
  pattern: /^(?:input is too long for requested model|prompt is too long)/i,
  write: (tokens, maximum) => `prompt is too long: ${tokens} tokens > ${maximum} maximum`,
  else: 'Input is too long for requested model.',
}

/** Writes an error as an answer in this format. Clients read the exception from the header. */
export function writeError(error: CanonicalError, requestId: string): WireAnswer {
  return {
    status: error.httpStatus ?? ERRORS[error.kind].status,
    headers: {
      'x-amzn-errortype': EXCEPTIONS[error.kind],
      'x-amzn-requestid': requestId,
      ...retryAfterHeader(error),
    },
    body: errorBody(error),
  }
}

function errorBody(error: CanonicalError): JsonObject {
  const { kind, code = CODES[kind] } = error
  return { message: messageOf(error, TOO_LONG), ...(code === undefined ? {} : { code }) }
}

/** Exceptions allowed in a stream. Clients' types do not include any others. */
const STREAM_EXCEPTIONS: { readonly [exception: string]: string } = {
  InternalServerException: 'internalServerException',
  ModelErrorException: 'modelStreamErrorException',
  ValidationException: 'validationException',
  ThrottlingException: 'throttlingException',
  ServiceUnavailableException: 'serviceUnavailableException',
  ModelTimeoutException: 'modelStreamErrorException',
}

/** Writes an error as the exception that ends a stream (trap 75). */
export const errorEvent = (error: CanonicalError): WireEvent => ({
  event: STREAM_EXCEPTIONS[EXCEPTIONS[error.kind]] ?? 'modelStreamErrorException',
  data: JSON.stringify(errorBody(error)),
})
