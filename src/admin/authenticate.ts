import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { hashOf } from '../config/hash.ts'
import type { Administration } from '../gateway/administration.ts'
import { Problem } from './problem.ts'

const BEARER = /^bearer\s+(\S+)\s*$/i

/**
 * Lets a request pass that shows a valid admin token.
 *
 * @throws Problem `unauthenticated` or `api-key-refused`; GatewayError where the store cannot be asked, or too many wrong
 * tokens came from the address.
 */
export async function authenticate(
  gateway: Pick<Administration, 'token' | 'isCaller'>,
  message: IncomingMessage,
): Promise<void> {
  const credential = BEARER.exec(message.headers.authorization ?? '')?.[1]
  if (credential === undefined) throw new Problem('unauthenticated', MISSING)
  const hash = hashOf(credential)
  const token = await gateway.token(hash)
  const isValid =
    token !== undefined &&
    timingSafeEqual(Buffer.from(token.hash), Buffer.from(hash)) &&
    (token.expiresAt === undefined || token.expiresAt > Date.now())
  if (isValid) return
  if (token !== undefined) throw new Problem('unauthenticated', EXPIRED)
  if (await gateway.isCaller(credential, message)) throw new Problem('api-key-refused', CALLER)
  throw new Problem('unauthenticated', WRONG)
}

const MISSING = 'Send an admin token as "authorization: Bearer TOKEN"; "interlingua admin token" makes one.'
const WRONG = 'The admin token is unknown or revoked.'
const EXPIRED = 'The admin token is expired.'
const CALLER = 'This is an API key of a caller; "interlingua admin token" makes a token for administrators.'
