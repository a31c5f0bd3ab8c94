import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObjects, anyText, defined } from '../fields.ts'
import { classify } from './classify.ts'

/**
 * Error kinds by status, in addition to the common table: 498 is Cohere's status for an invalid key
 * (docs/wire/rerank.md#errors).
 */
const BY_STATUS: { readonly [status: number]: ErrorKind } = { 498: 'unauthenticated' }

/**
 * Reads an error answer in any shape that embedding and rerank services use: `{message}`, `{detail}` as a string or a
 * list of `{loc, msg}`, `{error}` as a string or an object with a message. Accepts any body.
 */
export function readRetrievalError({ status, body, headers }: WireAnswer): CanonicalError {
  const inner = isObject(body['error']) ? body['error'] : undefined
  const [first] = anyObjects(body['detail'])
  const code = anyText(body['code']) ?? anyText(inner?.['code'])
  return classify({
    kind: BY_STATUS[status] ?? errorKindOf(status),
    message: retrievalMessage(body) ?? `The upstream answered with status ${status}.`,
    ...defined({
      param: anyText(inner?.['param']) ?? (first && fieldPathOf(first)),
      code,
      retryAfterSeconds: retryAfter(headers),
    }),
    status,
  })
}

/** Finds the message in an error body of any of these shapes. Returns undefined if there is none. */
export function retrievalMessage(body: JsonObject): string | undefined {
  const { message, detail, error } = body as { readonly [field: string]: Json | undefined }
  return (
    anyText(message) ??
    anyText(detail) ??
    (isObject(detail) ? retrievalMessage(detail) : faultsIn(detail)) ??
    anyText(error) ??
    (isObject(error) ? anyText(error['message']) : undefined)
  )
}

function faultsIn(detail: Json | undefined): string | undefined {
  const texts = anyObjects(detail).map(fault => [fieldPathOf(fault), anyText(fault['msg'])].filter(Boolean).join(': '))
  return texts.length === 0 ? undefined : texts.join('; ')
}

/** Converts `["body", "documents", 0]` to `documents.0`. */
function fieldPathOf({ loc }: JsonObject): string | undefined {
  if (!Array.isArray(loc)) return undefined
  const steps = loc.filter(step => typeof step === 'string' || typeof step === 'number')
  return (steps[0] === 'body' ? steps.slice(1) : steps).join('.') || undefined
}
