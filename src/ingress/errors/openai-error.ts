import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObject, anyText, defined } from '../fields.ts'
import { classify, retryDelay } from './classify.ts'

type Table<Value> = ReadonlyMap<Json | undefined, Value>

/**
 * Creates the error readers for a format of OpenAI's family (docs/wire/errors.md#openai-codes).
 *
 * @param formatCodes error kinds by format-specific codes that are more precise than a status.
 * @param formatTypes HTTP statuses by format-specific types of errors inside answers.
 */
export function errorReader(
  formatCodes: { readonly [code: string]: ErrorKind } = {},
  formatTypes: { readonly [type: string]: number } = {},
) {
  const codes: Table<ErrorKind> = new Map<Json | undefined, ErrorKind>([...CODES, ...Object.entries(formatCodes)])
  const types: Table<number> = new Map<Json | undefined, number>([...TYPES, ...Object.entries(formatTypes)])
  const describe = (
    error: JsonObject,
    message: string | undefined,
    status: number,
    retryAfterSeconds?: number,
  ): CanonicalError => {
    const code = anyText(error['code'])
    const read: CanonicalError = {
      kind: codes.get(code) ?? errorKindOf(status),
      message: message ?? `The upstream answered with status ${status}.`,
      ...defined({ param: anyText(error['param']), code, retryAfterSeconds }),
      // Another upstream may have the earlier response. The status stays 400.
      ...(code === 'previous_response_not_found' ? { retry: true } : {}),
      status,
    }
    // OpenRouter puts the original upstream's message into the metadata.
    return classify(read, anyText(error['type']), anyText(anyObject(error['metadata'])?.['raw']))
  }

  return {
    /**
     * Reads an upstream's error answer. Vendors nest the message in different ways, and a proxy's answer may not be
     * JSON at all.
     */
    readError({ status, body, headers }: WireAnswer): CanonicalError {
      const error = anyObject(body['error']) ?? {}
      const message =
        anyText(error['message']) ?? anyText(body['message']) ?? anyText(body['detail']) ?? anyText(body['error'])
      return describe(error, message, status, retryDelay(error) ?? retryAfter(headers))
    },

    /** Reads an error inside a stream or under status 200, flat or nested in `error` (traps 75, 77). */
    readInnerError(body: JsonObject): CanonicalError {
      const error = anyObject(body['error']) ?? body
      return describe(error, anyText(error['message']) ?? anyText(body['error']), innerStatus(error, types))
    },
  }
}

/** Error kinds by code, for all formats of the family. */
const CODES: Table<ErrorKind> = new Map<Json | undefined, ErrorKind>([
  ['insufficient_quota', 'out-of-credit'],
  ['credit_balance_exhausted', 'out-of-credit'],
  ['server_is_overloaded', 'overloaded'],
])

/** Returns the status of an error inside an answer: a stated number, else the status for its type, else 502. */
function innerStatus({ code, status_code, status, type }: JsonObject, types: Table<number>): number {
  const statusField = code ?? status_code ?? status
  if (typeof statusField === 'number' && statusField >= 400 && statusField < 600) return statusField
  return types.get(type) ?? 502
}

/** HTTP statuses by error type, for all formats of the family. */
const TYPES: Table<number> = new Map<Json | undefined, number>([
  ['invalid_request_error', 400],
  ['image_generation_user_error', 400],
  ['authentication_error', 401],
  ['insufficient_quota', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['rate_limit_error', 429],
  ['overloaded_error', 503],
  ['service_unavailable_error', 503],
  ['timeout_error', 504],
])

/** Readers for the formats of the family that add no codes of their own. */
export const { readError, readInnerError } = errorReader()
