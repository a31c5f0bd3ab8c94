import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classify, retryDelay } from '../errors/classify.ts'
import { anyObject, anyText, defined } from '../fields.ts'
import { FORMAT } from './wire.ts'

/**
 * Error kinds by Anthropic's error type (docs/wire/errors.md#anthropic-types). The two general types are missing,
 * because their kind depends on the status.
 */
const KINDS: { readonly [type: string]: ErrorKind } = {
  authentication_error: 'unauthenticated',
  billing_error: 'out-of-credit',
  permission_error: 'forbidden',
  not_found_error: 'not-found',
  conflict_error: 'conflict',
  request_too_large: 'too-large',
  rate_limit_error: 'rate-limited',
  timeout_error: 'timed-out',
  overloaded_error: 'overloaded',
}

/** Reads an upstream's error answer. Accepts any body. */
export function readError({ status, headers, body }: WireAnswer): CanonicalError {
  const message = anyText(anyObject(body['error'])?.['message']) ?? anyText(body['message']) ?? anyText(body['error'])
  return classify({
    kind: kindFor(body, status),
    message: message ?? `The upstream answered with status ${status}.`,
    ...defined({
      code: codeOf(body),
      retryAfterSeconds: retryDelay(anyObject(body['error'])) ?? retryAfter(headers),
      extras: detailsOf(body),
    }),
    status,
  })
}

/** Reads an error inside a stream or under status 200 (trap 77). */
export function readInnerError(body: JsonObject): CanonicalError {
  const error = anyObject(body['error'])
  return classify({
    kind: kindFor(body, error?.['type'] === 'invalid_request_error' ? 400 : 502),
    message: anyText(error?.['message']) ?? anyText(body['error']) ?? 'The upstream failed.',
    ...defined({ code: codeOf(body), extras: detailsOf(body) }),
  })
}

function kindFor(body: JsonObject, status: number): ErrorKind {
  const type = anyText(anyObject(body['error'])?.['type']) ?? ''
  return Object.hasOwn(KINDS, type) ? KINDS[type]! : errorKindOf(status)
}

/** Reads the error code: `details.error_code`, or the `code` of compatible upstreams. */
function codeOf(body: JsonObject): string | undefined {
  const error = anyObject(body['error'])
  return anyText(anyObject(error?.['details'])?.['error_code']) ?? anyText(error?.['code'])
}

/** Reads the details beside the code, such as the `paths` of images that are too large. */
function detailsOf(body: JsonObject): Node['extras'] {
  const { error_code: _, ...details } = anyObject(anyObject(body['error'])?.['details']) ?? {}
  return Object.keys(details).length === 0 ? undefined : { [FORMAT]: { details } }
}
