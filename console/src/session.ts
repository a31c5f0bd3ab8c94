import type { ProblemError } from './api/problem.ts'
import { request } from './api/request.ts'
import { endSession, provider, type Session, session, signedOut } from './session-state.ts'

/** Asks the server for the current session. Never rejects: without a session, `session` becomes null. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await request<Session>('GET', '/session')
  } catch (thrown) {
    const { status, details } = thrown as ProblemError
    const oidc = details?.['oidc'] as { readonly name: string } | null | undefined
    provider.value = oidc ?? undefined
    if (status !== 401) signedOut.value = 'unreachable'
    session.value = null
  }
}

/**
 * Signs in with a password.
 *
 * @throws ProblemError with status 401 for a wrong name or password, 429 after too many failed attempts.
 */
export async function signIn(name: string, password: string): Promise<void> {
  session.value = await request<Session>('POST', '/session', { body: { name, password } })
  signedOut.value = undefined
}

/**
 * Ends this session, or with `everywhere` all sessions of the user.
 *
 * @throws ProblemError
 */
export async function signOut(everywhere = false): Promise<void> {
  await request('DELETE', '/session', everywhere ? { query: { everywhere: true } } : {})
  endSession()
  await loadSession()
}
