import type { IncomingMessage } from 'node:http'
import type * as v from 'valibot'
import { GatewayError } from '../../../canonical/error.ts'
import { type AnySchema, fields, flag, instantOf } from '../../../config/schema.ts'
import type { OpenSignInSession, SignInRefusal } from '../../sign-in/index.ts'
import type { Administration } from '../administration.ts'
import type { AdminAnswer } from '../answer.ts'
import { recordingFor, USER_AUDIT } from '../audit.ts'
import { sessionOf } from '../authenticate.ts'
import { checkedInput } from '../input.ts'
import { Problem } from '../problem.ts'
import { newPassword, password } from '../user-fields.ts'
import type { SessionRoute } from './route.ts'

/** Maximum body size of a sign-in request, in bytes. */
const MAX_BODY = 16 * 1024
const JSON_BODY = /^application\/json\s*(?:;|$)/i

const readSession: SessionRoute = {
  method: 'get',
  path: '/session',
  async handle({ users }, message) {
    const session = await users.sessions.find(message)
    if (session !== undefined) return sessionAnswer(users, session)
    const { oidc } = users.config!
    const members = { oidc: oidc === undefined ? null : { name: oidc.name } }
    throw new Problem('unauthenticated', 'You are not signed in.', [], { members })
  },
}

const signIn: SessionRoute = {
  method: 'post',
  path: '/session',
  async handle(gateway, message) {
    const { users } = gateway
    if (!users.isSameOrigin(message)) throw new Problem('csrf', 'Only pages of the gateway may sign in.')
    const { name, password } = await bodyOf(gateway, message, CREDENTIALS)
    const session = orThrow(await users.signIn.withPassword(name, password, message))
    return { ...sessionAnswer(users, session), cookies: [users.sessions.cookie(session, message)] }
  },
}

const signOut: SessionRoute = {
  method: 'delete',
  path: '/session',
  async handle(gateway, message, query) {
    const { users } = gateway
    const { user } = await sessionOf(gateway, message)
    const input = checkedInput({ params: NO_FIELDS, query: SIGN_OUT }, { params: {}, query, body: undefined })
    const { everywhere } = input.query as v.InferOutput<typeof SIGN_OUT>
    if (everywhere) await users.records.endSignInSessions(user.name)
    else await users.sessions.end(message)
    return { ...NO_CONTENT, cookies: [users.sessions.expiredCookie(message)] }
  },
}

const changePassword: SessionRoute = {
  method: 'put',
  path: '/session/password',
  async handle(gateway, message) {
    const { users } = gateway
    const { user, hash } = await sessionOf(gateway, message)
    if (user.source === 'oidc')
      throw new Problem('read-only', 'You sign in through the identity provider; change your password there.')
    const { current, password } = await bodyOf(gateway, message, CHANGE)
    const confirmed = await users.signIn.confirm(user, current, message)
    if ('refused' in confirmed && confirmed.refused === 'wrong')
      throw new Problem('invalid-input', '/current: is not your password', [
        { pointer: '/current', detail: 'is not your password' },
      ])
    orThrow(confirmed)
    const recording = recordingFor(gateway, { kind: 'user', name: user.name, role: user.role }, 'changeOwnPassword')
    await users.setPassword(user.name, password, hash, recording(USER_AUDIT))
    return NO_CONTENT
  },
}

const SIGN_OUT = fields({ everywhere: flag })
const CREDENTIALS = fields({ name: password, password })
const CHANGE = fields({ current: password, password: newPassword })

const NO_CONTENT: AdminAnswer = { status: 204, headers: {}, text: '' }

/** Formats a session for its user. */
function sessionAnswer({ sessions, config }: Administration['users'], session: OpenSignInSession): AdminAnswer {
  const { user, expiresAt } = session
  const body = {
    user: { name: user.name, role: user.role },
    ...{ csrf: sessions.csrf(session), expires_at: instantOf(expiresAt), oidc: config?.oidc !== undefined },
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, text: JSON.stringify(body) }
}

function orThrow<T extends object>(result: T | SignInRefusal): T {
  if (!('refused' in result)) return result as T
  const refusal = result as SignInRefusal
  if (refusal.refused === 'wrong') throw new Problem('sign-in-refused', 'Wrong name or password.')
  throw new Problem('locked', LOCKED_MESSAGE, [], { retryAfterSeconds: refusal.seconds })
}

const LOCKED_MESSAGE = 'Too many wrong passwords for this name. Try again later.'

/**
 * Reads and validates a request body. Messages do not repeat JSON errors, which could quote a password.
 */
async function bodyOf<S extends AnySchema>(
  gateway: Administration,
  message: IncomingMessage,
  schema: S,
): Promise<v.InferOutput<S>> {
  if (!JSON_BODY.test(message.headers['content-type'] ?? ''))
    throw new Problem('invalid-input', 'The body must be JSON: send "content-type: application/json".')
  const body = await gateway.body(message, MAX_BODY).catch((thrown: unknown) => {
    const isWrong = thrown instanceof GatewayError && thrown.error.kind === 'invalid-request'
    throw isWrong ? new Problem('invalid-input', 'The body is not a JSON object.') : thrown
  })
  const emptyInput = { params: NO_FIELDS, query: NO_FIELDS }
  const input = checkedInput({ ...emptyInput, body: schema }, { params: {}, query: new URLSearchParams(), body })
  return input.body as v.InferOutput<S>
}

const NO_FIELDS = fields({})

/** Routes for signing in and out with a password, and for changing it. */
export const PASSWORD_ROUTES = [readSession, signIn, signOut, changePassword]
