import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { hashOf } from '../../config/hash.ts'
import type { OpenSignInSession, Principal } from '../sign-in/index.ts'
import type { Administration } from './administration.ts'
import { Problem } from './problem.ts'

const BEARER = /^bearer\s+(\S+)\s*$/i

type CredentialSources = Pick<Administration, 'token' | 'isCaller' | 'users'>

/**
 * Authenticates a request by its admin token or, without one, by the session of a console user.
 *
 * @param isUse whether this is an action of the user. By default, the request says so.
 * @returns the sender of the request.
 * @throws Problem `unauthenticated`, `api-key-refused` or `csrf`, or GatewayError if the store fails or the address
 * sent too many wrong tokens.
 */
export async function authenticate(
  gateway: CredentialSources,
  message: IncomingMessage,
  isUse?: boolean,
): Promise<Principal> {
  const credential = BEARER.exec(message.headers.authorization ?? '')?.[1]
  if (credential === undefined) {
    const { user, hash } = await sessionOf(gateway, message, isUse)
    return { kind: 'user', name: user.name, role: user.role, session: hash }
  }
  const hash = hashOf(credential)
  const token = await gateway.token(hash)
  const isValid =
    token !== undefined &&
    timingSafeEqual(Buffer.from(token.hash), Buffer.from(hash)) &&
    (token.expiresAt === undefined || token.expiresAt > Date.now())
  if (isValid) return { kind: 'token', name: token.name, role: 'admin' }
  if (token !== undefined) throw new Problem('unauthenticated', EXPIRED_TOKEN)
  if (await gateway.isCaller(credential, message)) throw new Problem('api-key-refused', CALLER_KEY)
  throw new Problem('unauthenticated', WRONG_TOKEN)
}

/**
 * Returns the session of a request made by the console.
 *
 * @throws Problem `unauthenticated` or `csrf`, or GatewayError if the store fails.
 */
export async function sessionOf(
  { users }: Pick<Administration, 'users'>,
  message: IncomingMessage,
  isUse?: boolean,
): Promise<OpenSignInSession> {
  const session = await users.sessions.find(message, isUse)
  if (session === undefined) throw new Problem('unauthenticated', MISSING_CREDENTIALS)
  if (!users.sessions.isFromConsole(message, session)) throw new Problem('csrf', MISSING_CSRF_TOKEN)
  return session
}

const MISSING_CREDENTIALS =
  'Sign in to the console, or send an admin token as "authorization: Bearer TOKEN"; "interlingua admin token" creates one.'
const MISSING_CSRF_TOKEN =
  'Send the CSRF token of your session as "x-csrf-token"; pages of other origins may not use a session.'
const WRONG_TOKEN = 'The admin token is unknown or revoked.'
const EXPIRED_TOKEN = 'The admin token has expired.'
const CALLER_KEY = 'This is a caller API key; "interlingua admin token" creates a token for administrators.'
