import type { ServerResponse } from 'node:http'
import type { Script, Seen } from '../upstream.ts'
import { signatureFault } from './sigv4-verifier.ts'

/* AWS's side of a sign-in: it checks every credential as the real service does, and refuses it in the same words. */

/** Keys that the service knows. A session token whose name has this part has ended. */
export const ACCESS = 'AKIAIOSFODNN7EXAMPLE'
export const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
export const API_KEY = 'bedrock-api-key-1234'
export const ENDED_SESSION = 'session-token-that-ended'

const MINUTE = 60_000

/** A service of AWS in one region, whose clock may differ from that of the tests. */
export interface Service {
  readonly region: string
  readonly service: string
  /** Milliseconds by which its clock is ahead. */
  readonly ahead?: number
}

interface Refusal {
  readonly exception: string
  readonly message: string
}

const invalid = (message: string): Refusal => ({ exception: 'InvalidSignatureException', message })

/** `20261128T183000Z` */
const stamp = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')

/** Returns why the service refuses a request; undefined if it accepts the credential. */
function refusalOf(seen: Seen, { region, service, ahead = 0 }: Service): Refusal | undefined {
  const { authorization = '' } = seen.headers
  if (authorization === '')
    return { exception: 'MissingAuthenticationTokenException', message: 'Missing Authentication Token' }
  if (authorization === `Bearer ${API_KEY}`) return undefined
  if (authorization.startsWith('Bearer '))
    return {
      exception: 'AccessDeniedException',
      message: 'Authentication failed: Please make sure your API Key is valid.',
    }
  const [, access, , inRegion, forService] = /Credential=([^/]+)\/(\d+)\/([^/]+)\/([^/]+)\//.exec(authorization) ?? []
  if (access !== ACCESS)
    return {
      exception: 'UnrecognizedClientException',
      message: 'The security token included in the request is invalid.',
    }
  if (seen.headers['x-amz-security-token'] === ENDED_SESSION)
    return { exception: 'ExpiredTokenException', message: 'The security token included in the request is expired' }
  if (inRegion !== region) return invalid('Credential should be scoped to a valid region. ')
  if (forService !== service) return invalid(`Credential should be scoped to correct service: '${service}'. `)
  return timeFault(String(seen.headers['x-amz-date']), Date.now() + ahead) ?? signatureRefusal(seen)
}

function timeFault(date: string, now: number): Refusal | undefined {
  const allowed = 5 * MINUTE
  if (date < stamp(now - allowed))
    return invalid(`Signature expired: ${date} is now earlier than ${stamp(now - allowed)} (${stamp(now)} - 5 min.)`)
  return date > stamp(now + allowed)
    ? invalid(`Signature not yet current: ${date} is still later than ${stamp(now + allowed)} (${stamp(now)} + 5 min.)`)
    : undefined
}

const signatureRefusal = (seen: Seen): Refusal | undefined =>
  signatureFault(seen, access => (access === ACCESS ? SECRET : undefined)) === undefined
    ? undefined
    : invalid(
        'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
      )

/** Answers by a script the requests whose credential a service of AWS accepts, and refuses the others. */
export const awsService =
  (service: Service, script: Script): Script =>
  (response, seen) => {
    if (service.ahead !== undefined) response.setHeader('date', new Date(Date.now() + service.ahead).toUTCString())
    const refusal = refusalOf(seen, service)
    return refusal === undefined ? script(response, seen) : refused(response, refusal)
  }

function refused(response: ServerResponse, { exception, message }: Refusal): void {
  response.writeHead(403, {
    'content-type': 'application/x-amz-json-1.1',
    'x-amzn-errortype': `${exception}:http://internal.amazon.com/coral/com.amazon.coral.service/`,
  })
  response.end(JSON.stringify({ message }))
}
