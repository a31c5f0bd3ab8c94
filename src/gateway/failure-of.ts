import { type CanonicalError, ERRORS, type FailureReason } from '../canonical/error.ts'
import { defined } from '../canonical/node.ts'
import type { Failure } from '../store/usage/row.ts'
import { connectionDetail } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { logMessage, toFailure } from './failures.ts'
import { withoutAddresses, withoutKeys } from './secrets.ts'

/** Reasons for failed connections, whose cause says more than the message. */
const CONNECTION_REASONS: ReadonlySet<FailureReason> = new Set([
  ...(['refused', 'dns', 'tls', 'unroutable', 'reset', 'connect-timeout', 'gateway'] as const),
])

/** Describes an upstream's failure for operators, without credentials and internal addresses. */
export function upstreamFailure(thrown: unknown, target: Target): Failure {
  const { error, cause } = toFailure(thrown)
  const reason = error.reason ?? (error.kind === 'internal' ? 'gateway' : 'reported')
  const detail = CONNECTION_REASONS.has(reason) ? connectionDetail(cause) : undefined
  const said = withoutAddresses(logMessage(error, target))
  return {
    reason,
    ...defined({ status: reason === 'status' ? (error.status ?? ERRORS[error.kind].status) : error.status }),
    said: detail === undefined ? said : `${said.replace(/\.$/, '')}: ${detail}.`,
  }
}

/** Maximum number of characters of the gateway's own message. */
const MAX_MESSAGE_LENGTH = 300

/** Describes the gateway's own error for operators. */
export const gatewayFailure = ({ message, reason = 'gateway' }: CanonicalError): Failure => ({
  reason,
  said: withoutAddresses(withoutKeys(message.slice(0, MAX_MESSAGE_LENGTH))),
})

/** Maximum number of characters of the message of an earlier attempt. */
const MAX_EARLIER_MESSAGE = 200

/** Returns the failure of an earlier attempt, with a message that a row can hold several times. */
export const withShortMessage = ({ said, ...failure }: Failure): Failure => ({
  ...failure,
  ...defined({ said: said?.slice(0, MAX_EARLIER_MESSAGE) }),
})
