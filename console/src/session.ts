import type { ProblemError } from './api/problem.ts'
import { request } from './api/request.ts'
import { endSession, isWaiting, provider, type Session, session, setSession, signedOut } from './session-state.ts'

/** Asks the server for the current session. Never rejects: without a session, `session` becomes null. */
export async function loadSession(): Promise<void> {
  try {
    setSession(await request<Session>('GET', '/session'))
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
  setSession(await request<Session>('POST', '/session', { body: { name, password } }))
}

/** Goes on if another tab of the browser has signed in. */
export async function resumeSession(): Promise<void> {
  const found = await request<Session>('GET', '/session').catch(() => undefined)
  if (found !== undefined && isWaiting.value) setSession(found)
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
