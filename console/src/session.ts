import type { ProblemError } from './api/problem.ts'
import { request } from './api/request.ts'
import { endSession, provider, type Session, session, signedOut } from './session-state.ts'

/** Looks whether there is a session already. Never rejects. */
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

/** Rejects with ProblemError: 401 for a wrong name or password, 429 for too many of them. */
export async function signIn(name: string, password: string): Promise<void> {
  session.value = await request<Session>('POST', '/session', { body: { name, password } })
  signedOut.value = undefined
}

/** Ends this session, or all of the user's. Rejects with ProblemError. */
export async function signOut(everywhere = false): Promise<void> {
  await request('DELETE', '/session', everywhere ? { query: { everywhere: true } } : {})
  endSession()
  await loadSession()
}
