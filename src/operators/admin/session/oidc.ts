import type { IncomingMessage } from 'node:http'
import type { OidcConfig } from '../../../config/types.ts'
import type { ProviderRefusal } from '../../sign-in/provider-sign-in.ts'
import type { Administration } from '../administration.ts'
import type { AdminAnswer } from '../answer.ts'
import { Problem } from '../problem.ts'
import type { SessionRoute } from './route.ts'

const CALLBACK = '/session/oidc/callback'
/** The only place users are sent to once they are signed in: no part of a request can name another. */
const HOME = '/console/'

const toProvider: SessionRoute = {
  method: 'get',
  path: '/session/oidc',
  async handle({ users }, message) {
    const oidc = oidcOf(users)
    const provider = await users.provider()
    const begun = await provider.begin(oidc, redirectUri(users, message), message)
    if (begun === undefined) return page(502, 'failed')
    return { status: 302, headers: { location: begun.url }, text: '', cookies: [begun.cookie] }
  },
}

const fromProvider: SessionRoute = {
  method: 'get',
  path: CALLBACK,
  async handle({ users }, message, query) {
    const oidc = oidcOf(users)
    const provider = await users.provider()
    const finished = await provider.finish(oidc, query, message)
    const cookies = [provider.noCookie(message)]
    if (typeof finished === 'string') return { ...page(STATUS[finished], finished), cookies }
    const all = [...cookies, users.sessions.cookie(finished, message)]
    return { status: 302, headers: { location: HOME }, text: '', cookies: all }
  },
}

function oidcOf({ config }: Administration['users']): OidcConfig {
  if (config?.oidc === undefined) throw new Problem('not-found', 'No provider is configured to sign in at.')
  return config.oidc
}

const redirectUri = (users: Administration['users'], message: IncomingMessage): string =>
  `${users.baseOf(message)}/admin/v1${CALLBACK}`

const STATUS: { readonly [refusal in ProviderRefusal]: number } = {
  ...{ unknown: 400, failed: 502, 'no-role': 403, disabled: 403 },
}

const WORDS: { readonly [refusal in ProviderRefusal]: string } = {
  unknown: 'This sign-in was not begun in this browser, or took too long. Begin it again.',
  failed: 'The provider could not be asked, or did not confirm who you are. The log of the gateway has the reason.',
  'no-role':
    'The provider knows you, but you have none of the roles that may use this console. Ask its administrators for one.',
  disabled: 'Your user is disabled. Ask the administrators of this console.',
}

/** A page for people: they come here by a redirect, and no program reads the answer. Nothing of the request is in it. */
const page = (status: number, refusal: ProviderRefusal): AdminAnswer => ({
  status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  },
  text: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not signed in</title><h1>Not signed in</h1><p>${WORDS[refusal]}</p><p><a href="${HOME}">Back to the console</a></p></html>`,
})

export const OIDC_ROUTES = [toProvider, fromProvider]
