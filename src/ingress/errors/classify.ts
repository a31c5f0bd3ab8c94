import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { boundedDelay } from '../../canonical/retry-after.ts'
import { anyObjects } from '../fields.ts'
import { contextOf } from './context-length.ts'

/** Maximum length of an upstream's message that is matched, in UTF-16 units. The relevant words come first. */
const MAX_MATCHED_LENGTH = 2000

/** Rule for codes or messages that are more precise than the status of an error. */
interface Row {
  readonly kind: ErrorKind
  /** Kinds that the row may replace. They are derived from the status. */
  readonly kinds: readonly ErrorKind[]
  readonly codes?: RegExp
  readonly message?: RegExp
  /** Fields to replace, such as a message that callers must not see. */
  readonly replacement?: Partial<Pick<CanonicalError, 'message' | 'code' | 'retry'>>
}

const NO_MODEL = {
  codes: /^(?:model_not_found|model_decommissioned|invalid_model|model_permission_blocked_\w+)$/i,
  message:
    /^(?:model not exist|invalid model(?: name)?:|model \S+ is not supported|\S+ is not a valid model id|(?:the )?model \S+ (?:does not exist|was not found|has been decommissioned)|project \S+ does not have access to model|you are not allowed to (?:generate embeddings|sample) from this model)/i,
}

/*
 * Rows that distinguish faults of the gateway's account (trap 99) from faults of the caller. Messages are matched only
 * at the beginning, because upstreams quote the request later in the message. Sources: the vendors' lists of errors and
 * reports in public issue trackers, 2026-11.
 */
const ROWS: readonly Row[] = [
  {
    kind: 'out-of-credit',
    kinds: ['invalid-request', 'forbidden', 'rate-limited', 'upstream-failed'],
    codes:
      /^(?:insufficient_quota|insufficient_balance|credit_balance_exhausted|billing_\w+|arrearage|\w+_spend_limit_reached)$/i,
    message:
      /^(?:your credit balance is too low|you have reached your specified api usage limits|your team \S+ has either used all available credits|your newly created teams? doesn't have any credits|insufficient (?:balance|credits|funds)|billing hard limit|your account is not active)/i,
  },
  {
    kind: 'unauthenticated',
    kinds: ['invalid-request', 'forbidden'],
    codes: /^(?:invalid_api_key|account_deactivated|organization_disabled)$/i,
    message:
      /^(?:incorrect api key|invalid api key|api key (?:not valid|not found|expired|has been disabled)|this organization has been disabled|your api key has been (?:disabled|revoked))/i,
  },
  // OpenAI and Groq answer a request that exceeds a whole minute's tokens with 429 and the name of the operator's
  // organization. Waiting does not help, and smaller requests are not affected. Another account may have a higher limit.
  {
    kind: 'too-large',
    kinds: ['rate-limited', 'too-large'],
    message: /^request too large for /i,
    replacement: {
      message:
        'The request has more tokens than the upstream accepts in a minute. Send less, or set a lower output limit.',
      code: 'request_too_large',
      retry: true,
    },
  },
  // Some vendors answer a request that violates their content policy with 403 and a message that names the operator's
  // team.
  {
    kind: 'invalid-request',
    kinds: ['forbidden'],
    codes: /^(?:content_policy_violation|content_filter|moderation_blocked)$/i,
    message:
      /violates? (?:our |the )?(?:usage|content|safety)|usage guidelines|content policy|requires moderation|input was flagged/i,
    replacement: {
      message: "The request was refused by the upstream's content policy.",
      code: 'content_policy_violation',
    },
  },
  // Some vendors report a missing model with 400 or 403. Another channel may have the model.
  { kind: 'not-found', kinds: ['forbidden'], ...NO_MODEL },
  { kind: 'invalid-request', kinds: ['invalid-request'], ...NO_MODEL, replacement: { retry: true } },
]

/** Kinds, derived from the status, that may stand for a context overflow. Some upstreams report it with 413 or 500. */
const MAY_BE_TOO_LONG: ReadonlySet<ErrorKind> = new Set(['invalid-request', 'too-large', 'upstream-failed'])

/** Error kinds by the codes of another instance of this gateway. */
const GATEWAY_CODES: ReadonlyMap<string | undefined, ErrorKind> = new Map([
  ['cannot_express', 'cannot-express'],
  ['upstream_account', 'upstream-account'],
])

/**
 * Refines the kind of an upstream's error by code and message, for a request that is too long for the model, a fault of
 * the gateway's account, or a missing model (traps 98, 99).
 *
 * @param also further strings in the error, such as a wrapped message or a type that serves as a code.
 */
export function classify(error: CanonicalError, ...also: readonly (string | undefined)[]): CanonicalError {
  const gatewayKind = GATEWAY_CODES.get(error.code)
  if (gatewayKind !== undefined) return { ...error, kind: gatewayKind }
  const texts = [error.message, ...also]
    .filter(text => text !== undefined)
    .map(text => text.slice(0, MAX_MATCHED_LENGTH))
  const codes = [error.code, ...also]
  for (const { kind, kinds, codes: rowCodes, message, replacement } of ROWS) {
    if (!kinds.includes(error.kind)) continue
    if (codes.some(code => code !== undefined && rowCodes?.test(code)) || texts.some(text => message?.test(text)))
      return { ...error, kind, ...replacement }
  }
  const context = MAY_BE_TOO_LONG.has(error.kind) ? contextOf(codes, texts.join('\n')) : undefined
  if (context === undefined) return error
  const { code: _, ...rest } = error
  return { ...rest, kind: 'context-too-long', ...(Object.keys(context).length === 0 ? {} : { context }) }
}

/**
 * Reads the retry delay, in seconds, from `retryDelay: "3.5s"` in the details of an error. Google sends it at its
 * endpoints of other vendors' formats, too (docs/wire/errors.md#google-statuses).
 */
export function retryDelay(error: JsonObject | undefined): number | undefined {
  for (const { retryDelay: delay } of anyObjects(error?.['details'])) {
    const seconds = typeof delay === 'string' ? Number.parseFloat(delay) : Number.NaN
    if (Number.isFinite(seconds)) return boundedDelay(seconds)
  }
  return undefined
}
