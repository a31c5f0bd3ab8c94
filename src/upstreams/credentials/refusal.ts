import { type Headers, headerValue } from '../channel/headers.ts'
import { clockAdvice } from '../clock.ts'

/* Refusals of a channel's credential, and advice for operators. */

/** The head of an answer that may refuse a credential. */
interface AnswerHead {
  readonly status: number
  readonly headers: Headers
}

/** Matches exceptions with which AWS refuses the credential itself, under status 403 (docs/wire/converse.md#errors). */
const CREDENTIAL_EXCEPTIONS =
  /^(?:ExpiredToken|UnrecognizedClient|InvalidSignature|InvalidClientTokenId|SignatureDoesNotMatch)/

/** Returns true for a refusal of the credential. A new credential may then help. */
export const refusesCredential = ({ status, headers }: AnswerHead): boolean =>
  status === 401 || (status === 403 && CREDENTIAL_EXCEPTIONS.test(headerValue(headers['x-amzn-errortype'])))

/** Advice by the wording of a refusal by a cloud service. */
const ADVICE_BY_MESSAGE: readonly (readonly [message: RegExp, advice: string])[] = [
  [
    /scoped to a valid region/i,
    'The channel signs for a different region than the one in its address: check `region` and `base_url`.',
  ],
  [
    /scoped to (?:the )?correct service/i,
    'The channel signs for a different service than the one in its address: check `provider` and `base_url`.',
  ],
  [
    /signature we calculated does not match/i,
    'Check `secret_access_key`; a proxy that changes paths or headers also breaks signatures.',
  ],
  [
    /security token included in the request is expired/i,
    'The session token has expired: set new keys, or use `aws-default`, which renews them.',
  ],
  [
    /security token included in the request is invalid/i,
    'AWS does not know the access key: check `access_key_id`, and `session_token` of temporary keys.',
  ],
  [
    /make sure your api key is valid|bearer token has expired/i,
    'A Bedrock API key belongs to one account and may have expired: short-term keys last at most twelve hours.',
  ],
  [/permission '?aiplatform\./i, 'Give the account the role "Vertex AI User" in `project`.'],
  [
    /invalid subscription key or wrong api endpoint/i,
    'The key belongs to another resource: check `resource` or `base_url`.',
  ],
  [/audience is incorrect/i, 'The token has the wrong scope: set `auth.scope`.'],
]

/**
 * Returns advice for operators about a refused credential, or undefined for any other answer, or if the wording is
 * unknown.
 *
 * @param message the upstream's message.
 * @param now Unix milliseconds.
 */
export function refusalAdvice({ status, headers }: AnswerHead, message: string, now = Date.now()): string | undefined {
  if (status !== 401 && status !== 403) return undefined
  return (
    clockAdvice(headerValue(headers['date']), now) ??
    ADVICE_BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1] ??
    undefined
  )
}
