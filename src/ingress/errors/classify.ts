import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { contextOf } from './context-length.ts'

/** The most of an upstream's words that is looked at; who is long-winded says it at the beginning. */
const LONGEST = 2000

/** What an upstream's code or words tell beyond the status it comes with. */
interface Row {
  readonly kind: ErrorKind
  /** The kinds the status alone may have told. */
  readonly of: readonly ErrorKind[]
  readonly codes?: RegExp
  readonly words?: RegExp
  /** What the error has instead: words where the upstream's are not for callers. */
  readonly instead?: Partial<Pick<CanonicalError, 'message' | 'code' | 'retry'>>
}

const NO_MODEL = {
  codes: /^(?:model_not_found|model_decommissioned|invalid_model|model_permission_blocked_\w+)$/i,
  words:
    /^(?:model not exist|invalid model(?: name)?:|model \S+ is not supported|\S+ is not a valid model id|(?:the )?model \S+ (?:does not exist|was not found|has been decommissioned)|project \S+ does not have access to model)/i,
}

/*
 * Faults of the gateway's account (trap 99) are told from the caller's by words that stand at the beginning: upstreams
 * quote their callers further on. Sources: the vendors' lists of errors and reports in public issue trackers, 2026-11.
 */
const ROWS: readonly Row[] = [
  {
    kind: 'out-of-credit',
    of: ['invalid-request', 'forbidden', 'rate-limited', 'upstream-failed'],
    codes:
      /^(?:insufficient_quota|insufficient_balance|credit_balance_exhausted|billing_\w+|arrearage|\w+_spend_limit_reached)$/i,
    words:
      /^(?:your credit balance is too low|you have reached your specified api usage limits|your team \S+ has either used all available credits|your newly created teams? doesn't have any credits|insufficient (?:balance|credits|funds)|billing hard limit|your account is not active)/i,
  },
  {
    kind: 'unauthenticated',
    of: ['invalid-request', 'forbidden'],
    codes: /^(?:invalid_api_key|account_deactivated|organization_disabled)$/i,
    words:
      /^(?:incorrect api key|invalid api key|api key (?:not valid|not found|expired|has been disabled)|this organization has been disabled|your api key has been (?:disabled|revoked))/i,
  },
  // A request that breaks a vendor's rules is refused with 403 by some; their words name the operator's team.
  {
    kind: 'invalid-request',
    of: ['forbidden'],
    codes: /^(?:content_policy_violation|content_filter|moderation_blocked)$/i,
    words:
      /violates? (?:our |the )?(?:usage|content|safety)|usage guidelines|content policy|requires moderation|input was flagged/i,
    instead: { message: "The request was refused by the upstream's content policy.", code: 'content_policy_violation' },
  },
  // A model that a channel lacks may be another's; some vendors say it with 400 or 403.
  { kind: 'not-found', of: ['forbidden'], ...NO_MODEL },
  { kind: 'invalid-request', of: ['invalid-request'], ...NO_MODEL, instead: { retry: true } },
]

/** Kinds behind which a context that is too small may stand: some upstreams say it with 413 or 500. */
const MAYBE_TOO_LONG: ReadonlySet<ErrorKind> = new Set(['invalid-request', 'too-large', 'upstream-failed'])

/**
 * An upstream's error as what it is about: beyond the status, its code and its words tell a request too long for the
 * model, a fault of the account the gateway has there, and a model that is not there (traps 98, 99).
 *
 * @param also what else the error says, where it is wrapped in another's words, or a type that is as good as a code.
 */
export function classified(error: CanonicalError, ...also: readonly (string | undefined)[]): CanonicalError {
  const said = [error.message, ...also].filter(text => text !== undefined).map(text => text.slice(0, LONGEST))
  const codes = [error.code, ...also]
  for (const { kind, of, codes: ofCode, words, instead } of ROWS) {
    if (!of.includes(error.kind)) continue
    if (codes.some(code => code !== undefined && ofCode?.test(code)) || said.some(text => words?.test(text)))
      return { ...error, kind, ...instead }
  }
  const context = MAYBE_TOO_LONG.has(error.kind) ? contextOf(codes, said.join('\n')) : undefined
  if (context === undefined) return error
  const { code: _, ...rest } = error
  return { ...rest, kind: 'context-too-long', ...(Object.keys(context).length === 0 ? {} : { context }) }
}
