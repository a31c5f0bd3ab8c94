import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classify } from '../errors/classify.ts'
import { anyText, defined } from '../fields.ts'

/** Error kinds by the lower-case name of the AWS exception (docs/wire/converse.md#errors). */
const KINDS: { readonly [exception: string]: ErrorKind } = {
  accessdeniedexception: 'forbidden',
  unrecognizedclientexception: 'unauthenticated',
  invalidsignatureexception: 'unauthenticated',
  incompletesignatureexception: 'unauthenticated',
  missingauthenticationtokenexception: 'unauthenticated',
  invalidclienttokenid: 'unauthenticated',
  expiredtokenexception: 'unauthenticated',
  validationexception: 'invalid-request',
  resourcenotfoundexception: 'not-found',
  conflictexception: 'conflict',
  throttlingexception: 'rate-limited',
  servicequotaexceededexception: 'rate-limited',
  modelnotreadyexception: 'overloaded',
  serviceunavailableexception: 'overloaded',
  modeltimeoutexception: 'timed-out',
  modelerrorexception: 'upstream-failed',
  modelstreamerrorexception: 'upstream-failed',
  internalserverexception: 'upstream-failed',
}

/** Reads an upstream's error answer. Accepts any body. */
export function readError({ status, headers, body }: WireAnswer): CanonicalError {
  return classify({
    kind: kindOf(exceptionOf(headers['x-amzn-errortype'] ?? anyText(body['__type'])), errorKindOf(status)),
    message: messageIn(body) ?? `The upstream answered with status ${status}.`,
    ...defined({ code: anyText(body['code']), retryAfterSeconds: retryAfter(headers) }),
    status,
  })
}

/** Reads an exception inside a stream, or an error under status 200 (trap 77). */
export const readException = (name: string | undefined, body: JsonObject): CanonicalError =>
  classify({
    kind: kindOf(exceptionOf(name ?? anyText(body['__type'])), 'upstream-failed'),
    message: messageIn(body) ?? 'The upstream failed.',
    ...defined({ code: anyText(body['code']) }),
  })

/** Returns the message of an error. AWS writes the field name with either a lower-case or an upper-case initial. */
const messageIn = (body: JsonObject): string | undefined => anyText(body['message']) ?? anyText(body['Message'])

/** Returns the name of an exception in lower case, without its namespace and the URL after it. */
const exceptionOf = (name: string | undefined): string =>
  name === undefined ? '' : (name.split(':')[0]!.split('#').at(-1) ?? '').toLowerCase()

const kindOf = (exception: string, otherwise: ErrorKind): ErrorKind =>
  Object.hasOwn(KINDS, exception) ? KINDS[exception]! : otherwise
