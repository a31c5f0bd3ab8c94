import type { IncomingMessage } from 'node:http'
import type { OidcConfig } from '../../../config/types.ts'
import type { ProviderSignInFailure, UserRecording } from '../../sign-in/provider-sign-in.ts'
import type { Administration } from '../administration.ts'
import type { AdminAnswer } from '../answer.ts'
import { recordingFor, USER_AUDIT } from '../audit.ts'
import { Problem } from '../problem.ts'
import type { SessionRoute } from './route.ts'

const CALLBACK_PATH = '/session/oidc/callback'
/** Target after sign-in. Fixed, so that no request can redirect users elsewhere. */
const CONSOLE_PATH = '/console/'

const toProvider: SessionRoute = {
  method: 'get',
  path: '/session/oidc',
  async handle({ users }, message) {
    const oidc = oidcOf(users)
    const provider = await users.provider()
    const started = await provider.begin(oidc, redirectUri(users, message), message)
    if (started === undefined) return page(502, 'failed')
    return { status: 302, headers: { location: started.url }, text: '', cookies: [started.cookie] }
  },
}

const fromProvider: SessionRoute = {
  method: 'get',
  path: CALLBACK_PATH,
  async handle(gateway, message, query) {
    const { users } = gateway
    const oidc = oidcOf(users)
    const provider = await users.provider()
    const finished = await provider.finish(oidc, query, message, userRecording(gateway))
    const cookies = [provider.expiredCookie(message)]
    if (typeof finished === 'string') return { ...page(STATUS[finished], finished), cookies }
    const all = [...cookies, users.sessions.cookie(finished, message)]
    return { status: 302, headers: { location: CONSOLE_PATH }, text: '', cookies: all }
  },
}

/** Returns how changes of a user by a sign-in enter the audit log: the user is both actor and target. */
const userRecording =
  (gateway: Administration): UserRecording =>
  ({ name, role }, action) =>
    recordingFor(gateway, { kind: 'user', name, role }, action)(USER_AUDIT)

function oidcOf({ config }: Administration['users']): OidcConfig {
  if (config?.oidc === undefined) throw new Problem('not-found', 'No identity provider is configured.')
  return config.oidc
}

const redirectUri = (users: Administration['users'], message: IncomingMessage): string =>
  `${users.baseOf(message)}/admin/v1${CALLBACK_PATH}`

const STATUS: { readonly [refusal in ProviderSignInFailure]: number } = {
  ...{ unknown: 400, failed: 502, 'no-role': 403, disabled: 403 },
}

const MESSAGES: { readonly [refusal in ProviderSignInFailure]: string } = {
  unknown: 'This sign-in was not started in this browser, or took too long. Please start again.',
  failed: 'The identity provider was unreachable or did not confirm your identity. The gateway log has the reason.',
  'no-role': 'You have no role that may use this console. Ask the administrators of your identity provider for one.',
  disabled: 'Your user is disabled. Ask the administrators of this console.',
}

/**
 * Builds an HTML error page for people, who reach the page by a redirect. Contains nothing from the request.
 */
const page = (status: number, refusal: ProviderSignInFailure): AdminAnswer => ({
  status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  },
  text: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not signed in</title><h1>Not signed in</h1><p>${MESSAGES[refusal]}</p><p><a href="${CONSOLE_PATH}">Back to the console</a></p></html>`,
})

/** Routes for signing in through an identity provider (OpenID Connect). */
export const OIDC_ROUTES = [toProvider, fromProvider]
