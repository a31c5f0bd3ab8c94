import { type CanonicalError, ERRORS, type ErrorKind, GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import { answeredTooMuch } from '../channel.ts'
import type { Candidate } from '../router.ts'

/** What an upstream may blame on the gateway, never on the caller: its key, its address, its account. */
const OURS: ReadonlySet<ErrorKind> = new Set([
  'unauthenticated',
  'forbidden',
  'out-of-credit',
  'method-not-allowed',
  'cancelled',
  'internal',
])

/**
 * An upstream's failure as a caller may see it: what is our own misconfiguration is a bad gateway, and channel names,
 * addresses, keys and the upstream's own model ids are taken out of what it says.
 */
export function seenFromOutside(error: CanonicalError, candidate: Candidate, model: string): CanonicalError {
  if (OURS.has(error.kind)) return { kind: 'upstream-failed', message: 'The upstream refused the gateway.' }
  const scrub = scrubber(candidate, model)
  const { extras, ...rest } = error
  return {
    ...rest,
    message: scrub(error.message),
    ...(extras === undefined
      ? {}
      : { extras: JSON.parse(scrub(JSON.stringify(extras))) as { [f: string]: JsonObject } }),
  }
}

/** The most of an upstream's words that is logged. */
const LONGEST = 500

/** What an upstream said, for the log; some say the very key they refuse. */
export function saidBy({ message }: CanonicalError, { channel: { key } }: Candidate): string {
  const said = key === undefined || key === '' ? message : message.replaceAll(key, '[key]')
  return said.slice(0, LONGEST)
}

/** An upstream's error, with what of its headers a caller of the same format may see (trap 78). */
export class UpstreamFailure extends GatewayError {
  readonly headers: { readonly [name: string]: string }
  constructor(error: CanonicalError, headers: UpstreamFailure['headers'], options?: ErrorOptions) {
    super(error, options)
    this.headers = headers
  }
}

export const headersOf = (failure: unknown): UpstreamFailure['headers'] =>
  failure instanceof UpstreamFailure ? failure.headers : {}

/** Whether another channel may do better. */
export const mayRetry = (error: CanonicalError): boolean => ERRORS[error.kind].retry

export const GONE = new GatewayError({ kind: 'cancelled', message: 'The caller went away.' })

/** Of two channels' failures the one to show: what happened rather than what could not be said. */
export const worthTelling = (before: GatewayError | undefined, now: GatewayError): GatewayError =>
  before !== undefined && now.error.kind === 'cannot-express' ? before : now

/** Whatever was thrown on the way, as a failure; our own bugs carry the thrown value as their cause. */
export function toFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  if (thrown instanceof RangeError && thrown.message.includes('call stack'))
    return new GatewayError({ kind: 'invalid-request', message: 'The body is nested too deeply.' })
  return new GatewayError(
    { kind: 'internal', message: 'The gateway failed to handle this request.' },
    { cause: thrown },
  )
}

/** What was thrown over an upstream's answer: one too large to handle is no fault of the caller's. */
export const answerFailure = (thrown: unknown): GatewayError =>
  thrown instanceof RangeError ? answeredTooMuch(thrown) : toFailure(thrown)

const UPSTREAM = '[upstream]'

function scrubber({ channel, format, upstreamModel }: Candidate, model: string): (text: string) => string {
  const base = URL.canParse(format.baseUrl) ? new URL(format.baseUrl) : undefined
  const secrets = [channel.key, format.baseUrl, base?.origin, base?.host, base?.hostname]
    .filter(secret => secret !== undefined && secret.length > 3)
    .map(secret => [new RegExp(RegExp.escape(secret!), 'gi'), UPSTREAM] as const)
  const names = [[channel.name, UPSTREAM], ...(upstreamModel === model ? [] : [[upstreamModel, model] as const])].map(
    ([name, other]) => [new RegExp(`(?<![\\w-])${RegExp.escape(name!)}(?![\\w-])`, 'g'), other!] as const,
  )
  return text => [...secrets, ...names].reduce((said, [secret, other]) => said.replace(secret, () => other), text)
}
