import { computed, signal } from '@preact/signals'
import { keepDrafts, noteOwner } from './drafts.ts'
import { freshKey } from './fresh-key.ts'
import { hasContent } from './leaving.ts'

/** A signed-in user's session, as the admin API describes it. */
export interface Session {
  readonly user: { readonly name: string; readonly role: 'admin' | 'viewer' }
  /** Token that every request other than GET sends in `x-csrf-token`. */
  readonly csrf: string
  readonly expires_at: string
  readonly oidc: boolean
}

/** The current session: undefined until it is known, null when nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined)
/** The OpenID Connect provider, if one is configured. */
export const provider = signal<{ readonly name: string } | undefined>(undefined)
/** Reason for being signed out that the sign-in form shows. */
export const signedOut = signal<'expired' | 'unreachable' | undefined>(undefined)

/**
 * True if the session has ended while a dialog has typed text, or a secret that is shown only once. The page then waits
 * behind the sign-in form, and goes on if the same user signs in.
 */
export const isWaiting = signal(false)
/** Maximum time for which a page waits, in milliseconds. */
const MAX_WAITING = 15 * 60_000
let waiting: ReturnType<typeof setTimeout> | undefined

/** Whether the signed-in user has the role `admin` and may change things. */
export const isAdmin = computed(() => session.value?.user.role === 'admin')

/** Ends the session in this browser tab. `signOut` also ends it on the server. */
export function endSession(why?: 'expired'): void {
  // The next user of this browser tab must not see the secret.
  freshKey.value = undefined
  signedOut.value = why
  keepDrafts(why === 'expired' ? MAX_WAITING : 0)
  if (why === 'expired' && session.value != null && hasContent()) {
    isWaiting.value = true
    waiting ??= setTimeout(() => setSession(null), MAX_WAITING)
  } else setSession(null)
}

/** Changes the session. A page that waited goes on. */
export function setSession(next: Session | null): void {
  clearTimeout(waiting)
  waiting = undefined
  isWaiting.value = false
  if (next !== null) {
    signedOut.value = undefined
    noteOwner(next.user.name)
  }
  session.value = next
}
