import { type Headers, headerValue } from '../channel/headers.ts'
import { clockAdvice } from '../clock.ts'

/* Refusals of a channel's credential, and what an operator can do about them. */

/** The head of an answer that may refuse a credential. */
interface AnswerHead {
  readonly status: number
  readonly headers: Headers
}

/** Exceptions with which AWS refuses the credential itself, under status 403 (docs/wire/converse.md#errors). */
const EXCEPTIONS = /^(?:ExpiredToken|UnrecognizedClient|InvalidSignature|InvalidClientTokenId|SignatureDoesNotMatch)/

/** Returns true for a refusal of the credential, which a new credential may repair. */
export const refusesCredential = ({ status, headers }: AnswerHead): boolean =>
  status === 401 || (status === 403 && EXCEPTIONS.test(headerValue(headers['x-amzn-errortype'])))

/** Advice by the words of a refusal, which are those of the clouds' services. */
const ADVICE: readonly (readonly [said: RegExp, advice: string])[] = [
  [
    /scoped to a valid region/i,
    'The channel signs for another region than that of its address: check `region` and `base_url`.',
  ],
  [
    /scoped to (?:the )?correct service/i,
    'The channel signs for another service than that of its address: check `provider` and `base_url`.',
  ],
  [
    /signature we calculated does not match/i,
    'Check `secret_access_key`; a proxy that changes paths or headers also breaks signatures.',
  ],
  [
    /security token included in the request is expired/i,
    'The session token has ended: set new keys, or use `aws-default`, which renews them.',
  ],
  [
    /security token included in the request is invalid/i,
    'AWS does not know the access key: check `access_key_id`, and `session_token` of temporary keys.',
  ],
  [
    /make sure your api key is valid|bearer token has expired/i,
    'An API key of Bedrock belongs to one account and may have ended: short-term keys last twelve hours at most.',
  ],
  [/permission '?aiplatform\./i, 'Give the account the role "Vertex AI User" in `project`.'],
  [
    /invalid subscription key or wrong api endpoint/i,
    'The key belongs to another resource: check `resource` or `base_url`.',
  ],
  [/audience is incorrect/i, 'The token has the wrong scope: set `auth.scope`.'],
]

/**
 * Returns what an operator can do about a refused credential. Undefined for any other answer, and for unknown words.
 *
 * @param said the message of the upstream.
 * @param now Unix milliseconds.
 */
export function refusalAdvice({ status, headers }: AnswerHead, said: string, now = Date.now()): string | undefined {
  if (status !== 401 && status !== 403) return undefined
  return (
    clockAdvice(headerValue(headers['date']), now) ?? ADVICE.find(([pattern]) => pattern.test(said))?.[1] ?? undefined
  )
}
