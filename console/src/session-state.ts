import { computed, signal } from '@preact/signals'
import { freshKey } from './fresh-key.ts'

export interface Session {
  readonly user: { readonly name: string; readonly role: 'admin' | 'viewer' }
  /** Shown with every request that changes something. */
  readonly csrf: string
  readonly expires_at: string
  readonly oidc: boolean
}

/** Who is signed in: undefined as long as that is unknown, null where nobody is. */
export const session = signal<Session | null | undefined>(undefined)
/** A provider of identities that can be used instead of a password. */
export const provider = signal<{ readonly name: string } | undefined>(undefined)
/** Why nobody is signed in, where that needs saying. */
export const signedOut = signal<'expired' | 'unreachable' | undefined>(undefined)

/** Whether who is signed in may change things. */
export const isAdmin = computed(() => session.value?.user.role === 'admin')

export function endSession(why?: 'expired'): void {
  // Whoever signs in next on this page must not see it.
  freshKey.value = undefined
  signedOut.value = why
  session.value = null
}
