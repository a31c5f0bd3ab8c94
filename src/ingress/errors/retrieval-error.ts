import { type CanonicalError, type ErrorKind, kindOf } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObjects, anyText, defined } from '../fields.ts'
import { classified } from './classify.ts'
import { retryAfter } from './retry-after.ts'

/** Codes and statuses that say more than the common table knows; 498 is Cohere's word for a wrong key (FORMATS §9). */
const BY_CODE: ReadonlyMap<string | undefined, ErrorKind> = new Map<string | undefined, ErrorKind>([
  ['cannot_express', 'cannot-express'],
  ['upstream_account', 'upstream-account'],
])
const BY_STATUS: { readonly [status: number]: ErrorKind } = { 498: 'unauthenticated' }

/**
 * An error answer in any of the shapes in which retrieval services complain: `{message}`, `{detail}` as a text or as a
 * list of `{loc, msg}`, `{error}` as a text or as an object with a message. Total on any body.
 */
export function readRetrievalError({ status, body, headers }: WireAnswer): CanonicalError {
  const inner = isObject(body['error']) ? body['error'] : undefined
  const [first] = anyObjects(body['detail'])
  const code = anyText(body['code']) ?? anyText(inner?.['code'])
  return classified({
    kind: BY_CODE.get(code) ?? BY_STATUS[status] ?? kindOf(status),
    message: retrievalMessage(body) ?? `The upstream answered with status ${status}.`,
    ...defined({
      param: anyText(inner?.['param']) ?? (first && placeOf(first)),
      code,
      retryAfterSeconds: retryAfter(headers),
    }),
    status,
  })
}

/** The words of a complaint, wherever they stand; undefined where there are none. */
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
  const said = anyObjects(detail).map(fault => [placeOf(fault), anyText(fault['msg'])].filter(Boolean).join(': '))
  return said.length === 0 ? undefined : said.join('; ')
}

/** `["body", "documents", 0]` is `documents.0`. */
function placeOf({ loc }: JsonObject): string | undefined {
  if (!Array.isArray(loc)) return undefined
  const steps = loc.filter(step => typeof step === 'string' || typeof step === 'number')
  return (steps[0] === 'body' ? steps.slice(1) : steps).join('.') || undefined
}
